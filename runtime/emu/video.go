// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// videoKinds adds the decoders of the video instructions.
func videoKinds(kinds map[isa.Kind]entry) {
	for _, k := range []isa.Kind{
		isa.KindVadd, isa.KindVsub, isa.KindVabsdiff, isa.KindVmin, isa.KindVmax, isa.KindVshl,
		isa.KindVshr, isa.KindVset, isa.KindVmad,
		isa.KindVadd2, isa.KindVsub2, isa.KindVavrg2, isa.KindVabsdiff2, isa.KindVmin2,
		isa.KindVmax2, isa.KindVset2,
		isa.KindVadd4, isa.KindVsub4, isa.KindVavrg4, isa.KindVabsdiff4, isa.KindVmin4,
		isa.KindVmax4, isa.KindVset4,
	} {
		kinds[k] = entry{make: video}
	}
}

// video decodes a video instruction. Its operands may select parts of registers or have a minus
// sign.
func video(d *decoder) (step, error) {
	var parts eval.Parts
	var regs [4][]ref
	for i := range d.in.Args {
		if i == len(regs) {
			break
		}
		o := d.in.Args[i]
		if o.Kind == ir.Register {
			parts.Select[i], parts.Minus[i] = o.Text(), o.Minus
			o.More, o.Minus = nil, false
			if o.Reg.Vec > 1 { // a component of a vector variable does not select a part
				parts.Select[i], o.More = "", d.in.Args[i].More
			}
		}
		regs[i] = d.flatten(nil, &o)
	}
	operation := d.operation()
	op, err := eval.OfParts(operation.Kind, operation.Mods(), parts)
	if err != nil {
		return nil, err
	}
	s := &assignment{op: op, out: regs[0]}
	for i := 1; i < len(d.in.Args) && len(s.in) < len(op.In); i++ {
		s.in = append(s.in, d.fit(regs[i][0], isa.B32))
	}
	for len(s.in) < len(op.In) { // the optional addend
		s.in = append(s.in, ref{kind: refConstant, constant: d.image.splat(0)})
	}
	return s.general(), nil
}
