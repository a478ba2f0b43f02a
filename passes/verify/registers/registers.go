// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package registers checks setmaxnreg against the pool of registers of a block.
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

// Analyzer returns the analyzer for setmaxnreg.
func Analyzer() *verify.Analyzer {
	return &verify.Analyzer{
		Name:   "registers",
		Covers: "register pools",
		Doc: `Registers sums the registers that setmaxnreg leaves to each warpgroup, and checks
that whole warpgroups execute it. The pool is what the kernel is launched with:
.maxnreg, or the most that the block size allows.`,
		Rules:    diag.Rules{ruleNumber, ruleWhole, ruleWay, rulePool, rulePinned, ruleGained},
		Pages:    pages,
		Requires: []trace.Kind{trace.Registers},
		Run:      run,
	}
}

func run(p *verify.Pass) {
	launch, pinned := atLaunch(p)
	came := make(map[*ir.Instr]value.Set)
	var order []*trace.Event
	most := make([]int64, value.MaxThreads/128) // largest final register count of each warpgroup
	asked := make([]*trace.Event, len(most))
	shrinks := false
	for g := range most {
		most[g] = launch
	}
	for _, t := range p.Traces {
		now := launch
		first := true
		var last *trace.Event // not followed by a warpgroup barrier
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
			if last != nil {
				f := p.Report(&ruleWhole, e.In, "second setmaxnreg without synchronization of "+
					"the warpgroup in between").Also(last.In, "the first setmaxnreg").On(t, i)
				if n, ok := verify.Number(e, 0); ok && n == now {
					f.As(diag.Review) // it changes nothing
				}
			}
			last = e
			n, ok := verify.Number(e, 0)
			if !ok {
				continue
			}
			if n%8 != 0 || n < 24 || n > 256 {
				p.Report(&ruleNumber, e.In, "setmaxnreg to %d, expected a multiple of 8 from 24 "+
					"to 256", n)
			}
			shrinks = shrinks || e.In.Kind() == isa.KindSetmaxnregDec
			way(p, t, i, n, now, first && !pinned, first && p.Func.Attr(".maxnreg") == nil)
			now, first = n, false
			s, seen := came[e.In]
			if !seen {
				order = append(order, e)
			}
			came[e.In] = s.Or(e.Threads)
			for g := range most {
				if lanes(&e.Threads, g) > 0 && (asked[g] == nil || n > most[g] || most[g] == launch) {
					most[g], asked[g] = n, e
				}
			}
		}
	}
	alike := make(map[string]value.Set) // threads that execute the same instruction anywhere
	for _, e := range order {
		alike[same(e)] = alike[same(e)].Or(came[e.In])
	}
	for _, e := range order {
		s, all := came[e.In], alike[same(e)]
		for g := range most {
			if n := lanes(&s, g); n > 0 && n < 128 && p.Pool.Exact && 128*g+128 <= p.Pool.Threads && p.Left(e.In, group(g).Minus(s)) {
				if lanes(&all, g) == 128 { // tile compilers generate this
					p.Report(&ruleWhole, e.In, "setmaxnreg by %d of the 128 threads of warpgroup "+
						"%d, while the others execute another one; the manual requires all of "+
						"them to execute the same instruction", n, g).As(diag.Review)
					break
				}
				p.Report(&ruleWhole, e.In, "setmaxnreg by %d of the 128 threads of warpgroup %d: "+
					"the others keep their registers, and a later setmaxnreg.inc waits for them "+
					"forever", n, g)
				break
			}
		}
	}
	if !pinned && len(order) > 0 {
		p.Report(&rulePinned, order[0].In, "setmaxnreg in a kernel whose launch register count "+
			"is unknown: it has none of .maxnreg, .reqntid and .maxntid")
	}
	pool(p, launch, pinned, most, asked, shrinks)
	gained(p)
}

// same returns a key that is equal for setmaxnreg instructions with the same effect.
func same(e *trace.Event) string {
	n, _ := verify.Number(e, 0)
	return e.In.Op + strconv.FormatInt(n, 10)
}

// way checks that dec lowers the count and inc raises it.
func way(p *verify.Pass, t *trace.Trace, i int, n, now int64, free, guess bool) {
	e := &t.Events[i]
	switch {
	case free || now == 0:
	case e.In.Kind() == isa.KindSetmaxnregDec && n > now:
		p.Report(&ruleWay, e.In, "setmaxnreg.dec to %d, but threads have %d registers", n, now).
			On(t, i)
	case e.In.Kind() == isa.KindSetmaxnregInc && n < now:
		f := p.Report(&ruleWay, e.In, "setmaxnreg.inc to %d, but threads have %d registers", n,
			now).On(t, i)
		if guess {
			f.As(diag.Review) // they may have been launched with fewer registers
		}
	}
}

// atLaunch returns the registers per thread at launch: .maxnreg, or else the most that the block
// size allows.
func atLaunch(p *verify.Pass) (n int64, pinned bool) {
	if d := p.Func.Attr(".maxnreg"); d != nil {
		v, err := strconv.Atoi(strings.TrimSpace(d.Text))
		return int64(v), err == nil
	}
	if p.Func.Attr(".reqntid") == nil && p.Func.Attr(".maxntid") == nil {
		return 0, false
	}
	return min(255, int64(65536/max(32, (p.Pool.Threads+31)/32*32))/8*8), true
}

// pool checks the sum of the final register counts of all warpgroups.
func pool(p *verify.Pass, launch int64, pinned bool, most []int64, asked []*trace.Event, shrinks bool) {
	if !pinned || !p.Pool.Exact || len(p.Kernel.Missed) > 0 {
		return
	}
	groups := (p.Pool.Threads + 127) / 128
	sum, have := int64(0), launch*int64(groups)
	var raise *trace.Event
	var parts []string
	for g := range groups {
		sum += most[g]
		parts = append(parts, strconv.FormatInt(most[g], 10))
		if e := asked[g]; e != nil && e.In.Kind() == isa.KindSetmaxnregInc {
			raise = e
		}
	}
	if raise == nil || sum <= have {
		return
	}
	f := p.Report(&rulePool, raise.In, "deadlock in setmaxnreg.inc: warpgroups request %s "+
		"registers per thread, %d in total, but the launch provides %d times %d, %d in total",
		strings.Join(parts, " + "), sum, groups, launch, have)
	if !shrinks {
		f.Also(raise.In, "no warpgroup releases registers")
	}
	for g := range groups {
		if e := asked[g]; e != nil && e.In != raise.In {
			f.Also(e.In, "another warpgroup requests or releases registers here")
			break
		}
	}
}

// group returns the threads of a warpgroup.
func group(n int) value.Set { return value.First(128*n + 128).Minus(value.First(128 * n)) }

// lanes returns how many threads of a warpgroup are in s.
func lanes(s *value.Set, group int) int {
	n := 0
	for t := 128 * group; t < 128*group+128; t++ {
		if s.Has(t) {
			n++
		}
	}
	return n
}
