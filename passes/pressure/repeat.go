// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An unrolling holds the state while the body of a loop is repeated.
type unrolling struct {
	words *words
	body  []op
	now   map[word]word  // the current copy of each word
	ahead map[word]int64 // the constant that has been added to a word since the first iteration
	other map[word]bool  // words that are used other than in additions or as an address
	out   []op
}

// repeat repeats the body of a loop the given number of times, each time with new words.
func (g *graph) repeat(b, times int) {
	u := &unrolling{words: g.words, body: g.ops[b], now: make(map[word]word),
		ahead: make(map[word]int64)}
	u.findOther()
	for k := range times {
		last := k == times-1
		for i := range u.body {
			if last || !u.onlyInLast(i) && !u.foldInto(&u.body[i]) {
				u.add(u.body[i], last)
			}
		}
	}
	g.ops[b] = u.out
}

// test returns the branch at the end of the body.
func (u *unrolling) test() *op { return &u.body[len(u.body)-1] }

// current returns the copy of a word in the current iteration.
func (u *unrolling) current(w word) word {
	if n, ok := u.now[w]; ok {
		return n
	}
	return w
}

// compares reports whether an op only computes the condition of the branch at the end.
func (u *unrolling) compares(o *op) bool {
	return o.in.Kind() == isa.KindSetp && len(o.defs) == 1 && has(u.test().uses, o.defs[0])
}

// addsConstant reports whether an instruction adds a constant.
func addsConstant(in *ir.Instr) bool {
	return in.Kind() == isa.KindAdd && len(in.Args) == 3 && in.Args[2].Kind == ir.Int
}

// findOther stores in other the words that are used other than in additions or as an address.
func (u *unrolling) findOther() {
	u.other = make(map[word]bool)
	for i := range u.body {
		o := &u.body[i]
		if addsConstant(o.in) || o == u.test() || u.compares(o) {
			continue
		}
		addresses := u.words.addressWords(o.in)
		for _, w := range o.uses {
			if !addresses[w] {
				u.other[w] = true
			}
		}
	}
}

// addressWords returns the words of an instruction's addresses whose offset is a constant.
func (s *words) addressWords(in *ir.Instr) map[word]bool {
	if !takesOffset(in) {
		return nil
	}
	found := make(map[word]bool)
	for i := range in.Args {
		a := &in.Args[i]
		if a.Kind != ir.Address || len(a.Args()) != 1 {
			continue
		}
		if r, ok := s.of(a.Args()[0].Reg); ok {
			for n := range word(s.width[r]) {
				found[s.find(s.first[r]+n)] = true
			}
		}
	}
	return found
}

// onlyInLast reports whether only the last iteration contains op i, because it is the branch or its
// comparison.
func (u *unrolling) onlyInLast(i int) bool {
	o := &u.body[i]
	return o == u.test() || u.compares(o) && !u.other[o.defs[0]]
}

// foldInto removes a move, or an addition of a constant that can be part of an address, and reports
// whether it did.
func (u *unrolling) foldInto(o *op) bool {
	if len(o.uses) != len(o.defs) || o.in.Guard.Reg != nil {
		return false
	}
	adds := addsConstant(o.in) && len(o.defs) > 0 && !u.other[o.defs[0]]
	if !adds && o.in.Kind() != isa.KindMov {
		return false
	}
	if adds {
		u.ahead[u.current(o.uses[0])] += o.in.Args[2].Value
	}
	list := u.copies(o.uses)
	for i, d := range o.defs {
		u.now[d] = list[i]
	}
	return true
}

// copies returns the current copies of words.
func (u *unrolling) copies(list []word) []word {
	now := make([]word, len(list))
	for i, w := range list {
		now[i] = u.current(w)
	}
	return now
}

// add appends an op of the current iteration. The last iteration defines the words of the body.
func (u *unrolling) add(o op, last bool) {
	if o.base != noWord {
		o.base = u.current(o.base)
		o.offset += u.ahead[o.base]
	}
	o.uses = u.copies(o.uses)
	defs := make([]word, len(o.defs))
	for i, d := range o.defs {
		defs[i] = d
		if !last {
			defs[i] = u.words.newWordLike(d)
		}
	}
	for i, d := range o.defs {
		u.now[d] = defs[i]
	}
	o.defs = defs
	u.out = append(u.out, o)
}
