// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A bench creates builder operands for the operand kinds in the instruction table.
type bench struct {
	m       *dsl.Module
	f       *dsl.Func
	k       *dsl.Kernel
	texture dsl.Operand
	surface dsl.Operand
}

func (b *bench) operand(a *isa.Arg) any {
	switch a.Kind {
	case isa.ArgReg:
		return b.register(a)
	case isa.ArgInt:
		return a.Value
	case isa.ArgFloat:
		if a.Type == isa.F64 {
			return 1.0
		}
		return float32(1)
	case isa.ArgSym:
		return b.variable(a)
	case isa.ArgSreg:
		if a.Type.Bits() == 64 {
			return "%clock64"
		}
		return "%clock"
	case isa.ArgLabel:
		l := b.k.NewLabel("here")
		defer b.k.PlaceLabel(l)
		return l
	case isa.ArgFunc:
		return b.f
	case isa.ArgSink:
		return dsl.Sink
	case isa.ArgVector:
		return b.parts(a)
	case isa.ArgAddress:
		return dsl.Bracket(b.parts(a)...)
	case isa.ArgPair:
		return dsl.Pair(b.half(&a.Elems[0]), b.half(&a.Elems[1]))
	}
	return nil // nil as an operand, which the kernel reports
}

func (b *bench) parts(a *isa.Arg) []any {
	list := make([]any, len(a.Elems))
	for i := range a.Elems {
		list[i] = b.operand(&a.Elems[i])
	}
	return list
}

func (b *bench) half(a *isa.Arg) dsl.Operand {
	o, _ := b.operand(a).(dsl.Operand)
	return o
}

func (b *bench) register(a *isa.Arg) dsl.Operand {
	var o dsl.Operand
	switch {
	case a.Type.Class() == isa.Pred && a.Not:
		return dsl.NotP(dsl.NewReg[dsl.Pred](b.k))
	case a.Type.Class() == isa.Pred:
		return dsl.NewReg[dsl.Pred](b.k)
	case a.Type.Bits() == 8:
		o = dsl.NewByte(b.k)
	case a.Type.Bits() == 16:
		o = dsl.NewReg[dsl.B16](b.k)
	case a.Type == isa.F32:
		o = dsl.NewReg[dsl.F32](b.k)
	case a.Type.Bits() == 32:
		o = dsl.NewReg[dsl.B32](b.k)
	case a.Type == isa.F64:
		o = dsl.NewReg[dsl.F64](b.k)
	case a.Type.Bits() == 64:
		o = dsl.NewReg[dsl.B64](b.k)
	default:
		o = dsl.NewReg[dsl.B128](b.k)
	}
	if a.Minus {
		o = dsl.Minus(o)
	}
	return o
}

func (b *bench) variable(a *isa.Arg) dsl.Operand {
	switch {
	case a.Type == isa.Texref:
		if b.texture == nil {
			b.texture = b.m.Texture("tex")
		}
		return b.texture
	case a.Type == isa.Surfref:
		if b.surface == nil {
			b.surface = b.m.Surface("surf")
		}
		return b.surface
	case a.Space.Base() == isa.Param:
		return dsl.CallParam[dsl.B32](b.k, "arg").Symbol()
	}
	return dsl.Shared[dsl.B32](b.k, "v", 64).Addr().Symbol()
}
