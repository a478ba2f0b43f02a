// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	_ "embed"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

//go:embed words.txt
var storedWords string

// Words returns the modifiers of the table and those of the stored list, without their dots.
// Words that differ only in their numbers, such as the shapes of wgmma, form a family. If a
// family is large, only some of its words are returned.
func Words(set *isa.Set) []string {
	var out []string
	for line := range strings.Lines(storedWords) {
		if word := strings.TrimSpace(line); word != "" && !strings.HasPrefix(word, "#") {
			out = append(out, word)
		}
	}
	for _, m := range set.Mods[1:] {
		out = append(out, strings.TrimPrefix(m, "."))
	}
	slices.Sort(out)
	return thinFamilies(slices.Compact(out))
}

// maxFamilyWords is the maximum number of words of a family that are tried. It exceeds the number
// of shapes of mma, which all matter, and is below the 150 shapes of wgmma.
const maxFamilyWords = 40

var wordNumber = regexp.MustCompile(`\d+`)

// thinFamilies removes words of large families at equal intervals.
func thinFamilies(words []string) []string {
	families := map[string]int{}
	family := func(w string) string {
		if strings.HasPrefix(w, "m64n") {
			return "m64n"
		}
		return wordNumber.ReplaceAllString(w, "N")
	}
	for _, w := range words {
		families[family(w)]++
	}
	seen := map[string]int{}
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		f := family(w)
		n := seen[f]
		seen[f]++
		return families[f] > maxFamilyWords && n%(families[f]/4) != 0
	})
}

// A Vocabulary is the result of searching the ptxas binary for modifiers and instruction names.
type Vocabulary struct {
	Strings int      // number of strings that may be modifiers, including concatenations
	New     []string // modifiers that ptxas accepts and Words does not contain
	Dotted  int      // number of strings that may be instruction names
	Names   []string // instruction names that ptxas accepts and the table lacks
}

// binaryWord matches a string that may be an instruction name, or one or more modifiers.
var binaryWord = regexp.MustCompile(`[A-Za-z0-9][A-Za-z0-9_]*(?:(?:\.|::)[A-Za-z0-9_]+)*`)

// ReadVocabulary looks for modifiers and instruction names among the strings of the ptxas binary,
// their parts and concatenations of parts. The messages of ptxas for an instruction with such a
// word show whether the word is unknown or only not accepted by the instruction.
func ReadVocabulary(ctx context.Context, set *isa.Set, tool *ptxas.Tool) (*Vocabulary, error) {
	binary, err := os.ReadFile(tool.Path)
	if err != nil {
		return nil, err
	}
	candidates, names := binaryWords(binary)
	v := &Vocabulary{Dotted: len(names)}
	known := map[string]bool{}
	for _, w := range Words(set) {
		known[w] = true
	}
	for _, m := range set.Mods[1:] {
		known[strings.TrimPrefix(m, ".")] = true
	}
	for _, w := range concatenations(known) {
		candidates[w] = true
	}
	v.Strings = len(candidates)
	var list []string
	for w := range candidates {
		if !known[w] {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	if v.New, err = knownWords(ctx, tool, list); err != nil {
		return nil, err
	}
	v.Names, err = unknownNames(ctx, set, tool, slices.Sorted(maps.Keys(names)))
	return v, err
}

// binaryWords returns the strings of a binary that may be modifiers, and those that may be
// instruction names. The parts of a string with dots may be modifiers, and each prefix that ends
// before a dot may be a name.
func binaryWords(binary []byte) (words, names map[string]bool) {
	words, names = map[string]bool{}, map[string]bool{}
	for _, found := range binaryWord.FindAll(binary, -1) {
		text := string(found)
		if len(text) > longestWord {
			continue
		}
		parts := strings.Split(text, ".")
		for i, part := range parts {
			if mayBeWord(part) {
				words[part] = true
			}
			if name := strings.Join(parts[:i+1], "."); plainName.MatchString(name) && i < 5 {
				names[name] = true
			}
		}
	}
	return words, names
}

// longestWord is the maximum length of a word. All names in the table are shorter.
const longestWord = 60

var (
	plainWord = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	plainName = regexp.MustCompile(`^[a-z][a-z0-9_]+(\.[a-z0-9_]+(::[a-z0-9_]+)*)*$`)
	someWord  = regexp.MustCompile(`[A-Za-z]`)
)

// mayBeWord reports whether w may be a modifier. It returns false for numbers and for short
// strings, which are probably machine code.
func mayBeWord(w string) bool {
	return len(w) >= 2 && len(w) <= 40 && someWord.MatchString(w) &&
		(len(w) >= 4 || plainWord.MatchString(w) || w[0] <= '9')
}

// unknownNames returns the instruction names that ptxas accepts and the set lacks.
func unknownNames(ctx context.Context, set *isa.Set, tool *ptxas.Tool,
	names []string) ([]string, error) {
	var known []string
	for ins := range set.All() {
		known = append(known, ins.Name)
	}
	var probes []ptxas.Probe
	decls := []string{".reg .b32 %r<4>;"}
	for _, name := range names {
		probes = append(probes, ptxas.Probe{Decls: decls, Body: []string{name + ";"}})
	}
	verdicts, err := tool.Judge(ctx, isa.Newest().String(), "sm_107a", probes)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for i, v := range verdicts {
		if v.Status != ptxas.Rejected && v.Status != ptxas.Accepted || hasMessage(v, noName) {
			continue
		}
		name := names[i]
		for _, m := range v.Messages {
			if part := namedInstruction.FindStringSubmatch(m.Text); part != nil {
				name = part[1]
			}
		}
		if !slices.ContainsFunc(known, func(k string) bool {
			return strings.HasPrefix(name+".", k+".") || strings.HasPrefix(k, name)
		}) {
			out[name] = true
		}
	}
	return slices.Sorted(maps.Keys(out)), nil
}

var (
	noName           = regexp.MustCompile(`^Not a name of any known instruction`)
	namedInstruction = regexp.MustCompile(`instruction '([^']+)'`)
)

// concatenations returns combinations of the parts of words with colons that are not among the
// words.
func concatenations(words map[string]bool) []string {
	parts, heads := map[string]bool{}, map[string]bool{}
	for w := range words {
		list := strings.Split(w, "::")
		for i, part := range list {
			parts[part] = true
			if i > 0 {
				heads[strings.Join(list[:i], "::")] = true
			}
		}
	}
	var out []string
	for head := range heads {
		for part := range parts {
			out = append(out, head+"::"+part)
		}
	}
	return out
}

// knownWords returns the words that ptxas knows as modifiers.
func knownWords(ctx context.Context, tool *ptxas.Tool, words []string) ([]string, error) {
	probes := make([]ptxas.Probe, len(words))
	decls := []string{".reg .b32 %r<4>;"}
	for i, w := range words {
		probes[i] = ptxas.Probe{Decls: decls, Body: []string{"add." + w + ".u32 %r1, %r2, %r3;"}}
	}
	verdicts, err := tool.Judge(ctx, isa.Newest().String(), "sm_107a", probes)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, v := range verdicts {
		if v.OK() || v.Status == ptxas.Rejected && !hasMessage(v, unknownWord) {
			out = append(out, words[i])
		}
	}
	return out, nil
}

var unknownWord = regexp.MustCompile(`^Unknown modifier`)
