// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "iter"

// A lateRelease is the state of a loop that frees each stage in the next iteration.
type lateRelease struct {
	slot  Reg[U32] // the previous stage
	freed bool
}

// ConsumeLate is [Pipeline.Consume] that does not wait for MMAs at the end of an iteration, so that
// the last MMAs of an iteration overlap with the start of the next one. The body must call
// [Stage.ReleasePrevious] where the MMAs of the previous iteration are complete. After the loop,
// the last stage is freed when all MMAs are complete. The pipeline needs at least two stages.
func (p *Pipeline) ConsumeLate(n Reg[U32]) iter.Seq[*Stage] {
	return func(yield func(*Stage) bool) {
		if p == nil || !checkCreated(p.k, "pipeline in ConsumeLate", n.k) {
			return
		}
		k := p.k
		switch {
		case p.stages < 2:
			k.fault(&ruleProtocol,
				"ConsumeLate reads pipeline %s of %d stages, expected at least two",
				p.name, p.stages)
		case p.pair || p.isClusterWide:
			k.fault(&ruleProtocol,
				"ConsumeLate reads pipeline %s, which other blocks share, expected a pipeline of one block",
				p.name)
		}
		state, late := p.state(0), &lateRelease{slot: k.U32(0).Var()}
		for i := range k.Range(k.U32(0), n) {
			s := p.waitFull(i, state)
			s.late = late
			ok := yield(s)
			k.openStages = k.openStages[:len(k.openStages)-1]
			if !ok {
				k.fault(&ruleLoop,
					"Go break or return leaves the body of ConsumeLate, which is built only once")
				break
			}
			if !late.freed {
				k.fault(&ruleProtocol,
					"body of ConsumeLate does not call ReleasePrevious: the stages of pipeline %s would never become empty",
					p.name)
			}
			late.slot.Set(state.stage)
			state.next(&p.ring)
		}
		k.waitStarted()
		p.freeLate(late, n.GTI(0))
	}
}

// ReleasePrevious frees the stage of the previous iteration, if there is one, in the body of
// [Pipeline.ConsumeLate]. The MMAs of the previous iteration must be complete (WaitMMA).
func (s *Stage) ReleasePrevious() {
	k := s.kernel()
	switch {
	case k == nil:
		return
	case s.late == nil || s.late.freed:
		k.fault(&ruleProtocol,
			"ReleasePrevious is called outside of ConsumeLate or twice in one iteration; each stage must be freed once")
		return
	}
	s.late.freed = true
	s.p.freeLate(s.late, s.index.GTI(0))
}

// freeLate arrives on the empty mbarrier of the previous stage if a condition holds.
func (p *Pipeline) freeLate(late *lateRelease, where Reg[Pred]) {
	k := p.k
	k.FenceAsync()
	k.SyncWarp()
	k.When(k.Leader().And(where), p.empty.At(late.slot).Arrive)
	p.countArrivals(p.empty, k.roleWarps())
}
