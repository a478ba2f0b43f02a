// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// Fragments observes launches and detects accesses to the accumulators and the A fragments of wgmma
// while an operation is in flight, and wgmma without the wgmma.fence that orders earlier accesses.
// It also detects uses of registers that tcgen05.ld has not loaded yet. Its zero value is ready for
// use.
type Fragments struct {
	launch  *emu.Launching
	warps   map[[2]uint32]*fragmentState
	tracked map[*ir.Reg]bool // the registers of all wgmma and tcgen05.ld instructions
	uses    map[*ir.Instr][]registerUse
	races   []*Race
	seen    map[raceKey]bool
}

// A registerUse is an access of an instruction to a register that Fragments tracks.
type registerUse struct {
	reg    *ir.Reg
	writes bool
}

// A fragmentState is the state of a warp: its operations in flight and the registers that they use.
type fragmentState struct {
	fenced  bool // the warp has executed wgmma.fence
	groups  int  // committed groups
	flights map[*ir.Reg]flight
	written map[*ir.Reg]*ir.Instr // since the last wgmma.fence, by other instructions
	loads   map[*ir.Reg]*ir.Instr // tcgen05.ld in flight
}

// A flight is an operation that may still access a register.
type flight struct {
	in     *ir.Instr
	group  int
	writes bool
}

// Races returns the findings, in the order in which they were found.
func (f *Fragments) Races() []*Race { return f.races }

// Observe prepares for a launch. It ignores all other events, because they do not name registers.
func (f *Fragments) Observe(e *emu.Event) {
	if e.Kind != emu.EventBegin {
		return
	}
	f.launch = e.Launch
	f.warps = make(map[[2]uint32]*fragmentState)
	if f.tracked != nil {
		return
	}
	f.tracked, f.uses, f.seen = make(map[*ir.Reg]bool), make(map[*ir.Instr][]registerUse),
		make(map[raceKey]bool)
	for _, fn := range e.Launch.Module.Funcs() {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				switch in.Kind() {
				case isa.KindWgmmaMmaAsync, isa.KindTcgen05Ld:
					for _, u := range fragmentsOf(in) {
						f.tracked[u.reg] = true
					}
				}
			}
		}
	}
}

// fragmentsOf returns the registers of the accumulator and of the A fragment of wgmma, or the
// registers that tcgen05.ld writes.
func fragmentsOf(in *ir.Instr) (list []registerUse) {
	for i := range in.Args[:min(2, len(in.Args))] {
		if in.Args[i].Kind != ir.Vector {
			continue
		}
		in.Args[i].Walk(func(o *ir.Operand) {
			if o.Reg != nil {
				list = append(list, registerUse{o.Reg, i == 0})
			}
		})
	}
	return list
}

// usesOf returns the accesses of an instruction to tracked registers.
func (f *Fragments) usesOf(in *ir.Instr) []registerUse {
	list, known := f.uses[in]
	if known {
		return list
	}
	switch in.Kind() {
	case isa.KindWgmmaMmaAsync, isa.KindTcgen05Ld:
		list = fragmentsOf(in)
	default:
		in.Registers(func(r *ir.Reg, a isa.Access) {
			if f.tracked[r] {
				list = append(list, registerUse{r, a != isa.Read})
			}
		})
	}
	f.uses[in] = list
	return list
}

// Step checks the next instruction of a warp.
func (f *Fragments) Step(e *emu.Event, _ *emu.State) {
	in := e.Instr
	if in == nil || in.Form == nil || e.Mask == 0 {
		return
	}
	list := f.usesOf(in)
	kind := in.Kind()
	switch kind {
	case isa.KindWgmmaFence, isa.KindWgmmaCommitGroup, isa.KindWgmmaWaitGroup,
		isa.KindTcgen05WaitLd:
	default:
		if len(list) == 0 {
			return
		}
	}
	w := f.warps[[2]uint32{e.Block, e.Warp}]
	if w == nil {
		w = &fragmentState{flights: make(map[*ir.Reg]flight), written: make(map[*ir.Reg]*ir.Instr),
			loads: make(map[*ir.Reg]*ir.Instr)}
		f.warps[[2]uint32{e.Block, e.Warp}] = w
	}
	switch kind {
	case isa.KindWgmmaFence:
		w.fenced = true
		clear(w.written)
	case isa.KindWgmmaCommitGroup:
		w.groups++
	case isa.KindWgmmaWaitGroup:
		w.wait(in)
	case isa.KindTcgen05WaitLd:
		clear(w.loads)
	case isa.KindWgmmaMmaAsync:
		f.issue(e, w, list)
	case isa.KindTcgen05Ld:
		for _, u := range list {
			w.loads[u.reg] = in
		}
	default:
		f.touch(e, w, list)
	}
}

// wait ends the wgmma operations that a wgmma.wait_group covers.
func (w *fragmentState) wait(in *ir.Instr) {
	left := 0
	if n := len(in.Args); n > 0 && in.Args[n-1].Kind == ir.Int {
		left = int(in.Args[n-1].Value)
	}
	for r, x := range w.flights {
		if x.group < w.groups-left {
			delete(w.flights, r)
		}
	}
}

// issue begins an operation.
func (f *Fragments) issue(e *emu.Event, w *fragmentState, list []registerUse) {
	for _, u := range list {
		if by := w.written[u.reg]; by != nil || !w.fenced {
			if by == nil {
				by = e.Instr
			}
			f.report(e, by, u.reg, severityOf(by),
				"wgmma.mma_async uses a register that was written after the last wgmma.fence",
				"wgmma.fence between the write and wgmma.mma_async",
				"execute wgmma.fence after the registers are written")
		}
		w.flights[u.reg] = flight{e.Instr, w.groups, u.writes || w.flights[u.reg].writes}
	}
}

// touch checks the accesses of an instruction to registers of operations in flight.
func (f *Fragments) touch(e *emu.Event, w *fragmentState, list []registerUse) {
	for _, u := range list {
		// GPUs wait for the register, but the PTX manual does not guarantee it
		if by := w.loads[u.reg]; by != nil {
			f.report(e, by, u.reg, diag.Review, "register is used while tcgen05.ld loads it",
				"tcgen05.wait::ld before the use",
				"execute tcgen05.wait::ld before loaded registers are used")
		}
		if x, busy := w.flights[u.reg]; busy && (x.writes || u.writes) {
			f.report(e, x.in, u.reg, severityOf(e.Instr),
				"register of a wgmma operation in flight is accessed",
				"wgmma.wait_group that covers the operation",
				"wait for the wgmma group before its registers are read or written")
		}
		if u.writes {
			w.written[u.reg] = e.Instr
		}
	}
}

// severityOf returns review for copies of registers and for spills, because compilers add them
// around inline assembly, and ptxas then serializes the operations. Otherwise it returns error.
func severityOf(in *ir.Instr) diag.Severity {
	switch in.Kind().Head() {
	case isa.HeadMov:
		if in.Args[len(in.Args)-1].Kind == ir.Register {
			return diag.Review
		}
	case isa.HeadLd, isa.HeadSt:
		if !in.HasMod(isa.ModGlobal, isa.ModShared) {
			return diag.Review
		}
	}
	return diag.Error
}

// report records a finding, once for each pair of instructions.
func (f *Fragments) report(e *emu.Event, first *ir.Instr, r *ir.Reg, severity diag.Severity,
	message, missing, fix string) {
	k := raceKey{RuleFragment, first, e.Instr}
	if f.seen[k] {
		return
	}
	f.seen[k] = true
	what := fmt.Sprintf("%s in warp %d of block %d", r.Name, e.Warp, e.Block)
	f.races = append(f.races, &Race{
		Rule: RuleFragment, Severity: severity, Kernel: f.launch.Kernel, Message: message,
		Missing: missing, Fix: fix, Count: 1,
		First: Access{What: what, Opcode: first.Op, Place: f.launch.Place(first)},
		Second: Access{What: what, Opcode: e.Instr.Op, Place: f.launch.Place(e.Instr),
			Source: e.Source},
	})
}
