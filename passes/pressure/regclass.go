// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// classify finds the words that a uniform register (one value per warp) can hold: those that
// uniform instructions compute from uniform values. With loops set, it includes words that are
// written more than once.
func (g *graph) classify(number int, loops bool) {
	s := g.words
	for w := range s.class {
		if s.class[w] != predicate {
			s.class[w] = uniform
			if !loops && !s.single(word(w)) {
				s.class[w] = general
			}
		}
	}
	differs := make([]bool, len(s.class)) // predicates that differ between threads
	for changed := true; changed; {
		changed = false
		for b := range g.ops {
			for i := range g.ops[b] {
				o := &g.ops[b][i]
				if len(o.defs) == 0 {
					continue
				}
				same := warpWide(o.in, number) && !s.loads(o)
				for _, u := range o.uses {
					same = same && (s.class[u] == uniform || s.class[u] == predicate && !differs[u])
				}
				if same {
					continue
				}
				for _, d := range o.defs {
					switch {
					case s.class[d] == uniform:
						s.class[d] = general
						changed = true
					case s.class[d] == predicate && !differs[d]:
						differs[d] = true
						changed = true
					}
				}
			}
		}
	}
	g.descriptors()
}

// descriptors makes words uniform that only tensor-core instructions read, such as matrix
// descriptors. These instructions read only uniform registers, and ptxas computes such words there
// or moves them there.
func (g *graph) descriptors() {
	s := g.words
	described, other := make(map[word]bool), make(map[word]bool)
	for b := range g.ops {
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			h := o.in.Kind().Head()
			for _, u := range o.uses {
				if (h == isa.HeadWgmma || h == isa.HeadTcgen05) && s.width[s.owner[u]] == 2 &&
					!has(o.defs, u) {
					described[u] = true
				} else {
					other[u] = true
				}
			}
		}
	}
	for u := range described {
		if !other[u] && s.class[u] == general {
			s.class[u] = uniform
		}
	}
}

// loads reports whether an op only loads a constant into a per-thread register.
func (s *words) loads(o *op) bool {
	for _, d := range o.defs {
		if s.loaded[s.owner[d]] != unloaded {
			return true
		}
	}
	return false
}

// warpWide reports whether an instruction has a uniform variant.
func warpWide(in *ir.Instr, number int) bool {
	switch in.Kind().Head() {
	case isa.HeadMov:
		if special(in) {
			return number >= constantFree && strings.Contains(in.Args[1].Text(), "cta")
		}
		return true
	case isa.HeadLd:
		return in.HasMod(isa.ModParam, isa.ModConst)
	case isa.HeadAdd, isa.HeadSub, isa.HeadMul, isa.HeadMad, isa.HeadMin, isa.HeadMax, isa.HeadSetp,
		isa.HeadSelp, isa.HeadNeg, isa.HeadAbs, isa.HeadCvt, isa.HeadFma, isa.HeadSlct:
		switch {
		case in.HasMod(isa.ModF64, isa.ModHi), in.Kind() == isa.KindMulHi,
			in.Kind() == isa.KindMadHi:
			return false
		case in.HasMod(isa.ModF32):
			return number >= 100
		}
		return !halves(in)
	case isa.HeadShl, isa.HeadShr, isa.HeadAnd, isa.HeadOr, isa.HeadXor, isa.HeadNot, isa.HeadLop3,
		isa.HeadShf, isa.HeadPrmt, isa.HeadPopc, isa.HeadBrev, isa.HeadBfi, isa.HeadBfe,
		isa.HeadCvta, isa.HeadBfind, isa.HeadClz:
		return true
	}
	return false
}

// special reports whether an instruction moves a special register into a register.
func special(in *ir.Instr) bool { return len(in.Args) > 1 && in.Args[1].Kind == ir.Special }

// threadAddresses is the number of the first target on which an address must be in a per-thread
// register: sm_80. Earlier targets accept uniform registers.
const threadAddresses = 80
