// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"math"

	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A panel holds rows of decoded elements: the rows of A, or the columns of B stored as rows.
type panel struct {
	depth    int
	value    []float64
	exponent []int32
	special  []bool // whether each row contains an infinity or a NaN
	integer  []int32
}

// resize allocates rows of a depth.
func (p *panel) resize(rows, depth int, integers bool) {
	n := rows * depth
	p.depth = depth
	if cap(p.special) < rows {
		p.special = make([]bool, rows)
	}
	p.special = p.special[:rows]
	clear(p.special)
	if integers {
		if cap(p.integer) < n {
			p.integer = make([]int32, n)
		}
		p.integer = p.integer[:n]
		return
	}
	if cap(p.value) < n {
		p.value, p.exponent = make([]float64, n), make([]int32, n)
	}
	p.value, p.exponent = p.value[:n], p.exponent[:n]
}

// set stores the decoded element i of a row.
func (p *panel) set(e *Element, row, i int, code uint64) {
	at := row*p.depth + i
	if e.Integer {
		p.integer[at] = e.integer(code)
		return
	}
	x, n := e.decode(code)
	p.value[at], p.exponent[at] = x, n
	if n == special {
		p.special[row] = true
	}
}

// power returns 2^n for exponents of normal float64 numbers.
func power(n int32) float64 { return math.Float64frombits(uint64(n+1023) << 52) }

// canonical NaN results.
const (
	nan32 = 0x7fff_ffff
	nan16 = 0x7fff
)

// dot adds products to c and returns the code of the result. Every term is shifted to the largest
// exponent and truncated; the truncated terms are added exactly.
func (m *model) dot(a, b *panel, row, col int, c *Element, sum uint64) uint64 {
	if m.widened {
		return m.dotWidened(a, b, row, col, c, sum)
	}
	n := a.depth / m.steps
	for step := range m.steps {
		i, j := row*a.depth+step*n, col*b.depth+step*n
		av, bv := a.value[i:i+n], b.value[j:j+n]
		if m.exact || a.special[row] || b.special[col] {
			sum = plain(av, bv, c, sum)
			continue
		}
		sum = m.fused(av, bv, a.exponent[i:i+n], b.exponent[j:j+n], c, sum)
	}
	return sum
}

// plain adds the products to sum in float64. It is used in exact mode, and if an operand is an
// infinity or a NaN.
func plain(av, bv []float64, c *Element, sum uint64) uint64 {
	total, _ := c.decode(sum)
	for k, x := range av {
		total += float64(x * bv[k]) // not fused
	}
	return round(c, total)
}

// round returns the code of x in the format of c, rounded to nearest.
func round(c *Element, x float64) uint64 {
	if c == F16 {
		if x != x {
			return nan16
		}
		return eval.F16.Encode(x, eval.Nearest)
	}
	if x != x {
		return nan32
	}
	return uint64(math.Float32bits(float32(x)))
}

func (m *model) fused(av, bv []float64, ae, be []int32, c *Element, sum uint64) uint64 {
	x, top := c.decode(sum)
	if top == special {
		return plain(av, bv, c, sum)
	}
	bv, ae, be = bv[:len(av)], ae[:len(av)], be[:len(av)]
	for k := range av {
		top = max(top, ae[k]+be[k])
	}
	scale := power(m.fraction - top)
	total := int64(x * scale)
	for k, y := range av {
		total += int64(y * bv[k] * scale)
	}
	return m.finish(c, float64(total), top)
}

// finish rounds a sum of terms that are aligned to the exponent top.
func (m *model) finish(c *Element, total float64, top int32) uint64 {
	x := total * power(top-m.fraction)
	if c == F16 {
		return eval.F16.Encode(x, eval.Nearest)
	}
	return truncate(x, m.kept)
}

// truncate rounds to f32 toward zero, keeping the given number of fraction bits. Overflow gives
// infinity.
func truncate(x float64, kept int) uint64 {
	b := math.Float64bits(x)
	n := int(b >> 52 & 2047)
	switch {
	case n > 1023+127:
		return b>>63<<31 | 0x7f80_0000
	case n >= 1023-126:
		b &^= 1<<(52-kept) - 1
		return b>>63<<31 | uint64(n-1023+127)<<23 | b>>29&(1<<23-1)
	case n < 1023-126-24:
		return b >> 63 << 31 & -uint64(bit(x != 0))
	}
	// Subnormal results keep the fraction bits that f32 has for them.
	drop := 29 + (1023 - 126 - n)
	return b>>63<<31 | (b&(1<<52-1)|1<<52)>>drop>>(23-kept)<<(23-kept)
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// scaledGroups computes the fused sum of block-scaled e2m1. The products of a group are added
// exactly. The sum times the significands of both scale factors is a term, whose exponent is the
// sum of the scale factors' exponents.
func (m *model) scaledGroups(av, bv []float64, sa, sb []scale, c uint64) uint64 {
	x, top := F32.decode(c)
	groups := len(av) / m.group
	var terms [8]float64
	var exponents [8]int32
	for g := range groups {
		p, q := sa[g*len(sa)/groups], sb[g*len(sb)/groups]
		if p.exponent == special || q.exponent == special {
			return nan32
		}
		sum := 0.0
		for k := g * m.group; k < (g+1)*m.group; k++ {
			sum += float64(av[k] * bv[k])
		}
		terms[g], exponents[g] = sum*p.significand*q.significand, p.exponent+q.exponent
	}
	if top == special {
		return plainSingle(x)
	}
	if m.exact {
		for g := range groups {
			x += float64(terms[g] * power(exponents[g]))
		}
		return round(F32, x)
	}
	for _, e := range exponents[:groups] {
		top = max(top, e)
	}
	total := int64(x * power(m.fraction-top))
	for g := range groups {
		// Two multiplications, because one power of two could leave the range of float64: ue8m0 has
		// large exponents.
		total += int64(terms[g] * power(m.fraction+exponents[g]-top))
	}
	return m.finish(F32, float64(total), top)
}

func plainSingle(x float64) uint64 { return round(F32, x) }

// A scale is a decoded scale factor: a significand and a power of two.
type scale struct {
	significand float64
	exponent    int32
}

// scaleOf decodes a scale factor of type ue8m0 or ue4m3.
func scaleOf(e *Element, code uint64) scale {
	x, n := e.decode(code & 255)
	if n == special {
		return scale{x, special}
	}
	return scale{x * power(-n), n}
}
