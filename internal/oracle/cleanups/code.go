// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cleanups

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Likeness is a degree of similarity of two functions' machine code.
type Likeness uint8

// The degrees of similarity, the most similar first.
const (
	Same      Likeness = iota // the same instructions with the same operands
	Registers                 // the same instructions with other registers
	Order                     // the same instructions in another order
	// the same memory accesses, barriers and branches, but other arithmetic
	Effects
	Other // none of these
)

func (l Likeness) String() string {
	return [...]string{"same", "registers", "order", "effects", "other"}[l]
}

// Code maps each function in the output of nvdisasm to the lines of its instructions.
type Code map[string][]string

var (
	functionLine    = regexp.MustCompile(`^\.text\.(\S+):$`)
	instructionLine = regexp.MustCompile(`^\s+(?:\{\s*)?/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;`)
	registerName    = regexp.MustCompile(`\b(U?[RP]|B)[0-9]+\b`)
	labelName       = regexp.MustCompile("`\\(\\.L_\\S*\\)")
	guardWord       = regexp.MustCompile(`^@!?U?P\S*\s+`)
)

// Listing parses the output of nvdisasm -c.
func Listing(text string) Code {
	code := make(Code)
	name := ""
	for line := range strings.SplitSeq(text, "\n") {
		if m := functionLine.FindStringSubmatch(line); m != nil {
			name = m[1]
			code[name] = nil
		} else if m := instructionLine.FindStringSubmatch(line); m != nil {
			code[name] = append(code[name], labelName.ReplaceAllString(m[1], "L"))
		}
	}
	return code
}

// Liken compares the code of one function in two listings. If their effects differ, the text
// lists the opcodes whose counts differ.
func Liken(a, b []string) (Likeness, string) {
	if slices.Equal(a, b) {
		return Same, ""
	}
	x, y := mapLines(a, withoutNumbers), mapLines(b, withoutNumbers)
	if slices.Equal(x, y) {
		return Registers, ""
	}
	if maps.Equal(counts(x), counts(y)) {
		return Order, ""
	}
	difference := differences(counts(mapLines(a, opcode)), counts(mapLines(b, opcode)))
	if maps.Equal(counts(mapLines(a, effect)), counts(mapLines(b, effect))) {
		return Effects, difference
	}
	return Other, difference
}

// size returns the number of instructions, without padding.
func size(lines []string) int {
	n := 0
	for _, line := range lines {
		if opcode(line) != "NOP" {
			n++
		}
	}
	return n
}

// withoutNumbers returns an instruction without the numbers of its registers and predicates.
func withoutNumbers(line string) string { return registerName.ReplaceAllString(line, "$1") }

// opcode returns an instruction's opcode with its modifiers.
func opcode(line string) string {
	line = guardWord.ReplaceAllString(line, "")
	word, _, _ := strings.Cut(line, " ")
	return word
}

// effect returns the opcode of an instruction that accesses memory, synchronizes threads or may
// leave the function. It returns "" for arithmetic, scheduling placeholders and padding.
func effect(line string) string {
	word := opcode(line)
	head, _, _ := strings.Cut(word, ".")
	switch head {
	case "LDC", "LDCU", "ULDC":
		return "" // these read parameters and constants
	case "CS2R":
		if strings.HasSuffix(line, "SRZ") {
			return "" // the zero register
		}
		return word
	case "BRA", "BRX", "JMP", "CALL", "RET", "EXIT", "KILL", "BPT":
		return head
	case "BAR", "B2R", "SHFL", "VOTE", "VOTEU", "MATCH", "REDUX", "CREDUX", "ELECT", "NANOSLEEP",
		"CCTL", "CCTLL", "ERRBAR", "DEPBAR", "LDGDEPBAR", "ARRIVES", "ACQBULK", "PREEXIT",
		"ENDCOLLECTIVE", "WARPSYNC", "ENDPGM", "GETLMEMBASE", "SETLMEMBASE":
		return word
	}
	for _, stem := range []string{"LD", "ST", "ATOM", "RED", "MEMBAR", "FENCE", "SYNCS", "UCGABAR",
		"UTMA", "UBLK", "HGMMA", "WGMMA", "HMMA", "IMMA", "QMMA", "OMMA", "DMMA", "BMMA", "QGMMA",
		"IGMMA", "BGMMA", "UTC", "TEX", "TLD", "TXQ", "TMML", "TXD", "SU", "USETMAXREG",
		"WARPGROUP", "UGETNEXTWORKID", "MOVM", "LDT", "STT"} {
		if strings.HasPrefix(head, stem) {
			return word
		}
	}
	return ""
}

func mapLines(lines []string, to func(string) string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = to(line)
	}
	return out
}

func counts(words []string) map[string]int {
	n := make(map[string]int)
	for _, w := range words {
		n[w]++
	}
	delete(n, "")
	return n
}

// differences returns the words whose counts differ between a and b, with the change of each
// count.
func differences(a, b map[string]int) string {
	var words []string
	for _, w := range slices.Sorted(maps.Keys(a)) {
		if a[w] != b[w] {
			words = append(words, fmt.Sprintf("%s %+d", w, b[w]-a[w]))
		}
	}
	for _, w := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[w]; !ok {
			words = append(words, fmt.Sprintf("%s %+d", w, b[w]))
		}
	}
	return strings.Join(words, ", ")
}
