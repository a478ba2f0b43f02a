// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "slices"

// live computes the words that are live at the end of each block. Most words are local to a block.
// Each other word is followed from its uses back to its definitions, so that the cost is
// proportional to the result.
func (g *graph) live() [][]word {
	s := g.words
	blocks := len(g.ops)
	read := make([][]word, blocks) // words read before the block defines them
	made := make(map[word][]int32) // blocks that define a word which other blocks read
	stamp := make([]int32, len(s.alias))
	seen := make([]int32, len(s.alias))
	for b := range g.ops {
		mark := int32(b + 1)
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			for _, u := range o.uses {
				if stamp[u] != mark && seen[u] != mark {
					read[b] = append(read[b], u)
					seen[u] = mark
				}
			}
			for _, d := range o.defs {
				stamp[d] = mark
			}
		}
	}
	for _, v := range s.f.Results {
		if r, ok := s.number[v.Reg]; ok && v.Reg != nil {
			for b := range g.ops {
				if g.flow.Leaves[b] {
					for j := range word(s.width[r]) {
						if w := s.find(s.first[r] + j); w != nothing {
							read[b] = append(read[b], w)
						}
					}
				}
			}
		}
	}
	readers := make(map[word][]int32)
	var order []word
	for b := range read {
		for _, w := range read[b] {
			if readers[w] == nil {
				order = append(order, w)
			}
			readers[w] = append(readers[w], int32(b))
		}
	}
	for b := range g.ops {
		for i := range g.ops[b] {
			for _, d := range g.ops[b][i].defs {
				if readers[d] != nil {
					if list := made[d]; len(list) == 0 || list[len(list)-1] != int32(b) {
						made[d] = append(list, int32(b))
					}
				}
			}
		}
	}
	out := make([][]word, blocks)
	makes := make([]word, blocks) // the word that a block was last seen to define
	in := make([]word, blocks)    // the word last seen live at its start
	at := make([]word, blocks)    // the word last seen live at its end
	for i := range makes {
		makes[i], in[i], at[i] = nothing, nothing, nothing
	}
	var work []int32
	for _, w := range order {
		for _, b := range made[w] {
			makes[b] = w
		}
		for _, b := range readers[w] {
			if in[b] != w {
				in[b] = w
				work = append(work, b)
			}
		}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			for _, p := range g.flow.Preds[b] {
				if at[p] == w {
					continue
				}
				at[p] = w
				out[p] = append(out[p], w)
				if makes[p] != w && in[p] != w {
					in[p] = w
					work = append(work, int32(p))
				}
			}
		}
	}
	for b := range out {
		slices.Sort(out[b])
	}
	return out
}
