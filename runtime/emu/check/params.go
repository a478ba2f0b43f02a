// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// written returns the fields whose arrays the kernel may write, poll, or pass to other code.
// Weak loads, sources of copies, and the address arithmetic that pointers traces do not count.
func (k *kernel) written(from origins) map[field]bool {
	found := make(map[field]bool)
	k.instructions(func(in *ir.Instr) {
		op := in.Form.Operation()
		arithmetic := false
		switch op.Kind {
		case isa.KindMov, isa.KindCvtaTo, isa.KindCvta, isa.KindAdd, isa.KindSub, isa.KindMadLo,
			isa.KindMadWide:
			arithmetic = len(in.Args) > 0 && from[in.Args[0].Reg] != nil
		}
		for i := range in.Args {
			o := &in.Args[i]
			reads := op.Kind == isa.KindLd && op.Order <= isa.Weak ||
				i > 0 && (op.Kind == isa.KindCpAsync || op.Kind == isa.KindCpAsyncBulk)
			loaded := op.Kind == isa.KindLd && i == 0
			if arithmetic && o.Kind != ir.Address || reads && o.Kind == ir.Address || loaded {
				continue
			}
			for _, r := range registers(o, nil) {
				for f := range from[r] {
					found[f] = true
				}
			}
		}
	})
	return found
}

// findPointers determines which integers of 8 bytes are addresses although no instruction of the
// kernel shows it, because they pass through local memory or a call: those without which a launch
// accesses an address where there is no memory.
func (k *kernel) findPointers(s seeding) {
	if len(k.shape.Args) > 0 {
		return
	}
	var wild *emu.Fault
	for found := true; found; {
		found = false
		for _, p := range k.leaves {
			if _, given := k.given(p); p.kind != paramCount || p.size != 8 ||
				given {
				continue
			}
			if wild == nil {
				if wild = k.faultWithoutMemory(s); wild == nil {
					return
				}
			}
			p.kind = paramPointer
			again := k.faultWithoutMemory(s)
			if again == nil {
				return
			}
			if again.Place == wild.Place && again.Block == wild.Block {
				p.kind = paramCount
				continue
			}
			wild, found = again, true
		}
	}
}

// faultWithoutMemory launches the kernel, and returns the fault of an access where there is no
// memory, or nil.
func (k *kernel) faultWithoutMemory(s seeding) *emu.Fault {
	k.limit = cheapWork
	defer func() { k.limit = 0 }()
	x := k.once(s, k.counts()[0], false, firstArray)
	if x.fault == nil || !x.fault.Has(emu.CauseNoSpace) && !x.outside {
		return nil
	}
	return x.fault
}

// onlyPolls reports whether the kernel reads arrays by strong loads but changes none of them. It
// then waits for values that another kernel writes.
func (k *kernel) onlyPolls(from origins) bool {
	polled, changed := make(map[field]bool), make(map[field]bool)
	k.instructions(func(in *ir.Instr) {
		op := in.Form.Operation()
		for i := range in.Args {
			o := &in.Args[i]
			if o.Kind != ir.Address {
				continue
			}
			for _, r := range registers(o, nil) {
				for f := range from[r] {
					switch {
					case op.Kind != isa.KindLd:
						changed[f] = true
					case op.Order > isa.Weak:
						polled[f] = true
					}
				}
			}
		}
	})
	for f := range polled {
		if changed[f] {
			return false
		}
	}
	return len(polled) > 0
}

// namedParameters returns the parameters that an instruction names.
func (k *kernel) namedParameters() map[*ir.Var]bool {
	named := make(map[*ir.Var]bool)
	k.operands(func(o *ir.Operand) {
		if v := o.Var(); v != nil {
			named[v] = true
		}
	})
	return named
}

// registers appends the registers of an operand and of its parts.
func registers(o *ir.Operand, list []*ir.Reg) []*ir.Reg {
	if o.Reg != nil {
		list = append(list, o.Reg)
	}
	parts := o.Args()
	for i := range parts {
		list = registers(&parts[i], list)
	}
	return list
}

// compared returns the fields that are compared with values computed from the index of a thread or
// a block.
func (k *kernel) compared(copies map[*ir.Reg]field) map[field]bool {
	index := make(map[*ir.Reg]bool)
	for grew := true; grew; {
		grew = false
		k.instructions(func(in *ir.Instr) {
			if len(in.Args) < 2 || in.Args[0].Reg == nil || index[in.Args[0].Reg] {
				return
			}
			if slices.ContainsFunc(in.Args[1:], func(o ir.Operand) bool {
				return o.Kind == ir.Address
			}) {
				return
			}
			for i := range in.Args[1:] {
				o := &in.Args[1+i]
				if o.Kind == ir.Special && indexOf(o.Text()) || o.Reg != nil && index[o.Reg] {
					index[in.Args[0].Reg], grew = true, true
				}
			}
		})
	}
	found := make(map[field]bool)
	k.instructions(func(in *ir.Instr) {
		if in.Kind() != isa.KindSetp {
			return
		}
		for i := 1; i < len(in.Args); i++ {
			f, ok := copies[in.Args[i].Reg]
			for j := 1; ok && j < len(in.Args); j++ {
				if index[in.Args[j].Reg] {
					found[f] = true
				}
			}
		}
	})
	return found
}

// indexOf reports whether a special register is the index of a thread or a block.
func indexOf(name string) bool {
	return strings.HasPrefix(name, "%tid") || strings.HasPrefix(name, "%ctaid") || name == "%laneid"
}

// guarded reports whether the kernel has one or two integer parameters and compares a thread index
// with each of them.
func (k *kernel) guarded() bool {
	n := 0
	for _, p := range k.leaves {
		if p.isSize() {
			if n++; !p.guarded {
				return false
			}
		}
	}
	return n == 1 || n == 2
}

// hasInputs reports whether the kernel has an array that it only reads.
func (k *kernel) hasInputs() bool {
	return slices.ContainsFunc(k.leaves,
		func(p *param) bool { return p.kind == paramPointer && p.input })
}
