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

// checkBoxes reports TMA boxes that do not start at a multiple of 16 bytes in the innermost
// dimension. The element size is part of the tensor map and unknown unless an annotation states
// it. An odd coordinate is wrong for every size. An even coordinate that is not a multiple of
// four is wrong for every size below eight bytes. Traces do not track coordinates, because their
// values differ between iterations, which would make every iteration distinct. Instead, the low
// bits are derived from the instructions that write the coordinates.
func checkBoxes(p *verify.Pass, writers func() map[*ir.Reg][]*ir.Instr) {
	var low *residueFinder
	done := make(map[*ir.Instr]bool)
	for _, t := range p.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			if e.Kind != trace.BulkLoad && e.Kind != trace.BulkStore || !verify.Tensor(e.In) ||
				isIm2col(e.In) || done[e.In] {
				continue
			}
			done[e.In] = true
			at := coordinates(e.In)
			if len(at) == 0 {
				continue
			}
			if low == nil {
				low = newResidues(writers())
			}
			checkStart(p, t, i, low.congruenceOf(&at[0]))
		}
	}
}

// checkStart checks the innermost coordinate of the box of event i.
func checkStart(p *verify.Pass, t *trace.Trace, i int, first congruence) {
	e := &t.Events[i]
	// A map of three or more dimensions may interleave channels; any start is then valid.
	severity := diag.Error
	if !e.In.HasMod(isa.ModD1, isa.ModD2) {
		severity = diag.Review
	}
	size, stated := p.Element(e)
	if !stated {
		size = maxElementBytes
	}
	step := 16 / size
	switch {
	case first.known(2) && first.at&1 != 0 && step > 1:
		p.Report(&ruleBox, e.In, "TMA box starts at an odd element of the innermost dimension, "+
			"expected a multiple of 16 bytes").As(severity).On(t, i)
	case first.known(step) && first.at&(step-1) != 0:
		p.Report(&ruleBox, e.In, "TMA box starts at byte %d modulo 16 of the innermost dimension, "+
			"expected a multiple of 16 bytes", first.at*size&15).As(severity).On(t, i)
	case !stated && first.known(4) && first.at&3 != 0:
		p.Report(&ruleBox, e.In,
			"TMA box starts at element %d modulo 4 of the innermost dimension, which is a multiple of 16 bytes only if elements have 8 bytes",
			first.at&3).
			As(diag.Review).On(t, i)
	case stated && first.known(step), first.known(16) && first.at&15 == 0:
	default:
		p.Unchecked("alignment of TMA boxes, which must start at a multiple of 16 bytes")
	}
}

// maxElementBytes is the size in bytes of the largest tensor elements.
const maxElementBytes = 8

// isIm2col reports whether a copy is in im2col mode, in which the first coordinate is a channel.
func isIm2col(in *ir.Instr) bool {
	return in.HasMod(isa.ModIm2col, isa.ModIm2colW, isa.ModIm2colW128) ||
		in.HasMod(isa.ModIm2colNoOffs)
}

// coordinates returns the coordinate operands of a tensor copy, the innermost first.
func coordinates(in *ir.Instr) []ir.Operand {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) > 1 {
			return o.Args()[1].Args()
		}
	}
	return nil
}
