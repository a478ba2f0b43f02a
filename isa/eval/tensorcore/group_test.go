// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// The canonical layouts of the manual (9.7.16.10.6 and 9.7.15.5.1.2), in elements; T elements are
// 16 bytes. They give the position of row i and depth k before the swizzle, which is applied to the
// byte address.

func canonical(across bool, swizzle, bits, i, k, leading, stride int) int {
	t := 128 / bits
	w := swizzle / 16
	lbo, sbo := leading*8/bits, stride*8/bits
	var at int
	switch {
	case !across && swizzle == 0:
		at = i%8*t + i/8*sbo + k%t + k/t*lbo
	case !across:
		at = i%8*w*t + i/8*sbo + k
	case swizzle == 0:
		at = i%t + i/t*sbo + k%8*t + k/8*lbo
	default:
		at = i%t + i/t%w*t + i/(t*w)*lbo + k%8*w*t + k/8*sbo
	}
	return at * bits / 8
}

// swizzled applies CuTe's swizzle: address bits above the pattern are XORed into the bits that
// number the 16-byte units.
func swizzled(address, swizzle int) int {
	switch swizzle {
	case 128:
		return address ^ (address>>7&7)<<4
	case 64:
		return address ^ (address>>7&3)<<4
	case 32:
		return address ^ (address>>7&1)<<4
	}
	return address
}

type matrixCase struct {
	across                   bool
	swizzle, leading, stride int
}

// descriptor encodes a descriptor from the fields in the manual.
func (c matrixCase) descriptor(start int, blackwell bool) uint64 {
	d := uint64(start>>4) | uint64(c.leading>>4)<<16 | uint64(c.stride>>4)<<32
	if blackwell {
		return d | 1<<46 | map[int]uint64{0: 0, 128: 2, 64: 4, 32: 6}[c.swizzle]<<61
	}
	return d | map[int]uint64{0: 0, 128: 1, 64: 2, 32: 3}[c.swizzle]<<62
}

func cases(bits, rows, depth int) []matrixCase {
	list := []matrixCase{
		{false, 0, 128, depth * bits / 8 / 16 * 128}, {false, 32, 16, 256}, {false, 64, 16, 512},
		{false, 128, 16, 1024},
	}
	if bits == 16 {
		span := func(w int) int { return 8 * w * ((depth + 7) / 8) }
		list = append(list, matrixCase{true, 0, rows * 16, 128},
			matrixCase{true, 32, span(32), 256},
			matrixCase{true, 64, span(64), 512}, matrixCase{true, 128, span(128), 1024})
	}
	return list
}

func TestWgmmaFromDescriptors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, op := range []string{
		"wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16",
		"wgmma.mma_async.sync.aligned.m64n24k16.f16.f16.f16",
		"wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32",
		"wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2",
		"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8",
	} {
		p, err := WgmmaOf(isa.ModsOf(op), Hopper)
		if err != nil {
			t.Fatal(err)
		}
		for _, ca := range cases(p.A.Bits, p.M, p.K) {
			for _, cb := range cases(p.B.Bits, p.N, p.K) {
				for _, blackwell := range []bool{false, true} {
					if err := tryGroup(r, p, ca, cb, blackwell); err != nil {
						t.Fatalf("%s, A %+v, B %+v: %v", op, ca, cb, err)
					}
				}
			}
		}
	}
}

func tryGroup(r *rand.Rand, p *Product, ca, cb matrixCase, blackwell bool) error {
	if cb.across && cb.swizzle > 0 && p.N%(cb.swizzle/2) != 0 {
		return nil
	}
	memory := make([]byte, 1<<16)
	fill := func(c matrixCase, e *Element, start, rows int) [][]float64 {
		all := make([][]float64, rows)
		for i := range all {
			for k := range p.K {
				code := exactCode(r, e)
				all[i] = append(all[i], e.Decode(code))
				at := start + canonical(c.across, c.swizzle, e.Bits, i, k, c.leading, c.stride)
				at = swizzled(at, c.swizzle)
				for j := range e.Bits / 8 {
					memory[at+j] = byte(code >> (8 * j))
				}
			}
		}
		return all
	}
	a, b := fill(ca, p.A, 1024, p.M), fill(cb, p.B, 32768, p.N)
	read := func(address uint32, to *[16]byte) error {
		copy(to[:], memory[address:])
		return nil
	}
	decode := DecodeHopper
	if blackwell {
		decode = DecodeBlackwell
	}
	ma, err := decode(ca.descriptor(1024, blackwell))
	if err != nil {
		return err
	}
	mb, err := decode(cb.descriptor(32768, blackwell))
	if err != nil {
		return err
	}
	return compareGroup(r, p, a, b, func() error {
		if err := p.LoadA(ma, ca.across, false, 0, p.M, read); err != nil {
			return err
		}
		return p.LoadB(mb, cb.across, true, 0, p.N, read)
	})
}

// compareGroup loads a product, with B negated, and compares it with sums in float64.
func compareGroup(r *rand.Rand, p *Product, a, b [][]float64, load func() error) error {
	p.Begin(p.M, p.N)
	if err := load(); err != nil {
		return err
	}
	p.Ready()
	sign := -1.0
	if p.B.Integer {
		sign = 1
	}
	for row := range p.M {
		for col := range p.N {
			c := exactCode(r, p.D)
			want := p.D.Decode(c)
			for k := range p.K {
				want += sign * a[row][k] * b[col][k]
			}
			wraps := p.D == S32 && (want >= 1<<31 || want < -1<<31)
			if got := p.D.Decode(p.Element(row, col, c)); got != want && !wraps {
				return fmt.Errorf("row %d, column %d: %v, want %v", row, col, got, want)
			}
		}
	}
	return nil
}

func TestInstructionDescriptors(t *testing.T) {
	for _, test := range []struct {
		bits          uint32
		kind, vectors isa.Mod
		m, n, k       int
		a, d          *Element
	}{
		{0x08400490, isa.ModKindF16, isa.NoMod, 128, 256, 16, BF16, F32},
		{0x10400480, isa.ModKindMxf4nvf4, isa.ModScaleVec4X, 256, 256, 64, E2M1, F32},
		{0x08A00000, isa.ModKindMxf8f6f4, isa.NoMod, 128, 128, 32, E4M3, F32},
	} {
		o, err := InstructionOf(test.bits, test.kind, test.vectors)
		if err != nil {
			t.Error(err)
			continue
		}
		if o.M != test.m || o.N != test.n || o.K != test.k || o.A != test.a || o.D != test.d {
			t.Errorf("%#08x: %+v", test.bits, o)
		}
	}
	for _, bad := range []struct {
		bits          uint32
		kind, vectors isa.Mod
	}{{0, isa.ModF32, isa.NoMod}, {7 << 7, isa.ModKindF16, isa.NoMod},
		{1 << 6, isa.ModKindF16, isa.NoMod}, {0x10400480, isa.ModKindMxf4nvf4, isa.NoMod}} {
		if o, err := InstructionOf(bad.bits, bad.kind, bad.vectors); err == nil {
			t.Errorf("%#08x of %s: %+v", bad.bits, bad.kind, o)
		}
	}
}

// TestScaledProduct compares block scaling and sparsity of tcgen05 with sums in float64.
func TestScaledProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, test := range []struct {
		bits          uint32
		kind, vectors isa.Mod
	}{
		{0x08A00000, isa.ModKindMxf8f6f4, isa.NoMod}, {0x08A00004, isa.ModKindMxf8f6f4, isa.NoMod},
		{1<<7 | 1<<10 | 4<<17 | 1<<23 | 1<<27, isa.ModKindMxf4, isa.NoMod},
		{1<<7 | 1<<10 | 4<<17 | 1<<27, isa.ModKindMxf4nvf4, isa.ModBlock16},
		{1<<2 | 1<<7 | 1<<10 | 4<<17 | 1<<27, isa.ModKindMxf4nvf4, isa.ModBlock16},
	} {
		o, err := InstructionOf(test.bits, test.kind, test.vectors)
		if err != nil {
			t.Fatal(err)
		}
		p := o.Product(Blackwell)
		const rows, columns = 16, 8
		p.Begin(rows, columns)
		a, b := make([][]float64, rows), make([][]float64, columns)
		fillScaled(r, p, a, b)
		p.Ready()
		for row := range a {
			for col := range b {
				want := 3.0
				for k := range p.K {
					want += a[row][k] * b[col][k]
				}
				got := F32.Decode(p.Element(row, col, eval.F32.Encode(3, eval.Nearest)))
				if got != want {
					t.Fatalf("%s: row %d, column %d: %v, want %v", test.kind, row, col, got, want)
				}
			}
		}
	}
}

// fillScaled sets random operands and scale factors.
func fillScaled(r *rand.Rand, p *Product, a, b [][]float64) {
	for row := range a {
		a[row] = make([]float64, p.K)
		factors := make([]float64, p.Factors)
		for i := range factors {
			code := exactCode(r, p.Scale)
			factors[i] = p.Scale.Decode(code)
			p.SetScaleA(row, i, code)
		}
		var places []int
		for chunk := 0; p.Sparse && chunk < p.Chunks(); chunk++ {
			first := r.IntN(3)
			second := first + 1 + r.IntN(3-first)
			p.SetPlaces(chunk, uint64(first|second<<2))
			size := p.K / p.Chunks() / 4
			for _, at := range []int{first, second} {
				for j := range size {
					places = append(places, (chunk*4+at)*size+j)
				}
			}
		}
		for i := range p.DepthA() {
			k := i
			if p.Sparse {
				k = places[i]
			}
			code := exactCode(r, p.A)
			a[row][k] = p.A.Decode(code) * factors[k*p.Factors/p.K]
			p.SetA(row, i, code, false)
		}
	}
	for col := range b {
		b[col] = make([]float64, p.K)
		factors := make([]float64, p.Factors)
		for i := range factors {
			code := exactCode(r, p.Scale)
			factors[i] = p.Scale.Decode(code)
			p.SetScaleB(col, i, code)
		}
		for k := range p.K {
			code := exactCode(r, p.B)
			b[col][k] = p.B.Decode(code) * factors[k*p.Factors/p.K]
			p.SetB(col, k, code, false)
		}
	}
}

// TestPaths checks that each layout places every element of D exactly once.
func TestPaths(t *testing.T) {
	for path, m := range map[Path]int{PathA: 256, PathB: 128, PathC: 128, PathD: 128, PathE: 64,
		PathF: 64, PathG: 32} {
		seen := map[[2]int]bool{}
		rows, n := path.Rows(m), 64
		for row := range rows {
			for col := range n {
				lane, column := path.D(row, col, n)
				if lane > 127 || column >= n || seen[[2]int{lane, column}] {
					t.Fatalf("path %d: row %d, column %d is in lane %d, column %d", path, row, col,
						lane, column)
				}
				seen[[2]int{lane, column}] = true
			}
		}
	}
}

// BenchmarkProduct computes a bf16 GEMM of 512x512x512 with wgmma instructions of 64x256x16.
func BenchmarkProduct(b *testing.B) {
	p, err := WgmmaOf(isa.ModsOf("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"), Hopper)
	if err != nil {
		b.Fatal(err)
	}
	memory := make([]byte, 1<<17)
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(memory); i += 2 {
		x := eval.BF16.Encode(r.NormFloat64(), eval.Nearest)
		memory[i], memory[i+1] = byte(x), byte(x>>8)
	}
	read := func(address uint32, to *[16]byte) error {
		*to = [16]byte(memory[address&0xffff:])
		return nil
	}
	m, _ := DecodeHopper(matrixCase{false, 128, 16, 1024}.descriptor(1024, false))
	for b.Loop() {
		for range 512 / 64 * 512 / 256 * 512 / 16 {
			p.Begin(64, 256)
			_ = p.LoadA(m, false, false, 0, 64, read)
			_ = p.LoadB(m, false, false, 0, 256, read)
			p.Ready()
			for row := range 64 {
				for col := range 256 {
					p.Element(row, col, 0)
				}
			}
		}
	}
}
