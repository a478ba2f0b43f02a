// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// opcodes lists every spelling of an instruction.
func opcodes(names ...string) (all []string) {
	set := isa.Standard()
	for _, name := range names {
		for _, ins := range set.Named(name) {
			for i := range ins.Forms {
				form := &ins.Forms[i]
				slots := make([]isa.Mod, len(form.Slots))
				var fill func(at int)
				fill = func(at int) {
					if at == len(slots) {
						if form.Allows(slots) {
							all = append(all, set.Opcode(ins, slots))
						}
						return
					}
					if !form.Slots[at].Required {
						slots[at] = isa.NoMod
						fill(at + 1)
					}
					for _, v := range form.Slots[at].Values {
						slots[at] = v.Mod
						fill(at + 1)
					}
				}
				fill(0)
			}
		}
	}
	return all
}

// spelled returns the operation of an opcode in PTX text, as tests write it.
func spelled(opcode string, arch Arch) (*MMA, error) {
	return Of(isa.KindOf(opcode), isa.ModsOf(opcode), arch)
}

func TestEveryOpcode(t *testing.T) {
	all := opcodes("mma", "wmma.mma")
	for _, op := range all {
		if _, err := spelled(op, Hopper); err != nil {
			t.Error(err)
		}
	}
	if len(all) < 300 {
		t.Errorf("%d opcodes", len(all))
	}
	t.Logf("%d opcodes", len(all))
}

// exactCode returns a random code of a number whose products and sums are exact in every model.
func exactCode(r *rand.Rand, e *Element) uint64 {
	if e.Integer {
		return r.Uint64() & (1<<e.Bits - 1)
	}
	n := r.IntN(9) - 4
	x := float64(n)
	switch e {
	case E2M1, UE4M3:
		x = float64(n) / 2
	case UE8M0:
		return uint64(127 + r.IntN(3))
	}
	if e == UE4M3 {
		x = math.Abs(x) + 1
	}
	return e.format.Encode(x, eval.Nearest)
}

func newFrame() *Frame {
	f := &Frame{}
	for i := range 8 {
		f.A[i], f.B[i] = new(eval.Vector), new(eval.Vector)
		f.C[i], f.D[i] = new(eval.Vector), new(eval.Vector)
	}
	f.Meta, f.ScaleA, f.ScaleB = new(eval.Vector), new(eval.Vector), new(eval.Vector)
	return f
}

// put writes element i of a fragment. Elements take width bits in a register, with inset unused
// bits below them.
func put(regs *[8]*eval.Vector, lane, i, width, inset int, code uint64) {
	if width == 64 {
		regs[i][lane] = code
		return
	}
	per := 32 / width
	regs[i/per][lane] |= code << (i%per*width + inset)
}

func shapeOf(op string) string {
	for _, w := range strings.Split(op, ".") {
		if len(w) > 4 && w[0] == 'm' && strings.Contains(w, "n8k") {
			return w
		}
	}
	return ""
}

// TestDense compares every dense mma of the table with a product in float64, on numbers whose sums
// are exact, with operands placed by the manual's formulas.
func TestDense(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for _, op := range opcodes("mma") {
		m, err := spelled(op, Hopper)
		if err != nil || m.Sparse || m.Scaled || m.volta {
			continue
		}
		tried++
		for range 3 {
			if err := tryDense(r, m, shapeOf(op)); err != nil {
				t.Fatalf("%s: %v", op, err)
			}
		}
	}
	t.Logf("%d opcodes", tried)
}

func tryDense(r *rand.Rand, m *MMA, shape string) error {
	f := newFrame()
	var a, b [16][256]float64
	fa, na := manualA(shape, m.la.width)
	fb, nb := manualB(shape, m.lb.width)
	fc, nc := manualC(m.M)
	var c [16][8]float64
	for lane := range 32 {
		for i := range na {
			row, k := fa(lane, i)
			code := exactCode(r, m.a)
			a[row][k] = m.a.Decode(code)
			put(&f.A, lane, i, m.la.width, m.la.inset, code)
		}
		for i := range nb {
			k, col := fb(lane, i)
			code := exactCode(r, m.b)
			b[col][k] = m.b.Decode(code)
			put(&f.B, lane, i, m.lb.width, m.lb.inset, code)
		}
		for i := range nc {
			row, col := fc(lane, i)
			code := exactCode(r, m.c)
			c[row][col] = m.c.Decode(code)
			put(&f.C, lane, i, m.c.Bits, 0, code)
		}
	}
	m.Run(f)
	for lane := range 32 {
		for i := range nc {
			row, col := fc(lane, i)
			want := c[row][col]
			for k := range m.K {
				want += combined(m, a[row][k], b[col][k])
			}
			got := f.D[i*min(m.d.Bits, 32)/32][lane] >> (i * m.d.Bits % 32)
			if m.d.Bits == 64 {
				got = f.D[i][lane]
			}
			if x := m.d.Decode(got & (1<<uint(m.d.Bits) - 1)); x != want && !overflows(m, want) {
				return fmt.Errorf("row %d, column %d: %v, want %v", row, col, x, want)
			}
		}
	}
	return nil
}

func overflows(m *MMA, x float64) bool { return m.d == S32 && math.Abs(x) >= 1<<31 }

func combined(m *MMA, x, y float64) float64 {
	if m.a == B1 && !m.and {
		return float64(int(x) ^ int(y))
	}
	return x * y
}
