// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package products

import (
	"math"
	"math/rand/v2"
)

// A layout describes how a matrix is laid out in shared memory. The formulas are those of the
// canonical layouts in the PTX manual (9.7.15.5.1.2 and 9.7.16.10.6), in units of 16 bytes.
type layout struct {
	across  bool // contiguous along M or N instead of K
	swizzle int  // bytes: 0, 32, 64, 128
	leading int
	stride  int
	wide    bool // 128 bytes are swizzled in units of 32
}

// layoutFor returns the canonical layout of a matrix with the given number of rows and depth. If
// across is set, it is contiguous along M or N instead of K.
func layoutFor(across bool, swizzle, rows, bytes, depth, bits int) layout {
	groups := (rows + 7) / 8
	switch {
	case !across && swizzle == 0:
		return layout{leading: 128 * groups, stride: 128}
	case !across:
		return layout{swizzle: swizzle, leading: 16, stride: 8 * swizzle}
	case swizzle == 0:
		return layout{across: true, leading: 128, stride: 128 * ((depth + 7) / 8)}
	}
	return layout{across: true, swizzle: swizzle, leading: swizzle * 8 * ((depth + 7) / 8),
		stride: 8 * swizzle}
}

// unit returns the byte offset of a 16-byte unit from the start of the matrix. Along K, i is the
// row and u the unit of its depth. Otherwise, i is the depth and u the unit of rows.
func (l layout) unit(i, u int) int {
	var at int
	switch {
	case !l.across && l.swizzle == 0:
		at = i%8*16 + i/8*l.stride + u*l.leading
	case !l.across:
		at = i%8*l.swizzle + i/8*l.stride + u*16
	case l.swizzle == 0:
		at = i%8*16 + i/8*l.leading + u*l.stride
	default:
		w := l.swizzle / 16
		at = u%w*16 + u/w*l.leading + i%8*l.swizzle + i/8*l.stride
	}
	return at
}

// swizzled permutes the units of an offset, as CuTe's Swizzle<B,4,3> does.
func (l layout) swizzled(at int) int {
	if l.wide {
		return at ^ at>>7&3<<5
	}
	switch l.swizzle {
	case 128:
		return at ^ at>>7&7<<4
	case 64:
		return at ^ at>>7&3<<4
	case 32:
		return at ^ at>>7&1<<4
	}
	return at
}

// packing returns the number of elements in 16 bytes, and the bit offset of each.
func packing(n number, padded bool) int {
	if padded && n.bits < 8 {
		return 16
	}
	return 128 / n.bits
}

// place writes the elements of a matrix to shared memory at start.
func (l layout) place(memory []byte, start int, n number, padded bool, codes [][]uint64) {
	per := packing(n, padded)
	for row := range codes {
		for k, code := range codes[row] {
			i, j := row, k
			if l.across {
				i, j = k, row
			}
			at := l.swizzled(start + l.unit(i, j/per))
			bit := j % per * n.bits
			b := memory[at+bit/8:][:(bit%8+n.bits+7)/8]
			put(b, word(b)|code<<(bit%8))
		}
	}
}

// hopper returns the wgmma matrix descriptor without the address.
func (l layout) hopper() uint64 {
	return uint64(l.leading>>4)<<16 | uint64(l.stride>>4)<<32 | map[int]uint64{0: 0, 128: 1, 64: 2,
		32: 3}[l.swizzle]<<62
}

// blackwell returns the tcgen05 matrix descriptor without the address.
func (l layout) blackwell() uint64 {
	mode := map[int]uint64{0: 0, 128: 2, 64: 4, 32: 6}[l.swizzle]
	if l.wide {
		mode = 1
	}
	return uint64(l.leading>>4)<<16 | uint64(l.stride>>4)<<32 | 1<<46 | mode<<61
}

// code returns a random element. If exactly is set, sums of such elements need no rounding.
func code(r *rand.Rand, n number, exactly bool) uint64 {
	if n.bits == 1 {
		return r.Uint64() & 1
	}
	if n.name == ti16.name {
		return r.Uint64() & 0x87ff
	}
	if exactly || n.integer && r.IntN(2) == 0 {
		list := exacts[n.name]
		return list[r.IntN(len(list))]
	}
	if n.bits == 32 {
		return uint64(math.Float32bits(float32(r.NormFloat64()))) &^ (1<<13 - 1)
	}
	for {
		c := r.Uint64() & (1<<n.bits - 1)
		switch w := n.worth(c); {
		case n.bits == 16 && math.Abs(w) > 1e4: // sums of larger values have no useful error bound
		case w-w == 0:
			return c
		}
	}
}

// exacts holds codes of each type whose sums need no rounding.
var exacts = func() map[string][]uint64 {
	m := make(map[string][]uint64)
	for _, n := range []number{f16, bf16, tf32, e5m2, e4m3, e2m3, e3m2, e2m1, u8, s8} {
		m[n.name] = exact(n)
	}
	return m
}()

// A sum is a reference result: the exact sum and the largest magnitude of its terms.
type sum struct{ value, largest float64 }

// add adds a term.
func (s *sum) add(x float64) {
	s.value += x
	s.largest = max(s.largest, math.Abs(x))
}

// near reports whether got can be a sum of n terms that were truncated at a number of bits below
// the largest, and then rounded to a number of mantissa bits.
func (s *sum) near(got float64, n, fraction, mantissa int) bool {
	if got == s.value {
		return true
	}
	truncation := float64(n+1) * s.largest * math.Ldexp(1, 1-fraction)
	rounding := math.Abs(s.value) * math.Ldexp(1, -mantissa)
	return math.Abs(got-s.value) <= truncation+rounding+math.Ldexp(1, -24)*math.Ldexp(1, -10)
}

// sparsify sets half of the elements to zero. It returns the kept elements and the four metadata
// bits of each chunk. Elements are kept or dropped in groups of the size together.
func sparsify(r *rand.Rand, codes [][]uint64, n number,
	together int) (kept [][]uint64, places [][]uint64) {
	group := 4
	if n.bits == 32 {
		group = 2
	}
	for row := range codes {
		line := codes[row]
		var keep, bits []uint64
		for g := 0; g < len(line); g += group * together {
			p := r.Perm(group)[:group/2]
			four := uint64(4 + 10*p[0]) // 0100 keeps the first of two, 1110 the second
			if group == 4 {
				p[0], p[1] = min(p[0], p[1]), max(p[0], p[1])
				four = uint64(p[0] | p[1]<<2)
			}
			was := append([]uint64(nil), line[g:g+group*together]...)
			clear(line[g : g+group*together])
			for _, i := range p {
				copy(line[g+i*together:], was[i*together:][:together])
				keep = append(keep, was[i*together:][:together]...)
			}
			bits = append(bits, four)
		}
		kept, places = append(kept, keep), append(places, bits)
	}
	return kept, places
}

// randomCodes returns a random matrix.
func randomCodes(r *rand.Rand, n number, rows, depth int, exactly bool) [][]uint64 {
	m := make([][]uint64, rows)
	for i := range m {
		m[i] = make([]uint64, depth)
		for k := range m[i] {
			m[i][k] = code(r, n, exactly)
		}
	}
	return m
}
