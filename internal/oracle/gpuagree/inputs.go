// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
	"github.com/ptxdsl/ptxdsl/isa/eval/tensorcore"
)

// An Inputs holds named columns of input words. Each case reads some of the columns.
type Inputs struct {
	names []string
	at    map[string]int
	data  [][]uint64
}

// column returns the index of the column with a name, and creates the column if needed. Its words
// depend only on the name.
func (in *Inputs) column(name string, word func(r *rand.Rand, row int) uint64) int {
	if at, ok := in.at[name]; ok {
		return at
	}
	if in.at == nil {
		in.at = map[string]int{}
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	r := rand.New(rand.NewPCG(h.Sum64(), 2026))
	words := make([]uint64, Rows)
	for row := range words {
		words[row] = word(r, row)
	}
	in.at[name] = len(in.data)
	in.names = append(in.names, name)
	in.data = append(in.data, words)
	return in.at[name]
}

// Words returns the words of all columns, column by column.
func (in *Inputs) Words() []uint64 {
	var all []uint64
	for _, d := range in.data {
		all = append(all, d...)
	}
	return all
}

// scalar returns the column for operand i of a case. Shift amounts and bit positions have
// separate columns, because most random numbers are too large for them.
func (in *Inputs) scalar(c *Case, i int) int {
	t := c.Op.In[i]
	name := t.String() + string(rune('a'+i))
	small := i > 0 && t == isa.U32 && c.Op.In[0] != isa.U32
	fns := strings.HasPrefix(c.Opcode, "fns") && i == 1
	switch {
	case fns:
		name += " below 32"
	case small:
		name += " small"
	}
	return in.column(name, func(r *rand.Rand, _ int) uint64 {
		x := randomPacked(r, t)
		if fns || small && r.IntN(4) > 0 {
			x = uint64(r.IntN(32)) // the instruction ignores the upper bits of the operand
			if !fns {
				x += uint64(r.IntN(48))
			}
		}
		return x
	})
}

// predicate returns the column for predicate operand i.
func (in *Inputs) predicate(i int) int {
	name := "predicate" + string(rune('a'+i))
	return in.column(name, func(r *rand.Rand, _ int) uint64 { return r.Uint64() & 1 })
}

// randomPacked returns random bits of a type, with some edge cases of its elements.
func randomPacked(r *rand.Rand, t isa.Type) uint64 {
	element, n := eval.Split(t)
	width := t.Bits() / n
	var x uint64
	for i := range n {
		var e uint64
		if f := eval.FormatOf(element); f != nil {
			e = floatBits(r, f)
		} else {
			e = integerBits(r, width)
		}
		if width < 64 {
			e &= 1<<width - 1
		}
		x |= e << (i * width)
	}
	return x
}

func integerBits(r *rand.Rand, width int) uint64 {
	switch r.IntN(4) {
	case 0:
		edges := []uint64{0, 1, 2, ^uint64(0), ^uint64(1), 1 << (width - 1), 1<<(width-1) - 1, 31,
			32, 64}
		return edges[r.IntN(len(edges))]
	case 1:
		return r.Uint64() >> r.IntN(64)
	case 2:
		return -(r.Uint64() >> r.IntN(64))
	}
	return r.Uint64()
}

func floatBits(r *rand.Rand, f *eval.Format) uint64 {
	sign := r.Uint64() & 1 << (f.Bits - 1)
	magnitude := uint64(1)<<(f.Bits-1) - 1
	one := f.Encode(1, eval.Nearest)
	switch r.IntN(7) {
	case 0:
		inf := f.Encode(math.Inf(1), eval.Nearest)
		edges := []uint64{0, 1, 2, f.Encode(math.NaN(), eval.Nearest), inf, inf - 1, inf + 1,
			magnitude,
			one, one + 1, one - 1, f.Smallest(), f.Smallest() - 1, f.Smallest() + 1}
		return sign | edges[r.IntN(len(edges))]&magnitude
	case 1, 2: // near one
		return sign | f.Encode(math.Exp2(r.Float64()*8-4), eval.Nearest)&magnitude
	case 3: // few bits
		return sign | f.Encode(float64(r.IntN(64))/4, eval.Nearest)&magnitude
	case 4: // moderate
		return sign | f.Encode(math.Exp2(r.Float64()*40-20), eval.Nearest)&magnitude
	}
	return r.Uint64()
}

// fragment returns the column of register i of an MMA operand.
func (in *Inputs) fragment(operand string, e *tensorcore.Element, layout tensorcore.Layout,
	i int) int {
	name := operand + " " + e.Name + layout.Container() + string(rune('0'+i))
	return in.column(name, func(r *rand.Rand, row int) uint64 {
		return layout.Fill(func() uint64 { return elementBits(r, e, row) }, e)
	})
}

// elementBits returns random bits of an element. A quarter of the warps get numbers of any
// magnitude, including infinities and NaN.
func elementBits(r *rand.Rand, e *tensorcore.Element, row int) uint64 {
	f := e.Format()
	if f == nil {
		return r.Uint64()
	}
	switch row / 32 % 4 {
	case 0:
		return f.Encode(r.NormFloat64(), eval.Nearest)
	case 1:
		return f.Encode(r.NormFloat64()*math.Exp2(float64(r.IntN(12)-6)), eval.Nearest)
	case 2:
		return f.Encode(r.NormFloat64()*math.Exp2(float64(r.IntN(40)-20)), eval.Nearest)
	}
	if r.IntN(64) == 0 {
		return floatBits(r, f)
	}
	span := map[*tensorcore.Element]float64{
		tensorcore.F16: 10, tensorcore.E5M2: 10, tensorcore.E4M3: 5}[e]
	if span == 0 {
		span = 60
	}
	return f.Encode(math.Exp2((2*r.Float64()-1)*span)*float64(1-2*r.IntN(2)), eval.Nearest)
}

// metadata returns the column of sparsity metadata, with four bits per group of elements.
func (in *Inputs) metadata(m *tensorcore.MMA) int {
	codes, name := []uint64{4, 8, 9, 12, 13, 14}, "metadata"
	if m.ElementA() == tensorcore.TF32 {
		codes, name = []uint64{4, 14}, "metadata tf32"
	}
	return in.column(name, metadataWord(codes))
}

// metadataWord returns a function that generates a word of random metadata: eight groups of four
// bits.
func metadataWord(codes []uint64) func(r *rand.Rand, row int) uint64 {
	return func(r *rand.Rand, _ int) (x uint64) {
		for range 8 {
			x = x<<4 | codes[r.IntN(len(codes))]
		}
		return x
	}
}
