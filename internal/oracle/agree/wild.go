// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A Wild is a module in which one line was changed.
type Wild struct {
	From string // name of the original module
	What string // name of the change
	Line int
	Text string
	Was  string // the line before the change
	Is   string // the line after the change
}

// A WildDispute is a changed module on which the verdicts of verify and ptxas differ.
type WildDispute struct {
	Wild
	Ours  string // why verify rejects the module; "" if it accepts
	Ptxas ptxas.Verdict
}

// Judge runs verify and ptxas on modules, and returns the modules on which the verdicts differ.
func Judge(ctx context.Context, tool *ptxas.Tool, list []Wild) ([]WildDispute, error) {
	var out []WildDispute
	for _, relocatable := range []bool{true, false} {
		var some []Wild
		var texts []string
		for _, w := range list {
			if linkable(w.Text) == relocatable {
				some, texts = append(some, w), append(texts, w.Text)
			}
		}
		verdicts, err := tool.JudgeModules(ctx, texts, ptxas.Options{Relocatable: relocatable})
		if err != nil {
			return nil, err
		}
		for i, w := range some {
			if ours := firstError(w.Text); (ours == "") != verdicts[i].OK() &&
				!otherArch.MatchString(verdicts[i].String()) {
				out = append(out, WildDispute{w, ours, verdicts[i]})
			}
		}
	}
	return out, nil
}

// otherArch matches messages of ptxas that do not concern the module: a changed .target does not
// fit the -arch option, or the process was killed.
var otherArch = regexp.MustCompile(
	`cannot be compiled to|is higher than default SM version|signal: killed`)

var wildVersion = regexp.MustCompile(`\.version\s+(\d+\.\d+)`)

// linkable reports whether a module can be assembled with -c, which requires PTX 3.1.
func linkable(text string) bool {
	m := wildVersion.FindStringSubmatch(text)
	if m == nil {
		return true
	}
	v, err := isa.ParseVersion(m[1])
	return err != nil || v >= isa.MakeVersion(3, 1)
}

// firstError returns the first error of verify, or "" if the text has no error. It skips errors
// that ptxas only finds during code generation.
func firstError(text string) string {
	f, list := ptx.Parse("wild", text)
	list = append(list, form.Check(f, form.Options{})...)
	for _, d := range list {
		if d.Severity == diag.Error && !isCodeGeneration(d) {
			return d.Rule + ": " + d.Message
		}
	}
	return ""
}

// isCodeGeneration reports whether a finding concerns something that ptxas checks only during
// code generation.
func isCodeGeneration(d diag.Diagnostic) bool {
	return d.Rule == addressWidth || d.Rule == resultBeforeCall || d.Rule == constantsTotal ||
		d.Rule == parameterType || d.Rule == sharedTotal || d.Rule == oneGroup ||
		d.Rule == addressSize && strings.Contains(d.Message, "of 32 bits")
}

// A Spoiler changes one line of a correct module. It replaces words by words of other modules.
type Spoiler struct {
	rng   *rand.Rand
	words map[byte][]string // words of all modules, by kind
}

var wildToken = regexp.MustCompile(`"[^"\n]*"|//[^\n]*|\.[\w:]+|%?[\w$]+|[^\s\w]`)

// NewSpoiler returns a Spoiler that uses the words of the given modules.
func NewSpoiler(seed uint64, texts []string) *Spoiler {
	s := &Spoiler{rng: rand.New(rand.NewPCG(seed, 1)), words: map[byte][]string{}}
	for _, text := range texts {
		for _, w := range wildToken.FindAllString(text, -1) {
			k := wordKind(w)
			s.words[k] = append(s.words[k], w)
		}
	}
	for k, list := range s.words {
		slices.Sort(list)
		s.words[k] = slices.Compact(list)
	}
	return s
}

// wordKind returns a byte for the kind of a word: register, word with a dot, number, name or
// other.
func wordKind(w string) byte {
	switch c := w[0]; {
	case c == '%' || c == '.' || c == '"':
		return c
	case c >= '0' && c <= '9':
		return '0'
	case c == '_' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z':
		return 'a'
	}
	return ';'
}

// Spoil changes one line of a module. ok is false if no line can be changed.
func (s *Spoiler) Spoil(name, text string) (Wild, bool) {
	lines := strings.Split(text, "\n")
	for range 50 {
		i := s.rng.IntN(len(lines))
		line := lines[i]
		bare := strings.TrimSpace(line)
		if bare == "" || strings.HasPrefix(bare, "//") || strings.HasPrefix(bare, ".b8") ||
			strings.Contains(bare, "debug") {
			continue
		}
		what, is := s.changeLine(line)
		if is == line {
			continue
		}
		spoilt := slices.Clone(lines)
		spoilt[i] = is
		switch {
		case what == "swap lines" && i+1 < len(lines):
			spoilt[i], spoilt[i+1] = lines[i+1], line
		case what == "swap lines":
			continue
		}
		return Wild{From: name, What: what, Line: i + 1, Text: strings.Join(spoilt, "\n"),
			Was: bare, Is: strings.TrimSpace(spoilt[i])}, true
	}
	return Wild{}, false
}

// changeLine makes one change to a line. It returns the name of the change and the new line.
func (s *Spoiler) changeLine(line string) (what, is string) {
	spans := wildToken.FindAllStringIndex(line, -1)
	at := s.rng.IntN(len(spans))
	from, to := spans[at][0], spans[at][1]
	word := line[from:to]
	switch n := s.rng.IntN(16); {
	case n == 0:
		return "drop line", ""
	case n == 1:
		return "repeat line", line + "\n" + line
	case n == 2:
		return "swap lines", line + " "
	case n < 6:
		return "drop word", line[:from] + line[to:]
	case n == 6:
		return "repeat word", line[:to] + " " + word + line[to:]
	case n == 7 && at+1 < len(spans):
		next := line[spans[at+1][0]:spans[at+1][1]]
		return "swap words",
			line[:from] + next + line[to:spans[at+1][0]] + word + line[spans[at+1][1]:]
	case n == 8:
		kinds := []byte{'%', '.', '0', 'a', ';'}
		return "insert word",
			line[:from] + s.word(kinds[s.rng.IntN(len(kinds))]) + " " + line[from:]
	case n == 9:
		kinds := []byte{'%', '.', '0', 'a', ';'}
		return "trade word for another kind",
			line[:from] + s.word(kinds[s.rng.IntN(len(kinds))]) + line[to:]
	case n == 10 && wordKind(word) == '0':
		odd := []string{"0", "1", "3", "7", "-1", "4096", "65536", "4294967295", "4294967296",
			"0x7fffffffffffffff", "1.5", "0f3f800000", "1U"}
		return "trade number", line[:from] + odd[s.rng.IntN(len(odd))] + line[to:]
	}
	return "trade word", line[:from] + s.word(wordKind(word)) + line[to:]
}

func (s *Spoiler) word(kind byte) string {
	list := s.words[kind]
	if len(list) == 0 {
		return "x"
	}
	return list[s.rng.IntN(len(list))]
}
