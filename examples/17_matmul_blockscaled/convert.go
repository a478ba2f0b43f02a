// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blockscaled

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/trial"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// checkEpilogues multiplies matrices of a format and compares what each of the Epilogues makes of the sums.
func checkEpilogues(t *trial.T, f Format, tiling Tiling, p trial.Product) error {
	for _, e := range Epilogues {
		if err := e.check(t, f, e.tiling(tiling), p); err != nil {
			return fmt.Errorf("%s%s: %w", f.Name, e.Name, err)
		}
	}
	return nil
}

// What the sums and C are multiplied by.
const alpha, beta = 0.25, -2

// check multiplies random matrices into what the Epilogue writes.
func (e Epilogue) check(t *trial.T, f Format, tiling Tiling, p trial.Product) error {
	k, err := t.Kernel("matmul_"+f.Name+e.Name, func(m *dsl.Module) { BuildWith(m, f, tiling, e) })
	if err != nil {
		return err
	}
	a, b := f.random(t, f.A, p.M, p.K), f.random(t, f.B, p.N, p.K)
	c := make([]float32, p.M*p.N)
	for i, x := range t.Integers(len(c)) {
		c[i] = float32(x%64) - 32
	}
	u := &uploads{d: t.Device, args: map[string]any{"m": p.M, "n": p.N, "k": p.K, "alpha": float32(alpha), "beta": float32(beta)}, k: k}
	scales := func(n Numbers) []uint64 {
		atoms := make([]byte, n.Scale.Bytes(n.Rows, n.Cols))
		for i, x := range n.Factors {
			each := len(n.Factors) / n.Rows
			atoms[n.Scale.Offset(i/each, i%each*n.Scale.Vector, n.Cols)] = x
		}
		words := make([]uint64, len(atoms)/8)
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(atoms[8*i:])
		}
		return words
	}
	tensor(u, "a", a.Packed(), p.M, p.K)
	tensor(u, "b", b.Packed(), p.N, p.K)
	tensor(u, "sfa", scales(a), (p.M+127)/128, 0)
	tensor(u, "sfb", scales(b), (p.N+127)/128, 0)
	if e.C {
		tensor(u, "c", trial.BF16(c), p.M, p.N)
	}
	var made []uint32 // scale factors
	var factors *runtime.Buffer[uint32]
	if e.Scale.Vector > 0 {
		made = make([]uint32, e.Scale.Bytes(p.M, p.N)/4)
		factors = plain(u, "sfd", made)
	}
	var read func() (func(i int) float64, error)
	switch n := p.M * p.N; {
	case e.D == isa.F32:
		d := tensor(u, "d", make([]float32, n), p.M, p.N)
		read = func() (func(i int) float64, error) {
			x, err := runtime.Download(d)
			return func(i int) float64 { return float64(x[i]) }, err
		}
	case e.D == isa.Bf16:
		d := tensor(u, "d", make([]runtime.BF16, n), p.M, p.N)
		read = func() (func(i int) float64, error) {
			x, err := runtime.Download(d)
			return func(i int) float64 { return float64(math.Float32frombits(uint32(x[i]) << 16)) }, err
		}
	default:
		bits := e.D.Bits()
		d := tensor(u, "d", make([]uint8, n*bits/8), p.M, p.N)
		read = func() (func(i int) float64, error) {
			x, err := runtime.Download(d)
			return func(i int) float64 { return Value(e.D, x[i*bits/8]>>(i*bits%8)&(1<<bits-1)) }, err
		}
	}
	if err := u.launch(tiling.grid(t, p)); err != nil {
		return err
	}
	got, err := read()
	if err == nil && factors != nil {
		made, err = runtime.Download(factors)
	}
	if err != nil {
		return errors.Join(err, u.close())
	}
	return errors.Join(e.compare(p, a, b, c, got, made), u.close())
}

// compare holds what was written against sums of the reference. Numbers and scale factors are those that are nearest to what they should be, or as near up to
// what the order of sums is worth.
func (e Epilogue) compare(p trial.Product, a, b Numbers, c []float32, got func(i int) float64, made []uint32) error {
	vector := e.Scale.Vector
	if vector == 0 {
		vector = 1
	}
	worth := func(n Numbers) []float64 {
		list := make([]float64, len(n.Codes))
		for i := range list {
			list[i] = n.Worth(i/n.Cols, i%n.Cols)
		}
		return list
	}
	as, bs := worth(a), worth(b)
	for row := range p.M {
		for col := 0; col < p.N; col += vector {
			want, most := make([]float64, min(vector, p.N-col)), 0.0
			for i := range want {
				for j, x := range as[row*p.K:][:p.K] {
					want[i] += x * bs[(col+i)*p.K+j]
				}
				if e.C {
					want[i] = alpha*want[i] + beta*float64(c[row*p.N+col+i])
				}
				most = max(most, math.Abs(want[i]))
			}
			scale := 1.0
			if e.Scale.Vector > 0 {
				at := e.Scale.Offset(row, col, p.N)
				scale = Value(e.Scale.Type, uint8(made[at/4]>>(at%4*8)))
				if !e.scales(scale, most/e.largest()) {
					return fmt.Errorf("%s: the scale factor of %d, %d is %v, for numbers up to %v", p, row, col, scale, most)
				}
			}
			for i, x := range want {
				is := got(row*p.N+col+i) * scale
				if best := e.nearest(x, scale); math.Abs(is-x) > best+1e-4*(1+most) {
					return fmt.Errorf("%s: element %d, %d is %v, not %v; %v away is possible", p, row, col+i, is, x, best)
				}
			}
		}
	}
	return nil
}

// largest is the largest number of the type that is written.
func (e Epilogue) largest() float64 {
	if e.D == isa.E2m1 {
		return 6
	}
	return 448
}

// scales reports whether a scale factor is the one for a number: the nearest, or the power of two that is not smaller.
func (e Epilogue) scales(is, want float64) bool {
	if e.Scale.Type == isa.Ue8m0 {
		return is >= want*(1-1e-4) && is/2 < want*(1+1e-4)
	}
	best := math.Inf(1)
	for code := range 127 {
		best = min(best, math.Abs(Value(isa.Ue4m3, uint8(code))-want))
	}
	return math.Abs(is-want) <= best+1e-4*(1+want)
}

// nearest is how far a number of the type that is written is at least away from x, times a scale factor.
func (e Epilogue) nearest(x, scale float64) float64 {
	switch e.D {
	case isa.F32:
		return 0
	case isa.Bf16:
		return math.Abs(x) / 256
	}
	best := math.Inf(1)
	for code := range 1 << (e.D.Bits() - 1) {
		if v := Value(e.D, uint8(code)); v <= e.largest() {
			best = min(best, math.Abs(v*scale-math.Abs(x)))
		}
	}
	return best
}

// uploads are the arguments of a launch, by their names.
type uploads struct {
	d     *runtime.Device
	k     *runtime.Kernel
	args  map[string]any
	after []func() error
	err   error
}

// plain gives a pointer parameter a copy of a list.
func plain[E runtime.Element](u *uploads, name string, list []E) *runtime.Buffer[E] {
	b, err := runtime.Upload(u.d, list)
	u.err = errors.Join(u.err, err)
	if err == nil {
		u.args[name] = b
		u.after = append(u.after, b.Close)
	}
	return b
}

// tensor gives a tensor map parameter a matrix of rows and columns, or of as many columns as the list has.
func tensor[E runtime.Element](u *uploads, name string, list []E, rows, cols int) *runtime.Buffer[E] {
	b := plain(u, name, list)
	if cols == 0 {
		cols = len(list) / rows
	}
	if u.err == nil {
		u.args[name], u.err = u.k.TensorMap(name, b, rows, cols)
	}
	return b
}

// launch runs the kernel.
func (u *uploads) launch(grid runtime.Config) error {
	var args []any
	for _, p := range u.k.Params() {
		args = append(args, u.args[p.Name])
	}
	if u.err == nil {
		u.err = u.k.Launch(grid, args...)
	}
	if u.err != nil {
		return errors.Join(u.err, u.close())
	}
	return nil
}

func (u *uploads) close() (err error) {
	for _, f := range u.after {
		err = errors.Join(err, f())
	}
	return err
}
