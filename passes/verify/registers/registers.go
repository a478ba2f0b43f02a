// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package registers checks the register counts that setmaxnreg requests against the registers of
// the block.
package registers

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer for setmaxnreg.
var Analyzer = &verify.Analyzer{
	Name:   "registers",
	Covers: "register pools",
	Doc: `Registers adds up the registers that each warpgroup has after setmaxnreg, and checks
that whole warpgroups execute it. The pool is the register count at launch: .maxnreg, or
the largest count that the block size allows.`,
	Rules:    diag.Rules{ruleNumber, ruleWhole, ruleDirection, rulePool, rulePinned},
	Pages:    pages,
	Requires: []trace.Kind{trace.Registers},
	Run:      run,
}

// A registerPool holds the register counts of a kernel's warpgroups.
type registerPool struct {
	p        *verify.Pass
	launch   int64 // registers per thread at launch
	pinned   bool  // the launch count is certain
	executed map[*ir.Instr]value.Set
	order    []*trace.Event // the first event of each instruction
	most     []int64        // largest final register count of each warpgroup
	requests []*trace.Event // the event that requests the count in most
	shrinks  bool           // some warpgroup releases registers
}

func run(p *verify.Pass) {
	s := &registerPool{p: p, executed: make(map[*ir.Instr]value.Set),
		most: make([]int64, value.MaxThreads/128)}
	s.launch, s.pinned = launchCount(p)
	s.requests = make([]*trace.Event, len(s.most))
	for g := range s.most {
		s.most[g] = s.launch
	}
	for _, t := range p.Traces {
		s.checkTrace(t)
	}
	s.checkWhole()
	if !s.pinned && len(s.order) > 0 {
		p.Report(&rulePinned, s.order[0].In,
			"setmaxnreg is used, but the register count at launch is unknown: the kernel has none of .maxnreg, .reqntid and .maxntid")
	}
	s.checkSum()
}

// checkTrace compares each setmaxnreg of a trace with the count that the preceding one set.
func (s *registerPool) checkTrace(t *trace.Trace) {
	p, now, first := s.p, s.launch, true
	var last *trace.Event // the last setmaxnreg that no warpgroup barrier follows
	for i := range t.Events {
		e := &t.Events[i]
		switch e.Kind {
		case trace.Registers:
		case trace.BarrierSync, trace.ClusterWait, trace.Wait:
			last = nil
			continue
		default:
			continue
		}
		n, ok := verify.Number(e, 0)
		if last != nil {
			f := p.Report(&ruleWhole, e.In, "second setmaxnreg without synchronization of "+
				"the warpgroup in between").Also(last.In, "the first setmaxnreg").On(t, i)
			if ok && n == now {
				f.As(diag.Review) // the instruction changes nothing
			}
		}
		last = e
		if !ok {
			continue
		}
		if n%8 != 0 || n < 24 || n > 256 {
			p.Report(&ruleNumber, e.In,
				"setmaxnreg requests %d registers, expected a multiple of 8 from 24 to 256", n)
		}
		checkDirection(p, t, i, n, now, first && !s.pinned, first && p.Func.Attr(".maxnreg") == nil)
		now, first = n, false
		s.recordRequest(e, n)
	}
}

// recordRequest records that an event requests n registers for its threads.
func (s *registerPool) recordRequest(e *trace.Event, n int64) {
	s.shrinks = s.shrinks || e.In.Kind() == isa.KindSetmaxnregDec
	threads, seen := s.executed[e.In]
	if !seen {
		s.order = append(s.order, e)
	}
	s.executed[e.In] = threads.Or(*e.Threads)
	for g := range s.most {
		if countThreads(e.Threads, g) > 0 &&
			(s.requests[g] == nil || n > s.most[g] || s.most[g] == s.launch) {
			s.most[g], s.requests[g] = n, e
		}
	}
}

// checkWhole reports setmaxnreg instructions that only some threads of a warpgroup execute.
func (s *registerPool) checkWhole() {
	p := s.p
	if !p.Pool.Exact {
		return
	}
	// threads that execute any setmaxnreg with the same effect
	sameEffect := make(map[string]value.Set)
	for _, e := range s.order {
		sameEffect[effectKey(e)] = sameEffect[effectKey(e)].Or(s.executed[e.In])
	}
	for _, e := range s.order {
		threads, all := s.executed[e.In], sameEffect[effectKey(e)]
		g, n := s.partialWarpgroup(e, threads)
		switch {
		case n == 0:
		case countThreads(&all, g) == 128: // tile compilers generate this
			p.Report(&ruleWhole, e.In,
				"setmaxnreg is executed by %d of the 128 threads of warpgroup %d, while the others execute another setmaxnreg; the PTX manual requires that all execute the same instruction",
				n, g).As(diag.Review)
		default:
			p.Report(&ruleWhole, e.In,
				"setmaxnreg is executed by %d of the 128 threads of warpgroup %d: the others keep their registers, and a later setmaxnreg.inc waits for these registers forever",
				n, g)
		}
	}
}

// partialWarpgroup returns the first warpgroup g in which only some threads execute an
// instruction, and the number n of these threads. n is 0 if there is no such warpgroup.
func (s *registerPool) partialWarpgroup(e *trace.Event, threads value.Set) (g, n int) {
	for g := range s.most {
		n := countThreads(&threads, g)
		if n > 0 && n < 128 && 128*g+128 <= s.p.Pool.Threads &&
			s.p.Left(e.In, warpgroupThreads(g).Minus(threads)) {
			return g, n
		}
	}
	return 0, 0
}

// effectKey returns a key that is equal for setmaxnreg instructions with the same effect.
func effectKey(e *trace.Event) string {
	n, _ := verify.Number(e, 0)
	return e.In.Op + strconv.FormatInt(n, 10)
}

// checkDirection checks that setmaxnreg.dec lowers the count and setmaxnreg.inc raises it.
func checkDirection(p *verify.Pass, t *trace.Trace, i int, n, now int64, free, guess bool) {
	e := &t.Events[i]
	switch {
	case free || now == 0:
	case e.In.Kind() == isa.KindSetmaxnregDec && n > now:
		p.Report(&ruleDirection, e.In,
			"setmaxnreg.dec requests %d registers, but threads have only %d", n, now).
			On(t, i)
	case e.In.Kind() == isa.KindSetmaxnregInc && n < now:
		f := p.Report(&ruleDirection, e.In,
			"setmaxnreg.inc requests %d registers, but threads already have %d", n,
			now).On(t, i)
		if guess {
			f.As(diag.Review) // the threads may have been launched with fewer registers
		}
	}
}

// launchCount returns the registers per thread at launch: .maxnreg, or else the largest count
// that the block size allows. pinned is false if neither is given.
func launchCount(p *verify.Pass) (n int64, pinned bool) {
	if d := p.Func.Attr(".maxnreg"); d != nil {
		v, err := strconv.Atoi(strings.TrimSpace(d.Text))
		return int64(v), err == nil
	}
	if p.Func.Attr(".reqntid") == nil && p.Func.Attr(".maxntid") == nil {
		return 0, false
	}
	return min(255, int64(65536/max(32, (p.Pool.Threads+31)/32*32))/8*8), true
}

// checkSum compares the sum of the final register counts of all warpgroups with the registers of
// the block at launch.
func (s *registerPool) checkSum() {
	p := s.p
	if !s.pinned || !p.Pool.Exact || len(p.Kernel.Missed) > 0 {
		return
	}
	groups := (p.Pool.Threads + 127) / 128
	sum, have := int64(0), s.launch*int64(groups)
	var raise *trace.Event
	var parts []string
	for g := range groups {
		sum += s.most[g]
		parts = append(parts, strconv.FormatInt(s.most[g], 10))
		if e := s.requests[g]; e != nil && e.In.Kind() == isa.KindSetmaxnregInc {
			raise = e
		}
	}
	if raise == nil || sum <= have {
		return
	}
	f := p.Report(&rulePool, raise.In, "deadlock in setmaxnreg.inc: warpgroups request %s "+
		"registers per thread, %d in total, but the launch provides %d times %d, %d in total",
		strings.Join(parts, " + "), sum, groups, s.launch, have)
	if !s.shrinks {
		f.Also(raise.In, "no warpgroup releases registers")
	}
	for g := range groups {
		if e := s.requests[g]; e != nil && e.In != raise.In {
			f.Also(e.In, "another warpgroup requests or releases registers here")
			break
		}
	}
}

// warpgroupThreads returns the threads of warpgroup n.
func warpgroupThreads(n int) value.Set {
	return value.First(128*n + 128).Minus(value.First(128 * n))
}

// countThreads returns how many threads of a warpgroup are in s.
func countThreads(s *value.Set, group int) int {
	n := 0
	for t := 128 * group; t < 128*group+128; t++ {
		if s.Has(t) {
			n++
		}
	}
	return n
}
