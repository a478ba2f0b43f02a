// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Lanes is a set of the 128 lanes of tensor memory.
type Lanes [2]uint64

// quarter is how many lanes a warp reaches: warp w those from 32 times w mod 4 on.
const quarter = 32

// allLanes is every lane.
func allLanes() Lanes { return Lanes{^uint64(0), ^uint64(0)} }

// Meets reports whether two sets have a lane in common.
func (l Lanes) Meets(o Lanes) bool { return l[0]&o[0]|l[1]&o[1] != 0 }

// add adds n lanes from the first on; those past the last are left out.
func (l *Lanes) add(first, n int) {
	for i := max(0, first); i < min(first+n, 128); i++ {
		l[i/64] |= 1 << (i % 64)
	}
}

// TensorLanes returns the lanes of tensor memory that threads of an event work on for certain, at
// the address of one of its operands.
//
// A load or store works on lanes of the quarter of each warp: all 32, or with shapes that begin
// with 16 half of them. A matrix product with 64 rows that is neither of a pair nor weight-
// stationary, and a sparse one of a pair with 128 rows, use half of each quarter too, from the
// lane of its address on; other products use all lanes (PTX ISA 9.7.16.2, data path layouts C and
// F against the others). Where the instruction descriptor is not known, only the half is certain.
func (p *Pass) TensorLanes(e *trace.Event, operand int, threads value.Set) Lanes {
	var lanes Lanes
	switch e.Kind {
	case trace.TensorLoad, trace.TensorStore:
		for w := range value.MaxThreads / 32 {
			switch one := warpOf(threads, w); {
			case one == (value.Set{}):
			case !halved(e.In):
				lanes.add(quarter*(w%4), quarter)
			default:
				if first, known := p.laneOf(Val(e, operand), one); known {
					lanes.add(quarter*(w%4)+first, quarter/2)
				}
			}
		}
		return lanes
	case trace.TensorMultiply:
		switch rows, known := rowsOf(e); {
		case operand == Address(e.In, 0) && !p.writesAllLanes(e.In):
			return Lanes{}
		case known && !halfRows(e.In, rows), e.In.Mod("ws"), scales(e.In, operand):
			return allLanes()
		}
		if first, known := p.laneOf(Val(e, operand), threads); known {
			for q := range 4 {
				lanes.add(quarter*q+first, quarter/2)
			}
		}
		return lanes
	}
	return allLanes()
}

// writesAllLanes reports whether a product disables no lane of its output: it has no operand for
// that, or one whose registers are never anything but zero.
func (p *Pass) writesAllLanes(in *ir.Instr) bool {
	n := descriptor(in) + 1
	if n >= len(in.Args) || in.Args[n].Kind != ir.Vector {
		return true
	}
	if p.kernelState.zeros == nil {
		p.kernelState.zeros = zeroRegisters(p.Func)
	}
	all := true
	in.Args[n].Walk(func(o *ir.Operand) {
		switch o.Kind {
		case ir.Register:
			all = all && p.kernelState.zeros[o.Reg]
		case ir.Int:
			all = all && o.Value == 0
		}
	})
	return all
}

// zeroRegisters is the registers to which nothing but zero is moved.
func zeroRegisters(f *ir.Func) map[*ir.Reg]bool {
	zeros := make(map[*ir.Reg]bool)
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			zero := in.Head() == "mov" && len(in.Args) == 2 && in.Args[1].Kind == ir.Int &&
				in.Args[1].Value == 0
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a == isa.Read {
					return
				}
				if was, met := zeros[r]; !met || was {
					zeros[r] = zero
				}
			})
		}
	}
	return zeros
}

// halved reports whether a load or store of tensor memory reaches half of a warp's lanes.
func halved(in *ir.Instr) bool {
	for _, shape := range []string{"16x64b", "16x128b", "16x256b", "16x32bx2"} {
		if in.Mod(shape) {
			return true
		}
	}
	return false
}

// halfRows reports whether a product with so many rows uses half of the lanes.
func halfRows(in *ir.Instr, rows int64) bool {
	if in.Mod("cta_group::2") {
		return rows == 128 && in.Mod("sp")
	}
	return rows == 64
}

// scales reports whether an operand of a product is scale factors: all lanes have a copy of those.
func scales(in *ir.Instr, operand int) bool {
	return in.Mod("block_scale") && operand > descriptor(in)
}

// descriptor is the operand that is the instruction descriptor of a product: behind the
// accumulator, both matrices, and the metadata of a sparse one.
func descriptor(in *ir.Instr) int {
	if in.Mod("sp") {
		return 4
	}
	return 3
}

// rowsOf is how many rows a matrix product has, as its instruction descriptor says.
func rowsOf(e *trace.Event) (rows int64, known bool) {
	d, known := Number(e, descriptor(e.In))
	return d >> 24 & 0x1f << 4, known
}

// laneOf is the lane in an address of tensor memory, within the quarter of a warp. It is known
// where the address is counted from one thing, which is taken to be that of an allocation and has
// no lane in it, and what is added to that is columns, or known.
func (p *Pass) laneOf(v *value.Value, threads value.Set) (lane int, known bool) {
	if v == nil || threads.Least() < 0 || threads.Least() >= p.Pool.Threads {
		return 0, false
	}
	rest := p.Pool.Rest(v)
	bases := 0
	for _, t := range rest.Terms {
		if !t.Atom.Bounded || t.Atom.Low < 0 || t.Factor < 0 || t.Atom.High*t.Factor > columns {
			bases++
		}
	}
	own := p.Pool.Sub(v.Width, v, rest)
	return int(p.Pool.At(own, threads.Least())>>16) & (quarter - 1), bases <= 1
}

// columns is how many columns tensor memory has.
const columns = 512

// warpOf is the threads of a warp among some.
func warpOf(s value.Set, w int) (one value.Set) {
	one[w/2] = uint64(s.Lanes(w)) << (w % 2 * 32)
	return one
}
