// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

func dropUnreachable() *Pass {
	return &Pass{
		Name:  "drop-unreachable",
		Doc:   "removes unreachable blocks and the declarations that only they used. Blocks that debug information refers to are kept.",
		Edits: true,
		Run: func(s *Step) {
			named := debugNames(s.Module)
			for _, f := range s.Module.Funcs() {
				if n := unreachable(f, named); n > 0 {
					s.Changes += n
					trim(f)
				}
			}
		},
	}
}

// debugNames returns the words in debug sections that may be labels.
func debugNames(m *ir.Module) map[string]bool {
	named := make(map[string]bool)
	for _, d := range m.Decls {
		s, ok := d.(*ir.Section)
		if !ok {
			continue
		}
		for _, line := range s.Lines {
			for _, v := range line.Values {
				for _, word := range strings.FieldsFunc(v,
					func(r rune) bool { return strings.ContainsRune(" +-,()", r) }) {
					if c := word[0]; c < '0' || c > '9' {
						named[word] = true
					}
				}
			}
		}
	}
	return named
}

// unreachable removes unreachable blocks of f and returns their number.
func unreachable(f *ir.Func, named map[string]bool) int {
	keep := make(map[*ir.Block]bool, len(f.Blocks))
	for _, i := range ir.FlowOf(f).Order() {
		keep[f.Blocks[i]] = true
	}
	inlined := inlinedAt(f)
	for _, b := range f.Blocks {
		if !keep[b] && spoken(b, named, inlined) {
			reach(f, b, keep)
		}
	}
	before := len(f.Blocks)
	f.Blocks = slices.DeleteFunc(f.Blocks, func(b *ir.Block) bool { return !keep[b] })
	return before - len(f.Blocks)
}

// reach marks a block, and all blocks reachable from it, as kept.
func reach(f *ir.Func, from *ir.Block, keep map[*ir.Block]bool) {
	g := ir.FlowOf(f)
	list := []int{slices.Index(f.Blocks, from)}
	for len(list) > 0 {
		i := list[len(list)-1]
		list = list[:len(list)-1]
		if !keep[f.Blocks[i]] {
			keep[f.Blocks[i]] = true
			list = append(list, g.Succs[i]...)
		}
	}
}

// inlinedAt returns the call sites that .loc lines of f name with inlined_at, each as three
// numbers. An earlier .loc must have declared the site.
func inlinedAt(f *ir.Func) map[string]bool {
	places := make(map[string]bool)
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if _, at, ok := strings.Cut(located(in), "inlined_at "); ok {
				places[place(at)] = true
			}
		}
	}
	return places
}

// located returns the text of a .loc, or "".
func located(in *ir.Instr) string {
	if in.Op != ".loc" || len(in.Args) == 0 {
		return ""
	}
	return in.Args[0].Text()
}

// place returns the first three words of a .loc's text, as one.
func place(text string) string {
	words := strings.Fields(strings.ReplaceAll(text, ",", " "))
	return strings.Join(words[:min(3, len(words))], " ")
}

// spoken reports whether debug information refers to a block: a section to its label, or a .loc to
// its position.
func spoken(b *ir.Block, named, inlined map[string]bool) bool {
	for i := range b.Labels {
		if named[b.Labels[i].Name] {
			return true
		}
	}
	for _, in := range b.Instrs {
		if text := located(in); text != "" && inlined[place(text)] {
			return true
		}
	}
	return false
}
