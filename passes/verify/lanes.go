// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Lanes is a set of the 128 lanes of tensor memory. Lane i is bit i%64 of word i/64.
type Lanes [2]uint64

// lanesPerWarp is the number of lanes that a warp can access: warp w accesses the lanes from 32*(w
// mod 4).
const lanesPerWarp = 32

// allLanes returns the set of all 128 lanes.
func allLanes() Lanes { return Lanes{^uint64(0), ^uint64(0)} }

// Meets reports whether two sets have a lane in common.
func (l Lanes) Meets(o Lanes) bool { return l[0]&o[0]|l[1]&o[1] != 0 }

// add adds n lanes from first. Lanes outside the valid range are ignored.
func (l *Lanes) add(first, n int) {
	for i := max(0, first); i < min(first+n, 128); i++ {
		l[i/64] |= 1 << (i % 64)
	}
}

// TensorLanes returns the lanes of tensor memory that the threads of an event certainly access at
// the address of an operand.
//
// In a load or store, each warp accesses its own quarter: all 32 lanes, or 16 of them for shapes
// that begin with 16. An MMA with 64 rows uses half of each quarter, starting at the lane of the
// address, unless it is weight-stationary or uses a pair of blocks. A sparse MMA of a pair with
// 128 rows also uses half. Other MMAs use all lanes. See PTX ISA 9.7.16.2, data path layouts C
// and F. If the instruction descriptor is unknown, only the half is certain.
func (p *Pass) TensorLanes(e *trace.Event, operand int, threads value.Set) Lanes {
	var lanes Lanes
	switch e.Kind {
	case trace.TensorLoad, trace.TensorStore:
		for w := range value.MaxThreads / 32 {
			switch one := warpOf(threads, w); {
			case one == (value.Set{}):
			case !usesHalfLanes(e.In):
				lanes.add(lanesPerWarp*(w%4), lanesPerWarp)
			default:
				if first, known := p.laneOf(Val(e, operand), one); known {
					lanes.add(lanesPerWarp*(w%4)+first, lanesPerWarp/2)
				}
			}
		}
		return lanes
	case trace.TensorMultiply:
		switch rows, known := rowsOf(e); {
		case operand == Address(e.In, 0) && !p.writesAllLanes(e.In):
			return Lanes{}
		case known && !usesHalfRows(e.In, rows), e.In.Kind() == isa.KindTcgen05MmaWs,
			isScaleOperand(e.In, operand):
			return allLanes()
		}
		if first, known := p.laneOf(Val(e, operand), threads); known {
			for q := range 4 {
				lanes.add(lanesPerWarp*q+first, lanesPerWarp/2)
			}
		}
		return lanes
	}
	return allLanes()
}

// writesAllLanes reports whether an MMA disables no output lane: it has no operand for that
// purpose, or the registers of this operand are always zero.
func (p *Pass) writesAllLanes(in *ir.Instr) bool {
	n := descriptorIndex(in) + 1
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

// zeroRegisters returns the registers that all writes set to zero.
func zeroRegisters(f *ir.Func) map[*ir.Reg]bool {
	zeros := make(map[*ir.Reg]bool)
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			zero := in.Kind() == isa.KindMov && len(in.Args) == 2 && in.Args[1].Kind == ir.Int &&
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

// usesHalfLanes reports whether a load or store of tensor memory accesses only half of a warp's
// lanes.
func usesHalfLanes(in *ir.Instr) bool {
	return in.HasMod(isa.ModShape16x64b, isa.ModShape16x128b, isa.ModShape16x256b,
		isa.ModShape16x32bx2)
}

// usesHalfRows reports whether an MMA with the given number of rows uses half of the lanes.
func usesHalfRows(in *ir.Instr, rows int64) bool {
	if in.HasMod(isa.ModCTAGroup2) {
		return rows == 128 && in.HasMod(isa.ModSp)
	}
	return rows == 64
}

// isScaleOperand reports whether an operand of an MMA holds scale factors. Scale factors are
// replicated in all lanes.
func isScaleOperand(in *ir.Instr, operand int) bool {
	return in.HasMod(isa.ModBlockScale) && operand > descriptorIndex(in)
}

// descriptorIndex returns the operand index of the instruction descriptor of an MMA. The descriptor
// follows the accumulator, both matrices, and, for a sparse MMA, the metadata.
func descriptorIndex(in *ir.Instr) int {
	if in.HasMod(isa.ModSp) {
		return 4
	}
	return 3
}

// rowsOf returns the number of rows of an MMA, from its instruction descriptor. known is false if
// the descriptor is not a constant.
func rowsOf(e *trace.Event) (rows int64, known bool) {
	d, known := Number(e, descriptorIndex(e.In))
	return d >> 24 & 0x1f << 4, known
}

// laneOf returns the lane in a tensor memory address, within the quarter of a warp. The lane is
// known if the address has at most one base, which is assumed to be an allocation at lane 0, and
// all offsets are known or are columns.
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
	return int(p.Pool.At(own, threads.Least())>>16) & (lanesPerWarp - 1), bases <= 1
}

// columns is the number of tensor memory columns.
const columns = 512

// warpOf returns the threads of s that belong to warp w.
func warpOf(s value.Set, w int) (one value.Set) {
	one[w/2] = uint64(s.Lanes(w)) << (w % 2 * 32)
	return one
}
