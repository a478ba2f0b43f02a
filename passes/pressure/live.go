// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "slices"

// The liveness in package passes is of registers. Here, the unit is a word of 32 bits after
// copies were merged and loops were unrolled. These words exist only in the graph of this
// package.

// live returns the words that are live at the end of each block. Most words are local to a block.
// For each other word, it searches backward from the uses to the definitions, so that the cost is
// proportional to the size of the result.
func (g *graph) live() [][]word {
	order, readers := g.readers()
	return g.followLive(order, readers, g.definers(readers))
}

// readers returns the blocks that read each word before they define it, and these words in order.
func (g *graph) readers() (order []word, readers map[word][]int32) {
	readers = make(map[word][]int32)
	for b, list := range g.upwardExposed() {
		for _, w := range list {
			if readers[w] == nil {
				order = append(order, w)
			}
			readers[w] = append(readers[w], int32(b))
		}
	}
	return order, readers
}

// upwardExposed returns the words that each block reads before it defines them. A block at the end
// of the function reads its results.
func (g *graph) upwardExposed() [][]word {
	s := g.words
	read := make([][]word, len(g.ops))
	made, seen := make([]int32, len(s.alias)), make([]int32, len(s.alias))
	for b := range g.ops {
		mark := int32(b + 1)
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			for _, u := range o.uses {
				if made[u] != mark && seen[u] != mark {
					read[b] = append(read[b], u)
					seen[u] = mark
				}
			}
			for _, d := range o.defs {
				made[d] = mark
			}
		}
	}
	results := s.resultWords()
	for b := range g.ops {
		if g.flow.Leaves[b] {
			read[b] = append(read[b], results...)
		}
	}
	return read
}

// resultWords returns the words of the function's results.
func (s *words) resultWords() (list []word) {
	for _, v := range s.f.Results {
		r, ok := s.number[v.Reg]
		if !ok || v.Reg == nil {
			continue
		}
		for j := range word(s.width[r]) {
			if w := s.find(s.first[r] + j); w != noWord {
				list = append(list, w)
			}
		}
	}
	return list
}

// definers returns the blocks that define each of the words that some block reads.
func (g *graph) definers(readers map[word][]int32) map[word][]int32 {
	made := make(map[word][]int32)
	for b := range g.ops {
		for i := range g.ops[b] {
			for _, d := range g.ops[b][i].defs {
				if readers[d] == nil {
					continue
				}
				if list := made[d]; len(list) == 0 || list[len(list)-1] != int32(b) {
					made[d] = append(list, int32(b))
				}
			}
		}
	}
	return made
}

// followLive searches backward from the readers of each word to its definitions, and returns the
// words that are live at the end of each block.
func (g *graph) followLive(order []word, readers, made map[word][]int32) [][]word {
	blocks := len(g.ops)
	out := make([][]word, blocks)
	makes := slices.Repeat([]word{noWord}, blocks) // the word that a block was last seen to define
	in := slices.Repeat([]word{noWord}, blocks)    // the word last found live at its start
	at := slices.Repeat([]word{noWord}, blocks)    // the word last found live at its end
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
