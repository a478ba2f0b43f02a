// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// A ring is a circular buffer of stages between two roles. Each stage has an mbarrier full, which
// the producer completes, and an mbarrier empty, which the consumer completes.
type ring struct {
	k           *Kernel
	name        string
	stages      int
	full, empty Barrier
	pair        bool     // whether a pair of blocks shares the ring (tcgen05)
	counted     []string // mbarriers and roles whose arrivals have been counted
}

func (k *Kernel) newRing(name string, stages int) ring {
	if stages < 1 || stages > 64 {
		k.fault(&ruleProtocol, "%s has %d stages, expected 1 to 64", name, stages).
			withFix(nearest(stages, 1, 64, 1))
		stages = 1
	}
	return ring{k: k, name: name, stages: stages,
		full: k.barriers(name+" full", stages, 1), empty: k.barriers(name+" empty", stages, 0)}
}

// A place is the position of a role in a ring, held in two variables.
type place struct{ stage, parity Reg[U32] }

// state returns the position of the current role in the ring, which starts at the first stage.
// parity is the first phase parity for which the role waits: 1 for producers, since that parity
// is already complete on a new mbarrier, 0 for consumers.
func (r *ring) state(parity int) *place {
	k := r.k
	if k.role == nil {
		k.fault(&ruleProtocol, "%s is used outside of a role", r.name)
		return &place{k.U32(0).Var(), k.U32(parity).Var()}
	}
	s := k.role.sparsity[r]
	if s == nil {
		s = &place{}
		k.atHead(func() {
			s.stage = k.U32(0).Var()
			s.parity = k.U32(parity).Var()
		})
		s.stage.r.Name = k.regName(label(r.name) + "_stage")
		s.parity.r.Name = k.regName(label(r.name) + "_parity")
		k.role.sparsity[r] = s
	}
	return s
}

// barriers returns the two mbarriers of the stage at a position.
func (r *ring) barriers(at *place) (full, empty Barrier) {
	full = r.full.At(at.stage)
	empty = r.empty
	empty.at = full.at.Plus(r.empty.at.off - r.full.at.off)
	return full, empty
}

// next advances to the next stage, and flips the parity after the last one.
func (s *place) next(r *ring) {
	k := r.k
	flip := func() {
		o := s.parity.in(k)
		k.ins("xor.b32", o, o, number(1))
	}
	if r.stages == 1 {
		flip()
		return
	}
	step := s.stage.in(k)
	k.ins("add.u32", step, step, number(1))
	k.When(s.stage.EQI(int64(r.stages)), func() {
		flip()
		s.stage.Set(k.U32(0))
	})
}

// countArrivals adds n to the number of arrivals that mbarrier b expects per phase, once for each
// role.
func (r *ring) countArrivals(b Barrier, n int) {
	name := b.spec.name
	if r.k.role != nil {
		name += " " + r.k.role.name
	}
	for _, c := range r.counted {
		if c == name {
			return
		}
	}
	r.counted = append(r.counted, name)
	b.spec.count += n
}

// roleWarps returns the number of warps of the role that is being built, or of the block outside
// roles.
func (k *Kernel) roleWarps() int {
	if k.role == nil {
		return max(1, k.BlockThreads()/32)
	}
	return k.role.n
}
