// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// checkEpilogues multiplies matrices of a format and checks the output of each of the Epilogues.
func checkEpilogues(t *kerneltest.T, f Format, tiling Tiling, g kerneltest.GEMM) error {
	for _, e := range Epilogues {
		if err := e.check(t, f, e.tiling(tiling), g); err != nil {
			return fmt.Errorf("%s%s: %w", f.Name, e.Name, err)
		}
	}
	return nil
}

// Factors of the product and of C.
const alpha, beta = 0.25, -2

// check multiplies random matrices and checks the output of the Epilogue.
func (e Epilogue) check(t *kerneltest.T, f Format, tiling Tiling, g kerneltest.GEMM) error {
	k, err := t.Kernel("matmul_"+f.Name+e.Name, func(m *dsl.Module) { BuildWith(m, f, tiling, e) })
	if err != nil {
		return err
	}
	a, b := f.random(t, f.A, g.M, g.K), f.random(t, f.B, g.N, g.K)
	c := make([]float64, g.M*g.N)
	for i := range c {
		c[i] = float64(t.Rand.IntN(64) - 32)
	}
	known := map[string]any{
		"m": g.M, "n": g.N, "k": g.K, "alpha": float32(alpha), "beta": float32(beta),
		"a": kerneltest.In(a.Packed()).Tensor(g.M, g.K), "b": kerneltest.In(b.Packed()).Tensor(g.N, g.K),
		"sfa": scaleWords(a), "sfb": scaleWords(b),
		"c": kerneltest.In(kerneltest.BF16.Encode(c)).Tensor(g.M, g.N),
	}
	var factors []uint32 // scale factors of D
	if e.Scale.Vector > 0 {
		factors = make([]uint32, e.Scale.Bytes(g.M, g.N)/4)
		known["sfd"] = kerneltest.InOut(factors)
	}
	d := e.output(g.M * g.N)
	known["d"] = d.array.Tensor(g.M, g.N)
	var args []any
	for _, p := range k.Params() {
		args = append(args, known[p.Name])
	}
	if err := t.Launch(k, tiling.grid(t, g), args...); err != nil {
		return err
	}
	return e.compare(g, a, b, c, d.at, factors)
}

// scaleWords returns scale factors as an argument: a row of words for each 128 rows.
func scaleWords(n Numbers) *kerneltest.Array {
	atoms := make([]byte, n.Scale.Bytes(n.Rows, n.Cols))
	each := len(n.Factors) / n.Rows
	for i, x := range n.Factors {
		atoms[n.Scale.Offset(i/each, i%each*n.Scale.Vector, n.Cols)] = x
	}
	words := make([]uint64, len(atoms)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(atoms[8*i:])
	}
	high := (n.Rows + 127) / 128
	return kerneltest.In(words).Tensor(high, len(words)/high)
}

// An output is D as an argument of the kernel, and its elements after the launch.
type output struct {
	array *kerneltest.Array
	at    func(i int) float64
}

// output returns the output buffer for n elements of the result type.
func (e Epilogue) output(n int) output {
	switch e.D {
	case isa.F32:
		d := make([]float32, n)
		return output{kerneltest.InOut(d), func(i int) float64 { return float64(d[i]) }}
	case isa.Bf16:
		d := kerneltest.BF16.Encode(make([]float64, n))
		return output{kerneltest.InOut(d), func(i int) float64 { return kerneltest.BF16.Float(d[i]) }}
	}
	bits, f := e.D.Bits(), kerneltest.Narrow(e.D)
	d := make([]uint8, n*bits/8)
	return output{kerneltest.InOut(d), func(i int) float64 { return f.Float(d[i*bits/8] >> (i * bits % 8) & (1<<bits - 1)) }}
}

// sumError is the maximum relative error of the sums before rounding to the result type.
const sumError = 1e-6

// compare compares the output with the reference. Elements and scale factors must be the nearest
// ones to the exact values, within the error of the sums.
func (e Epilogue) compare(g kerneltest.GEMM, a, b Numbers, c []float64, got func(i int) float64, factors []uint32) error {
	vector := max(1, e.Scale.Vector)
	scaleFormat := kerneltest.Format[uint8]{}
	if e.Scale.Vector > 0 {
		scaleFormat = kerneltest.Narrow(e.Scale.Type)
	}
	as, bs := a.values(), b.values()
	for row := range g.M {
		for col := 0; col < g.N; col += vector {
			want, largest := make([]float64, min(vector, g.N-col)), 0.0
			for i := range want {
				for j, x := range as[row*g.K:][:g.K] {
					want[i] += x * bs[(col+i)*g.K+j]
				}
				if e.C {
					want[i] = alpha*want[i] + beta*c[row*g.N+col+i]
				}
				largest = max(largest, math.Abs(want[i]))
			}
			scale := 1.0
			if e.Scale.Vector > 0 {
				at := e.Scale.Offset(row, col, g.N)
				scale = scaleFormat.Float(uint8(factors[at/4] >> (at % 4 * 8)))
				if !e.scales(scale, largest/e.largest()) {
					return fmt.Errorf("%s: the scale factor of %d, %d is %v, for numbers up to %v", g, row, col, scale, largest)
				}
			}
			for i, x := range want {
				is := got(row*g.N+col+i) * scale
				if best := e.nearest(x, scale); !(math.Abs(is-x) <= best+sumError*(1+largest)) {
					return fmt.Errorf("%s: element %d, %d is %v, want %v; the nearest number has an error of %v", g, row, col+i, is, x, best)
				}
			}
		}
	}
	return nil
}

// values returns the elements times their scale factors.
func (n Numbers) values() []float64 {
	list := make([]float64, len(n.Codes))
	for i := range list {
		list[i] = n.Value(i/n.Cols, i%n.Cols)
	}
	return list
}

// largest returns the largest value of the result type.
func (e Epilogue) largest() float64 {
	if e.D == isa.E2m1 {
		return 6
	}
	return 448
}

// scales reports whether a scale factor is correct for a value: the nearest one, or for powers of
// two the smallest that is not smaller.
func (e Epilogue) scales(is, want float64) bool {
	if e.Scale.Type == isa.Ue8m0 {
		return is >= want*(1-sumError) && is/2 < want*(1+sumError)
	}
	f := kerneltest.Narrow(isa.Ue4m3)
	best := math.Abs(f.Float(f.From(want)) - want)
	return math.Abs(is-want) <= best+sumError*(1+want)
}

// nearest returns the distance of x to the nearest value of the result type times a scale factor.
func (e Epilogue) nearest(x, scale float64) float64 {
	switch e.D {
	case isa.F32:
		return 0
	case isa.Bf16:
		return kerneltest.BF16.ULPs(0.5).Allows(x)
	}
	f := kerneltest.Narrow(e.D)
	return math.Abs(f.Float(f.From(x/scale))*scale - x)
}
