// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	_ "embed"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

//go:embed words.txt
var storedWords string

// Words are the modifiers of the table and those of the stored list, without their dots. Of a
// family of words that differ in their numbers alone, such as the shapes of wgmma, a few stand for
// all.
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
	return thinned(slices.Compact(out))
}

// mostAlike is how many words that differ in their numbers alone are tried. The shapes of mma are
// fewer, and each matters; those of wgmma are 150.
const mostAlike = 40

var wordNumber = regexp.MustCompile(`\d+`)

// thinned leaves every n-th word of a family with too many.
func thinned(words []string) []string {
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
		return families[f] > mostAlike && n%(families[f]/4) != 0
	})
}

// A Vocabulary is what the strings of the assembler's binary came to.
type Vocabulary struct {
	Strings int      // that could be modifiers, and their concatenations
	New     []string // the assembler's lexer knows them, and Words has none of them
}

var (
	binaryWord = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_]*(?:::[A-Za-z0-9_]+)*|[1-9]\d*(?:d\b|[a-z]\d[a-z0-9]*)`)
	plainWord  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// ReadVocabulary looks for modifiers among the strings of the assembler's binary, their parts and
// the concatenations of parts. The assembler tells words that it does not know from those that an
// instruction does not take.
func ReadVocabulary(ctx context.Context, set *isa.Set, tool *ptxas.Tool) (*Vocabulary, error) {
	binary, err := os.ReadFile(tool.Path)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, w := range Words(set) {
		known[w] = true
	}
	for _, m := range set.Mods[1:] {
		known[strings.TrimPrefix(m, ".")] = true
	}
	candidates := map[string]bool{}
	for _, found := range binaryWord.FindAll(binary, -1) {
		word := string(found)
		if len(word) > 40 || len(word) < 2 || len(word) < 4 && !plainWord.MatchString(word) {
			continue
		}
		candidates[word] = true
	}
	for _, w := range concatenations(known) {
		candidates[w] = true
	}
	var list []string
	for w := range candidates {
		if !known[w] {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	fresh, err := knownWords(ctx, tool, list)
	return &Vocabulary{len(candidates), fresh}, err
}

// concatenations are the parts of words with colons, joined anew.
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

// knownWords are the words that the assembler's lexer knows as modifiers.
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
		if v.OK() || v.Status == ptxas.Rejected && !says(v, unknownWord) {
			out = append(out, words[i])
		}
	}
	return out, nil
}

var unknownWord = regexp.MustCompile(`^Unknown modifier`)
