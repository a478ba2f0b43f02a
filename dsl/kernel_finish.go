// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// finish completes the module when all kernels are built, and runs the analyzers.
func (m *Module) finish() {
	m.checkNames()
	order := m.callOrder()
	for _, k := range m.kernels {
		k.finish()
	}
	var replacements []replacement
	for _, f := range annotated.Run(m.ir, suite.Annotated()) {
		if len(f.Replaces) > 0 {
			replacements = append(replacements, replacement{len(m.faults), f.Replaces})
		}
		m.record(f.Pos, f.Diagnostic).withFix(editFor(f.Repair))
	}
	// device functions precede their callers
	slices.SortStableFunc(m.ir.Decls, func(a, b ir.Decl) int {
		return rank(a, order) - rank(b, order)
	})
	if m.faults.Errors() > 0 {
		return
	}
	v := lower.Version(m.ir)
	if m.ir.Version == 0 {
		m.ir.Version = v
	}
	for _, k := range m.kernels {
		k.annotateBoxes()
	}
	if !m.skipHazards {
		m.merge(suite.Run(m.ir, verify.Options{}).Findings, replacements)
	}
}

// editFor returns the edit of the author's call that a finding of an analyzer suggests, or nil.
func editFor(r annotated.Repair) source.Edit {
	switch r.Kind {
	case annotated.AssignResult:
		return source.AssignResult()
	case annotated.DropArgument:
		return source.DropArgument(r.Name)
	}
	return nil
}

// A replacement is a finding of the builder that replaces findings of some hazard rules at its
// source line, because it has more detail.
type replacement struct {
	index int // in the list of findings
	rules []string
}

// merge adds the findings of the hazard analyzers. If an analyzer reports a rule and line that a
// replacement covers, merge keeps only the replacement, with the higher of the two severities.
func (m *Module) merge(hazards diag.List, list []replacement) {
	for _, h := range hazards {
		i := slices.IndexFunc(list, func(r replacement) bool {
			at := m.faults[r.index].Place
			return at.File == h.Place.File && at.Line == h.Place.Line &&
				slices.Contains(r.rules, h.Rule)
		})
		if i < 0 {
			m.faults = append(m.faults, h)
			continue
		}
		f := &m.faults[list[i].index]
		f.Severity = min(f.Severity, h.Severity)
	}
}

// checkNames reports parameters that have the name of a function in the module. PTX allows such
// names, but ptxas 13.5 crashes on some of them.
func (m *Module) checkNames() {
	functions := make(map[string]bool)
	for _, k := range m.kernels {
		functions[k.f.Name] = true
	}
	for _, k := range m.kernels {
		for _, v := range k.f.Params {
			if functions[v.Name] {
				m.faultAt(v.Pos, &ruleKernel,
					"parameter %s of %s has the same name as a function, which can crash ptxas",
					v.Name, k.Name())
			}
		}
	}
}

// annotateBoxes records the box of one copy through each tensor map.
func (k *Kernel) annotateBoxes() {
	for _, m := range k.maps {
		rows, bits := m.boxRows, m.tile.Type.Bits()
		if m.tensor != nil && m.tensor.rows {
			rows = 4 // a gather or scatter copies four rows
		}
		box := &ir.Box{Bytes: int64(rows * m.boxCols * bits / 8)}
		if bits%8 == 0 && !m.tile.Padded {
			box.Element = int64(bits / 8)
			sizes, pixels := m.copySizes()
			for _, n := range sizes {
				box.Sizes = append(box.Sizes, int64(n))
			}
			if pixels > 0 {
				box.Sizes = []int64{int64(pixels), int64(m.boxCols)}
			}
		}
		m.v.Box = box
	}
}

// rank returns the sort key of a declaration: variables precede device functions in call order,
// which precede kernels.
func rank(d ir.Decl, order map[*ir.Func]int) int {
	switch d := d.(type) {
	case *ir.Func:
		if d.Kernel {
			return len(order) + 1
		}
		return 1 + order[d]
	}
	return 0
}

func (k *Kernel) finish() {
	for _, l := range k.marks {
		if !l.placed && !l.isInvalid {
			k.m.faultAt(l.block.Labels[0].Pos, &ruleLabel, "label %s is never placed",
				l.block.Name())
			k.place(l.block)
		}
	}
	k.order.Gather()
	k.checkShared()
	if k.m.faults.Errors() > 0 {
		return // the remaining checks would report the same mistakes again
	}
	k.checkResults()
	if k.cur != nil {
		k.m.calls.At(k.tmem.pos, k.freeTensorMemory)
		k.m.calls.At(k.f.Pos, func() { k.ins("ret") })
	}
	k.m.calls.At(k.f.Pos, k.placeSetup)
	k.placeHead()
	k.completeNotes()
	k.placeShared()
	k.dropUnread()
	k.listRegisters()
}

// placeSetup inserts the code that initializes mbarriers at the start of the kernel, after the
// head.
func (k *Kernel) placeSetup() {
	body := k.f.Blocks
	k.f.Blocks, k.cur = nil, nil
	open := k.open
	k.open = k.open[:1]
	k.place(&ir.Block{})
	k.emitSetup()
	k.open = open
	k.order.Gather()
	if n := len(k.f.Blocks); len(k.f.Blocks[n-1].Instrs) == 0 && len(k.f.Blocks[n-1].Labels) == 0 {
		k.f.Blocks = k.f.Blocks[:n-1]
	}
	if n := len(k.f.Blocks); n > 0 && len(body[0].Labels) == 0 && !k.f.Blocks[n-1].Ends() {
		k.f.Blocks[n-1].Instrs = append(k.f.Blocks[n-1].Instrs, body[0].Instrs...)
		body = body[1:]
	}
	k.f.Blocks = append(k.f.Blocks, body...)
}

// placeHead inserts the head block, whose instructions read parameters and special registers, at
// the start of the kernel.
func (k *Kernel) placeHead() {
	first := k.f.Blocks[0]
	if len(first.Labels) > 0 {
		first = &ir.Block{}
		k.f.Blocks = append([]*ir.Block{first}, k.f.Blocks...)
	}
	first.Instrs = append(k.head.Instrs, first.Instrs...)
}

// dropUnread removes instructions of the head whose result nothing uses, such as reads of unused
// components of %tid.
func (k *Kernel) dropUnread() {
	first := k.f.Blocks[0]
	head := len(k.head.Instrs)
	kept := first.Instrs[:0:0]
	for i := head - 1; i >= 0; i-- {
		in := first.Instrs[i]
		if r := in.Args[0].Reg; r != nil && r.Uses == 1 && in.Kind() != isa.KindShfl {
			countUses(in, -1)
			continue
		}
		kept = append(kept, in)
	}
	slices.Reverse(kept)
	first.Instrs = append(kept, first.Instrs[head:]...)
}

// listRegisters stores the registers that instructions use in the function's register list.
func (k *Kernel) listRegisters() {
	list := make([]*ir.Reg, 0, k.regCount)
	for r := range slab.All(&k.regs) {
		if r.Uses != 0 {
			list = append(list, r)
		}
	}
	k.f.Regs = list
}

// completeNotes stores the remaining annotations of the kernel: launch bounds, mbarriers and
// results of checks.
func (k *Kernel) completeNotes() {
	a := k.notes
	a.Block, a.Most, a.Blocks, a.Warp, a.Labels = k.threads, k.maxThreads, k.blocks, k.warp.r,
		len(k.marks) > 0
	for _, b := range k.setup.barriers {
		a.Barriers = append(a.Barriers,
			ir.Mbarrier{Name: b.name, Pos: b.pos, Count: b.count, Waited: b.firstWait,
				Comes: b.hasArrival})
	}
	for _, acc := range k.readEmpty {
		if acc.empty {
			a.EmptyReads = append(a.EmptyReads, acc.firstRead)
		}
	}
	k.noteArrivals()
	k.noteOutputs()
	k.noteVariables()
	k.locateShared()
	k.storeOperandCounts()
	k.f.Annotations = a
}

// countUses adds by to the use count of each register in the instruction, and reports whether the
// instruction names a variable.
func countUses(in *ir.Instr, by int32) (variables bool) {
	if r := in.Guard.Reg; r != nil {
		r.Uses += by
	}
	return countOperandUses(in.Args, by)
}

func countOperandUses(list []ir.Operand, by int32) (variables bool) {
	for i := range list {
		switch o := &list[i]; o.Kind {
		case ir.Register:
			o.Reg.Uses += by
		case ir.Int, ir.Single:
		case ir.Variable:
			variables = true
		default:
			variables = countOperandUses(o.Args(), by) || variables
		}
	}
	return variables
}

func layoutLine(v *ir.Var, at int64) string {
	return fmt.Sprintf("// %d: %s, %d bytes", at, v.Name, v.Size())
}
