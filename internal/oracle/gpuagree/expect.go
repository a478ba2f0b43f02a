// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"math"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// Expect returns the result columns of a case, one after the other, as the emulator computes
// them.
func (c *Case) Expect(in *Inputs) []uint64 {
	out := make([]uint64, c.results()*Rows)
	switch {
	case c.MMA != nil:
		c.expectProduct(in, out)
		return out
	case c.Group != nil:
		c.expectGroup(in, out)
		return out
	}
	var frame eval.Frame
	var vectors [12]eval.Vector
	op := c.Op
	for warp := range Rows / 32 {
		for i := range op.In {
			frame.In[i] = &vectors[i]
			if strings.HasPrefix(c.Opcode, "lop3") && i == 3 {
				for l := range vectors[i] {
					vectors[i][l] = uint64(c.Immediate)
				}
				continue
			}
			copy(vectors[i][:], in.data[in.scalar(c, i)][warp*32:])
		}
		for i := range op.PIn {
			frame.PIn[i] = 0
			for l := range 32 {
				frame.PIn[i] |= uint32(in.data[in.predicate(i)][warp*32+l]) << l
			}
			if c.isSubtraction() && op.CarryIn {
				frame.PIn[i] = ^frame.PIn[i]
			}
		}
		for i := range op.Out {
			frame.Out[i] = &vectors[8+i]
		}
		op.Warp(&frame)
		if c.isSubtraction() && op.CarryOut {
			frame.POut[0] = ^frame.POut[0]
		}
		for i := range op.Out {
			copy(out[i*Rows+warp*32:], vectors[8+i][:])
		}
		for i := range c.predicates() {
			for l := range 32 {
				out[(len(op.Out)+i)*Rows+warp*32+l] = uint64(frame.POut[i] >> l & 1)
			}
		}
	}
	return out
}

// isSubtraction reports whether the case is a subtraction. Its kernel sets and stores the borrow,
// which is the complement of the carry flag.
func (c *Case) isSubtraction() bool { return strings.HasPrefix(c.Opcode, "sub") }

func (c *Case) expectProduct(in *Inputs, out []uint64) {
	var f tensorcore.Frame
	var regs [4][8]eval.Vector
	var meta eval.Vector
	m := c.MMA
	f.Meta, f.Selector = &meta, c.Immediate
	for i := range 8 {
		f.A[i], f.B[i], f.C[i], f.D[i] = &regs[0][i], &regs[1][i], &regs[2][i], &regs[3][i]
	}
	for warp := range Rows / 32 {
		for j, fragment := range c.fragments(in) {
			for i, column := range fragment.columns {
				copy(regs[j][i][:], in.data[column][warp*32:])
			}
		}
		if m.Sparse {
			copy(meta[:], in.data[in.metadata(m)][warp*32:])
		}
		m.Run(&f)
		for i := range m.RegsD {
			copy(out[i*Rows+warp*32:], f.D[i][:])
		}
	}
}

// truncate truncates results to the width of their types, because registers may be wider.
func (c *Case) truncate(out []uint64) {
	if c.Op == nil {
		return
	}
	for i, t := range c.Op.Out {
		if t.Bits() >= 64 {
			continue
		}
		for row := range Rows {
			out[i*Rows+row] &= 1<<t.Bits() - 1
		}
	}
}

// isApproximate reports whether the manual allows an error in the results of the case.
func (c *Case) isApproximate() bool {
	if c.Op == nil {
		return false
	}
	head, rest, _ := strings.Cut(c.Opcode, ".")
	switch head {
	case "rsqrt", "sin", "cos", "lg2", "ex2", "tanh":
		return true
	}
	return strings.Contains(rest, "approx") || strings.HasPrefix(rest, "full")
}

// isWithinBound reports whether an approximate result is within the error bound of the manual.
// The bound is absolute for sin, cos, lg2 and tanh, and relative for other instructions.
func (c *Case) isWithinBound(t isa.Type, got, want uint64) bool {
	element, n := eval.Split(t)
	f := eval.FormatOf(element)
	if f == nil {
		return false
	}
	width := t.Bits() / n
	for i := range n {
		x, y := f.Decode(part(got, i, width)), f.Decode(part(want, i, width))
		if !c.isNear(f, x, y) {
			return false
		}
	}
	return true
}

func part(x uint64, i, width int) uint64 {
	x >>= i * width
	if width < 64 {
		x &= 1<<width - 1
	}
	return x
}

func (c *Case) isNear(f *eval.Format, x, y float64) bool {
	if x == y || x != x && y != y {
		return true
	}
	head, _, _ := strings.Cut(c.Opcode, ".")
	gap := math.Abs(x - y)
	switch head {
	case "sin", "cos":
		return gap <= 0x1p-14
	case "lg2":
		return gap <= 0x1p-22 || gap <= 0x1p-22*math.Abs(y)
	}
	relative := map[*eval.Format]float64{eval.F32: 0x1p-21, eval.F16: 0x1p-9, eval.BF16: 0x1p-7,
		eval.F64: 0x1p-19}[f]
	if head == "tanh" && f == eval.F32 {
		relative = 0x1p-10
	}
	return gap <= relative*math.Abs(y)
}
