// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// boxes reports TMA boxes that start at an odd element of the innermost dimension: whatever the
// element type, that is not a multiple of 16 bytes. Coordinates are not followed on traces, because
// their values differ between iterations, which would make every iteration different. Their lowest
// bit follows from the instructions that write them.
func boxes(p *verify.Pass, writers func() map[*ir.Reg][]*ir.Instr) {
	var low *lowest
	done := make(map[*ir.Instr]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.BulkLoad && e.Kind != trace.BulkStore || !verify.Tensor(e.In) || pixels(e.In) || done[e.In] {
				continue
			}
			done[e.In] = true
			if low == nil {
				low = &lowest{writers: writers(), found: make(map[*ir.Reg]bit)}
			}
			if at := coordinates(e.In); len(at) > 0 && low.of(&at[0]) == one {
				f := p.Report(&ruleBox, e.In, "TMA box starts at an odd element of the innermost "+
					"dimension, expected a multiple of 16 bytes").On(t, i)
				if !e.In.Mod("1d") && !e.In.Mod("2d") {
					f.As(diag.Review) // its map may interleave channels, and then any start is valid
				}
			}
		}
	}
}

// written returns the instructions that write each register.
func written(f *ir.Func) map[*ir.Reg][]*ir.Instr {
	list := make(map[*ir.Reg][]*ir.Instr, len(f.Regs))
	var firsts []*ir.Instr // most registers are written once
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a == isa.Read {
					return
				}
				if was := list[r]; len(was) > 0 {
					list[r] = append(was, in)
					return
				}
				if len(firsts) == cap(firsts) {
					firsts = make([]*ir.Instr, 0, 256)
				}
				n := len(firsts)
				firsts = append(firsts, in)
				list[r] = firsts[n : n+1 : n+1]
			})
		}
	}
	return list
}

// pixels reports whether a copy is in im2col mode, in which the first coordinate is a channel.
func pixels(in *ir.Instr) bool {
	return in.Mod("im2col") || in.Mod("im2col::w") || in.Mod("im2col::w::128") || in.Mod("im2col_no_offs")
}

// coordinates returns the coordinates of a box, the innermost first.
func coordinates(in *ir.Instr) []ir.Operand {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) > 1 {
			return o.Args()[1].Args()
		}
	}
	return nil
}

// A bit is zero, one or unknown.
type bit int

const (
	unknown bit = iota
	zero
	one
)

func bitOf(n int64) bit { return zero + bit(n&1) }

// xor returns the sum of two bits.
func (b bit) xor(c bit) bit {
	if b == unknown || c == unknown {
		return unknown
	}
	return bitOf(int64(b + c))
}

// and returns the product of two bits. If one is zero, the other may be unknown.
func (b bit) and(c bit) bit {
	switch {
	case b == zero || c == zero:
		return zero
	case b == one && c == one:
		return one
	}
	return unknown
}

// or returns one if either bit is one.
func (b bit) or(c bit) bit {
	switch {
	case b == one || c == one:
		return one
	case b == zero && c == zero:
		return zero
	}
	return unknown
}

// lowest finds the lowest bit of registers whose writes all agree on it.
type lowest struct {
	writers map[*ir.Reg][]*ir.Instr
	found   map[*ir.Reg]bit // holds unknown while a register is examined, since an increment of itself adds nothing
}

// of returns the lowest bit of an operand.
func (l *lowest) of(o *ir.Operand) bit {
	if o.Kind == ir.Int {
		return bitOf(o.Value)
	}
	r := o.Reg
	if r == nil {
		return unknown
	}
	if b, known := l.found[r]; known {
		return b
	}
	l.found[r] = unknown
	all := unknown
	for i, in := range l.writers[r] {
		b := l.made(in)
		if b == unknown || i > 0 && b != all {
			all = unknown
			break
		}
		all = b
	}
	l.found[r] = all
	return all
}

// made returns the lowest bit of the result of an instruction.
func (l *lowest) made(in *ir.Instr) bit {
	if !in.Mod("u32") && !in.Mod("s32") && !in.Mod("b32") || len(in.Args) < 2 {
		return unknown
	}
	at := func(i int) bit {
		if i < len(in.Args) {
			return l.of(&in.Args[i])
		}
		return unknown
	}
	switch head := in.Head(); head {
	case "mov":
		return at(1)
	case "add", "sub", "xor":
		return at(1).xor(at(2))
	case "or":
		return at(1).or(at(2))
	case "and":
		return at(1).and(at(2))
	case "shl":
		if n := &in.Args[2]; n.Kind == ir.Int && n.Value > 0 {
			return zero
		}
	case "mul", "mad":
		switch low := at(1).and(at(2)); {
		case !in.Mod("lo"):
		case head == "mul":
			return low
		default:
			return low.xor(at(3))
		}
	}
	return unknown
}
