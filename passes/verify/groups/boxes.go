// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package groups

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// boxes looks for boxes of tensors that begin at an odd element along the innermost dimension: whatever the type of the
// elements, that is no multiple of 16 bytes. Coordinates are not followed on traces, where they would only make the values of one
// turn differ from those of the next; their lowest bit follows from what writes them.
func boxes(p *verify.Pass) {
	var writers map[*ir.Reg][]*ir.Instr
	done := make(map[*ir.Instr]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.BulkLoad && e.Kind != trace.BulkStore || !verify.Tensor(e.In) || pixels(e.In) || done[e.In] {
				continue
			}
			done[e.In] = true
			if writers == nil {
				writers = written(p.Func)
			}
			if at := inner(e.In); at != nil {
				if odd, ok := lowest(at, writers, 8); ok && odd {
					p.Report(&ruleBox, e.In, "a box of a tensor begins at an odd element along the innermost dimension, expected a multiple of 16 bytes").On(t, i)
				}
			}
		}
	}
}

// written is who writes each register.
func written(f *ir.Func) map[*ir.Reg][]*ir.Instr {
	list := make(map[*ir.Reg][]*ir.Instr)
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a != isa.Read {
					list[r] = append(list[r], in)
				}
			})
		}
	}
	return list
}

// pixels reports whether a copy takes pixels of an image, whose first coordinate is a channel.
func pixels(in *ir.Instr) bool {
	return in.Mod("im2col") || in.Mod("im2col::w") || in.Mod("im2col::w::128") || in.Mod("im2col_no_offs")
}

// inner is the first coordinate of a box, or nil.
func inner(in *ir.Instr) *ir.Operand {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args) > 1 && len(o.Args[1].Args) > 0 {
			return &o.Args[1].Args[0]
		}
	}
	return nil
}

// lowest is the lowest bit of an operand, where all that write it agree; depth bounds how far back is looked.
func lowest(o *ir.Operand, writers map[*ir.Reg][]*ir.Instr, depth int) (odd, ok bool) {
	if o.Kind == ir.Int {
		return o.Value&1 == 1, true
	}
	r := o.Reg()
	if r == nil || depth == 0 || len(writers[r]) == 0 {
		return false, false
	}
	for i, in := range writers[r] {
		bit, known := made(in, writers, depth-1)
		if !known || i > 0 && bit != odd {
			return false, false
		}
		odd = bit
	}
	return odd, true
}

// made is the lowest bit of what an instruction writes.
func made(in *ir.Instr, writers map[*ir.Reg][]*ir.Instr, depth int) (odd, ok bool) {
	at := func(i int) (odd, ok bool) {
		if i >= len(in.Args) {
			return false, false
		}
		return lowest(&in.Args[i], writers, depth)
	}
	if !in.Mod("u32") && !in.Mod("s32") && !in.Mod("b32") || len(in.Args) < 2 {
		return false, false
	}
	x, known := at(1)
	y, also := at(2)
	product := func() (odd, ok bool) { return x && y, known && also || known && !x || also && !y }
	switch in.Head() {
	case "mov":
		return x, known
	case "add", "sub", "xor":
		return x != y, known && also
	case "or":
		return x || y, known && also || known && x || also && y
	case "and":
		return product()
	case "shl":
		n := &in.Args[2]
		return false, n.Kind == ir.Int && n.Value > 0
	case "mul", "mad":
		if !in.Mod("lo") {
			return false, false
		}
		low, sure := product()
		if in.Head() == "mul" {
			return low, sure
		}
		z, third := at(3)
		return low != z, sure && third
	}
	return false, false
}
