// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
)

// blockSizeBound returns an upper bound for the block size along one axis, or 0 if no bound is
// known. The bound is derived from arrays in shared memory to which all threads store, because a
// larger block would store out of bounds. The result is also 0 if findings other than races of
// plain accesses would depend on the bound.
func blockSizeBound(f *ir.Func, g *ir.Flow) int {
	meets := false
	var stores []*ir.Instr
	at := make(map[*ir.Instr]int)
	for i, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Directive() {
				continue
			}
			switch kind := Of(in); kind {
			case Other, WarpSync, Collective, Copy, CopyCommit, CopyWait, Fence, Load, Atomic, Exit,
				Call:
			case BarrierSync:
				if meets = true; len(in.Args) != 1 {
					return 0 // only some of the threads arrive, or the barrier has a result
				}
			case Store:
				if in.HasMod(isa.ModShared) && in.Guard.Reg == nil {
					stores, at[in] = append(stores, in), i
				}
			default:
				return 0
			}
		}
	}
	if !meets || len(stores) == 0 {
		return 0
	}
	defs := definitions(f)
	levels := uniform.Of(g)
	least := int64(0)
	for _, in := range stores {
		s, ok := defs.slope(&in.Args[0], 0)
		if !ok || s.of == nil || s.by <= 0 || s.from < 0 ||
			levels.Together(at[in]) < uniform.Block {
			continue
		}
		n := (s.of.Size()-s.from-memory.Bytes(in))/s.by + 1
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if n := int(least) &^ 31; n >= 64 && n <= 1024 {
		return n
	}
	return 0
}

// A slope is an offset in variable of. It is from in thread 0, and grows by the constant by from
// each thread to the next.
type slope struct {
	of       *ir.Var
	from, by int64
}

// A writers maps each register that only one instruction writes to that instruction. It caches
// findings, because nested sums would otherwise be examined repeatedly.
type writers struct {
	of    map[*ir.Reg]*ir.Instr
	found map[*ir.Reg]finding
}

// A finding caches the value of a register. ok is set if the value is a slope.
type finding struct {
	slope
	ok bool
}

func definitions(f *ir.Func) writers {
	w := writers{make(map[*ir.Reg]*ir.Instr), make(map[*ir.Reg]finding)}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if a == isa.Read {
					return
				}
				if _, again := w.of[r]; again || in.Guard.Reg != nil {
					w.of[r] = nil
				} else {
					w.of[r] = in
				}
			})
		}
	}
	return w
}

// slope returns the value of an operand. The second result is false if the value is not a slope.
func (w writers) slope(o *ir.Operand, depth int) (slope, bool) {
	const deep = 12
	s, ok := slope{}, true
	switch o.Kind {
	case ir.Int:
		return slope{from: o.Value}, true
	case ir.Address:
		return w.slope(&o.Args()[0], depth)
	case ir.Variable:
		s.of = o.Var()
		ok = s.of.Space == isa.Shared && s.of.Size() > 0
	case ir.Special:
		return slope{by: 1}, o.Text() == "%tid.x"
	case ir.Register:
		r := o.Reg
		in := w.of[r]
		if in == nil || depth > deep || o.Text() != "" {
			return s, false
		}
		known, met := w.found[r]
		if !met {
			known.slope, known.ok = w.result(in, depth+1)
			w.found[r] = known
		}
		s, ok = known.slope, known.ok
	default:
		return s, false
	}
	s.from += o.Value
	return s, ok
}

// result returns the result of an instruction. The second result is false if it is not a slope.
func (w writers) result(in *ir.Instr, depth int) (slope, bool) {
	arg := func(i int) (slope, bool) { return w.slope(&in.Args[i], depth) }
	switch head := in.Kind().Head(); {
	case decode(in).float:
	case (head == isa.HeadMov || head == isa.HeadCvt) && len(in.Args) == 2:
		return arg(1)
	case head == isa.HeadAdd && len(in.Args) == 3:
		a, known := arg(1)
		b, too := arg(2)
		return a.plus(b), known && too && (a.of == nil || b.of == nil)
	case (head == isa.HeadShl || head == isa.HeadMul) && len(in.Args) == 3 &&
		in.Args[2].Kind == ir.Int && in.Kind() != isa.KindMulHi:
		n := in.Args[2].Value
		if head == isa.HeadShl && n >= 0 && n < 32 {
			n = 1 << n
		}
		a, known := arg(1)
		return slope{from: a.from * n, by: a.by * n}, known && a.of == nil && n > 0
	case head == isa.HeadMad && len(in.Args) == 4 && in.Args[2].Kind == ir.Int &&
		in.Kind() != isa.KindMadHi:
		n := in.Args[2].Value
		a, known := arg(1)
		b, too := arg(3)
		return slope{from: a.from * n, by: a.by * n}.plus(b), known && too && a.of == nil && n > 0
	}
	return slope{}, false
}

func (a slope) plus(b slope) slope {
	if a.of == nil {
		a.of = b.of
	}
	return slope{a.of, a.from + b.from, a.by + b.by}
}
