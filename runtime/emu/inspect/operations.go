// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"math/bits"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// floatingPoint is the number of floating-point operations per element, by instruction kind.
var floatingPoint = map[isa.Kind]int64{
	isa.KindAdd: 1, isa.KindSub: 1, isa.KindMul: 1, isa.KindDiv: 1, isa.KindFma: 2, isa.KindMad: 2,
	isa.KindRcp: 1, isa.KindSqrt: 1, isa.KindRsqrt: 1, isa.KindSin: 1, isa.KindCos: 1,
	isa.KindLg2: 1, isa.KindEx2: 1, isa.KindTanh: 1,
}

// floating counts the floating-point operations of an instruction.
func (s *Stats) floating(e *emu.Event) {
	n := floatingPoint[e.Instr.Form.Form.Kind]
	if n == 0 {
		return
	}
	op := e.Instr.Form.Operation()
	if op.Type().Whole() {
		return
	}
	element, elements := op.Type().Elements()
	s.Operations[element.String()[1:]] += n * int64(elements*bits.OnesCount32(e.Mask))
}

// multiply counts n multiplications of a tensor-core instruction, and as many additions.
func (s *Stats) multiply(in *ir.Instr, n int64) {
	s.Multiplications += n
	s.Operations[productName(in)] += 2 * n
}

// productName returns the tensor-core instruction with the type of A, or with its kind for tcgen05.
func productName(in *ir.Instr) string {
	op := in.Form.Operation()
	head := op.Kind.Head().String()
	for _, m := range op.Mods() {
		if kind := tensorcore.KindName(m); kind != "" && op.Kind.Head() == isa.HeadTcgen05 {
			return head + " " + kind
		}
	}
	switch types := op.Types; {
	case len(types) > 2:
		return head + " " + types[1].String()[1:]
	case len(types) > 0: // wmma names the types of D and C; A is f16
		return head + " f16"
	}
	return head
}
