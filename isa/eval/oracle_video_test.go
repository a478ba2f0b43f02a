// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// videoStep computes a video instruction on extended operands.
func (q *question) videoStep(a, b *big.Int) *big.Int {
	r := new(big.Int)
	switch strings.TrimRight(q.head, "24") {
	case "vadd":
		return r.Add(a, b)
	case "vsub":
		return r.Sub(a, b)
	case "vabsdiff":
		return r.Abs(r.Sub(a, b))
	case "vmin":
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	case "vmax":
		if a.Cmp(b) > 0 {
			return a
		}
		return b
	case "vavrg":
		r.Add(a, b)
		if r.Sign() >= 0 {
			r.Add(r, big.NewInt(1))
		}
		return r.Rsh(r, 1)
	case "vset":
		table := map[string]bool{"eq": a.Cmp(b) == 0, "ne": a.Cmp(b) != 0, "lt": a.Cmp(b) < 0,
			"le": a.Cmp(b) <= 0, "gt": a.Cmp(b) > 0, "ge": a.Cmp(b) >= 0}
		for w, x := range table {
			if q.has(w) {
				return big.NewInt(int64(btoi(x)))
			}
		}
	}
	n := b.Uint64()
	if q.has("clamp") {
		n = min(n, 32)
	}
	if q.has("wrap") {
		n &= 31
	}
	if q.head == "vshl" {
		return r.Lsh(a, uint(n))
	}
	return r.Rsh(a, uint(n))
}

func videoAnswer(q *question) answer {
	t := q.types
	if q.head == "vset" {
		t = append([]string{"u32"}, t...)
	}
	d := t[0]
	if q.head == "vmad" {
		return q.videoMultiply(t)
	}
	r := q.videoStep(number(t[1], q.in[0]), number(t[2], q.in[1]))
	if q.has("sat") {
		r = q.videoClamp(d, r)
	}
	if len(q.in) > 2 {
		r = q.videoSecond(d, r)
	}
	return value1(wrap(32, r))
}

// videoClamp applies .sat as Hopper does; see videoSaturate.
func (q *question) videoClamp(d string, r *big.Int) *big.Int {
	switch q.head {
	case "vshl":
		r = twos(r, 34)
	case "vshr":
	default:
		if d == "u32" && r.Sign() > 0 {
			return r
		}
	}
	return clampBig(d, r)
}

// twos returns the low bits of a number as a signed integer.
func twos(x *big.Int, bits uint) *big.Int {
	all := new(big.Int).Lsh(big.NewInt(1), bits)
	r := new(big.Int).Mod(x, all)
	if r.Bit(int(bits)-1) != 0 {
		r.Sub(r, all)
	}
	return r
}

func (q *question) videoSecond(d string, r *big.Int) *big.Int {
	if q.head == "vset" {
		d = q.types[0]
	}
	c := number(d, q.in[2])
	if q.has("add") {
		return new(big.Int).Add(r, c)
	}
	switch q.head {
	case "vadd", "vsub":
		r = twos(r, 32)
	case "vshl", "vshr":
		r = twos(r, 64)
		if q.has("sat") {
			r = twos(r, 32)
		}
	}
	less := r.Cmp(c) < 0
	if d == "u32" && r.Sign() < 0 { // clamped to the largest unsigned value
		less = false
	}
	if less == q.has("min") {
		return r
	}
	return c
}

func (q *question) videoMultiply(t []string) answer {
	r := new(big.Int).Mul(number("s32", q.in[0]), number("s32", q.in[1])) // see videoProduct
	final := "u32"
	if t[1] == "s32" || t[2] == "s32" {
		final = "s32"
	}
	r.Add(r, number("s32", q.in[2]))
	if q.has("po") {
		r.Add(r, big.NewInt(1))
	}
	if final == "u32" && (q.has("shr7") || q.has("shr15")) && r.Sign() < 0 {
		r.Add(r, new(big.Int).Lsh(big.NewInt(1), 64))
	}
	switch {
	case q.has("shr7"):
		r.Rsh(r, 7)
	case q.has("shr15"):
		r.Rsh(r, 15)
	}
	if q.has("sat") {
		r = clampBig(final, r)
	}
	return value1(wrap(32, r))
}

// packedVideoAnswer returns the expected result of a packed video instruction with the default
// selectors: all of a, and all of b.
func packedVideoAnswer(q *question) answer {
	n := int(q.head[len(q.head)-1] - '0')
	width := 32 / n
	t := q.types
	if strings.HasPrefix(q.head, "vset") {
		t = append([]string{"u32"}, t...)
	}
	sum := number("u32", q.in[2])
	var d uint64
	for i := range n {
		name := func(t string) string { return t[:1] + map[int]string{8: "8", 16: "16"}[width] }
		r := q.videoStep(number(name(t[1]), q.in[0]>>(i*width)),
			number(name(t[2]), q.in[1]>>(i*width)))
		if q.has("sat") {
			r = clampBig(name(t[0]), r)
		}
		sum.Add(sum, r)
		d |= wrap(width, r) << (i * width)
	}
	if q.has("add") {
		return value1(wrap(32, sum))
	}
	return value1(d)
}

func TestVideoParts(t *testing.T) {
	for _, test := range []struct {
		opcode  string
		parts   Parts
		a, b, c uint64
		want    uint64
	}{
		{"vadd.u32.u32.u32", Parts{Select: [4]string{"b1", "b0", "h1"}},
			0x12, 0x00340000, 0xffffffff, 0xffff46ff},
		{"vadd.s32.s32.s32.sat", Parts{Select: [4]string{"b3", "b0", "b0"}}, 0x7f, 0x7f, 0,
			0x7f000000},
		{"vsub.s32.u32.s32.add", Parts{Select: [4]string{"", "b2", "b3"}},
			0x00050000, 0xff000000, 10, 16},
		{"vshl.s32.u32.u32.sat.clamp", Parts{Select: [4]string{"h1"}}, 0x443795ac, 0x11, 0xfffe70ca,
			0x70ca}, // the most negative word has a lower half of zero
		{"vset.u32.u32.lt", Parts{Select: [4]string{"h1", "h0", "h1"}}, 1, 0x20000, 0xabcd,
			0x0001abcd},
		{"vmad.s32.s32.s32", Parts{Minus: [4]bool{false, true, false, false}}, 3, 5, 100, 85},
		{"vmad.u32.u32.u32", Parts{Minus: [4]bool{3: true}}, 3, 5, 7, 8},
		{"vadd2.u32.u32.u32", Parts{Select: [4]string{"h1", "h01", "h32"}},
			0x00020001, 0x00200010, 0x5555, 0x00215555},
		{"vadd4.u32.u32.u32.add", Parts{Select: [4]string{"b10", "b0000", ""}}, 1, 0x04030201, 100,
			105},
	} {
		op, err := spelledParts(test.opcode, test.parts)
		if err != nil {
			t.Error(err)
			continue
		}
		c := Cell{In: [8]uint64{test.a, test.b, test.c}}
		op.Lane(&c)
		if c.Out[0] != test.want {
			t.Errorf("%s %v: %#x, want %#x", test.opcode, test.parts, c.Out[0], test.want)
		}
	}
	if _, err := spelledParts("add.s32", Parts{Select: [4]string{"b1"}}); err == nil {
		t.Error("add.s32 selects parts")
	}
	if _, err := spelled("ld.global.u32"); err == nil {
		t.Error("a load is evaluated")
	}
	if op, err := OfThree(isa.KindMin, []isa.Mod{isa.ModNaN, isa.ModF32}); err != nil ||
		len(op.In) != 3 || op.In[0] != isa.F32 {
		t.Errorf("min of three: %v", err)
	}
}
