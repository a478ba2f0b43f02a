// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package flags looks at memory that blocks of a grid hand to one another: what threads write to global memory, one of them
// announces there, and a thread of another block waits to see. It looks at every way through a kernel at once, and not at traces.
package flags

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// Analyzer is the analyzer.
func Analyzer() *verify.Analyzer {
	return &verify.Analyzer{
		Name: "flags",
		Doc: `Flags looks for one thread of a block that announces in global memory what all have written, with no barrier or nothing
that releases before it, for threads that use what one of them has seen announced, with no barrier or nothing that acquires between, and for
bulk copies of what threads have written, with no proxy fence between. Whether the flag is for that memory is not known, so these are reviews.`,
		Rules:    diag.Rules{ruleFlag},
		Tells:    []string{"A1"},
		Requires: []trace.Kind{trace.Store, trace.Atomic},
		Run:      run,
	}
}

func run(p *verify.Pass) {
	s := newStudy(p)
	s.collect()
	if s.narrow == nil {
		return
	}
	s.forward()
	for b, block := range s.flow.Func.Blocks {
		now := s.in[b]
		for _, in := range block.Instrs {
			s.judge(&now, b, in)
			s.pass(&now, b, in)
		}
	}
}

// judge holds one instruction against what came before it.
func (s *study) judge(now *state, b int, in *ir.Instr) {
	a := s.accesses[in]
	if a == nil {
		return
	}
	switch who := a.who; {
	case a.writes && a.strong && who != all:
		if open := now.open.of(who); open != nil && (a.releases || s.accesses[open].writes && now.bare == nil && !a.resets) {
			doing := "reading"
			if s.accesses[open].writes {
				doing = "writing"
			}
			s.p.Report(&ruleFlag, in, "one thread announces that the block is done, and others may still be %s: no barrier of the block between", doing).
				Also(open, "here")
		} else if now.bare != nil && !a.releases && !a.resets && s.flags[a.base] {
			s.p.Report(&ruleFlag, in, "%s announces to other blocks what was written, and neither it nor a fence before it releases that for the whole GPU", in.Op).
				Also(now.bare, "written here")
		}
	case !a.strong && (who == all || a.engine) && a.varies && s.data[a.base]:
		if a.engine && now.raw != nil && s.accesses[now.raw].base == a.base {
			s.p.Report(&ruleProxy, in, "a bulk copy may read global memory that threads have written, and no fence.proxy.async is between").
				As(diag.Review).Also(now.raw, "written here")
		}
		if seen := now.seen.of(s.width(b)); seen != nil && !a.engine {
			doing := "read"
			if a.writes {
				doing = "write"
			}
			s.p.Report(&ruleFlag, in, "threads %s what one of them has seen announced: no barrier of the block between", doing).Also(seen, "it waits here")
		} else if now.loose != nil && a.reads {
			s.p.Report(&ruleFlag, in, "read behind a wait that orders nothing: neither the load of the flag nor a fence behind it acquires for the whole GPU").
				Also(now.loose, "the wait")
		}
	}
}

// width is whom a barrier must bring together behind a thread that waited: the lanes of a warp may be enough for those who come to a block that not
// all threads come to.
func (s *study) width(b int) who {
	if s.together(b) {
		return single
	}
	return lane
}

// The page of this one is with the analyzer of proxies.
var ruleProxy = diag.Rule{ID: "A1", Layer: "proxies", Severity: diag.Review}

var ruleFlag = diag.Rule{
	ID: "B10", Layer: "flags", Severity: diag.Review, Title: "a flag in global memory that does not cover what it announces",
	What: "One thread of a block sets a flag in global memory, or counts there, behind writes to global memory of all threads, with no barrier of the block between, or with nothing that releases; or threads use such memory behind one of them that waited for a flag, with no barrier or nothing that acquires between. The memory is one that the kernel both writes and reads, the flag one that it both sets and looks at, each through the same parameter.",
	Why:  "A release covers what its own thread has done, and what it has come to know of others through a barrier. Another block reads partial results then, now and then.",
	Wrong: `
.reqntid 64
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.b32 [%rd3+128], %r1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra READ;
red.release.gpu.global.add.u32 [%rd1], 1;
WAIT:
ld.acquire.gpu.global.u32 %r2, [%rd1];
setp.lt.u32 %p2, %r2, 8;
@%p2 bra WAIT;
READ:
bar.sync 0;
ld.global.b32 %r3, [%rd3+4096];
`,
	Right: `
.reqntid 64
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.b32 [%rd3+128], %r1;
bar.sync 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra READ;
red.release.gpu.global.add.u32 [%rd1], 1;
WAIT:
ld.acquire.gpu.global.u32 %r2, [%rd1];
setp.lt.u32 %p2, %r2, 8;
@%p2 bra WAIT;
READ:
bar.sync 0;
ld.global.b32 %r3, [%rd3+4096];
`,
	Fix:     "Put bar.sync before the thread that announces and behind the one that waits, a release at the one and an acquire at the other, of scope gpu or wider.",
	Gaps:    "Memory and flags that are reached through pointers in memory, memory that another kernel reads, and which flag is for which memory.",
	Section: "8.8 Memory consistency model, 9.7.13.4 fence",
}
