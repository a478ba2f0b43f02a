// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	blockscaled "github.com/ptxdsl/ptxdsl/examples/17_matmul_blockscaled"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Scaled is a block-scaled matrix in device memory.
type Scaled struct {
	Type       isa.Type
	Scale      dsl.BlockScale
	Rows, Cols int

	padded   int // number of columns including padding
	elements *runtime.Buffer[uint8]
	factors  *runtime.Buffer[uint64]
	words    int // number of words for the scale factors of 128 rows
}

// padding is a number of elements per row of which all kernels support every multiple.
const padding = 128

// Quantize converts a row-major matrix to a block-scaled format, and copies it to the device.
func Quantize(l *Library, values []float32, rows, cols int, t isa.Type,
	scale dsl.BlockScale) (*Scaled, error) {
	if rows < 1 || cols < 1 || len(values) != rows*cols {
		return nil, fmt.Errorf("calls: Quantize of %d values, expected %d rows of %d", len(values),
			rows, cols)
	}
	if _, ok := blockscaled.FormatFor(t, t, scale); !ok {
		return nil, fmt.Errorf("calls: Quantize: no block-scaled format has %s with %s", t, scale)
	}
	x := &Scaled{Type: t, Scale: scale, Rows: rows, Cols: cols,
		padded: (cols + padding - 1) / padding * padding}
	wide := make([]float32, rows*x.padded)
	for row := range rows {
		copy(wide[row*x.padded:], values[row*cols:][:cols])
	}
	n := blockscaled.Quantize(wide, t, scale, rows, x.padded)
	atoms := n.ScaleAtoms()
	words := make([]uint64, len(atoms)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(atoms[8*i:])
	}
	x.words = len(words) / ((rows + 127) / 128)
	var e1, e2 error
	x.elements, e1 = runtime.Upload(l.device, n.Packed())
	x.factors, e2 = runtime.Upload(l.device, words)
	return x, errors.Join(e1, e2)
}

// Close frees the memory of the matrix.
func (x *Scaled) Close() error { return errors.Join(x.elements.Close(), x.factors.Close()) }

// MultiplyScaled computes D = A B' for block-scaled matrices A and B, and D of BF16.
func MultiplyScaled(l *Library, d *runtime.Buffer[runtime.BF16], a, b *Scaled) error {
	if a == nil || b == nil {
		return errors.New(
			"calls: MultiplyScaled: an operand is nil, expected matrices from Quantize")
	}
	f, ok := blockscaled.FormatFor(a.Type, b.Type, a.Scale)
	err := holds("D", d, a.Rows*b.Rows)
	switch {
	case !ok || a.Scale != b.Scale:
		err = fmt.Errorf("no block-scaled format has %s with %s and %s with %s", a.Type, a.Scale,
			b.Type, b.Scale)
	case a.Cols != b.Cols:
		err = fmt.Errorf("operands have %d and %d columns", a.Cols, b.Cols)
	}
	if err != nil {
		return fmt.Errorf("calls: MultiplyScaled: %w", err)
	}
	p, err := l.scaled(f, a.Rows, b.Rows)
	if err != nil {
		return fmt.Errorf("calls: MultiplyScaled: %w", err)
	}
	to, wide := d, (b.Rows+7)/8*8
	if wide != b.Rows { // the TMA stores rows that are multiples of 16 bytes
		if to, err = runtime.Alloc[runtime.BF16](l.device, a.Rows*wide); err != nil {
			return err
		}
	}
	factors := func(x *Scaled) tensor {
		return tensor{x.factors, []int{(x.Rows + 127) / 128, x.words}}
	}
	err = l.run(p, map[string]any{
		"a":   tensor{a.elements, []int{a.Rows, a.padded}},
		"b":   tensor{b.elements, []int{b.Rows, b.padded}},
		"sfa": factors(a), "sfb": factors(b), "d": tensor{to, []int{a.Rows, wide}},
		"m": uint32(a.Rows), "n": uint32(wide), "k": uint32(a.padded),
	})
	if to == d {
		return err
	}
	if err != nil {
		return errors.Join(err, to.Close())
	}
	err = resize(l, d, to, b.Rows, wide)
	return errors.Join(err, l.device.Sync(), to.Close())
}

// scaled returns the plan for a product. The kernel uses tcgen05 on CTA pairs, or on one SM for
// few rows or columns, or mma.sync.
func (l *Library) scaled(f blockscaled.Format, rows, cols int) (plan, error) {
	info := l.device.Info()
	tiles := func(high, wide int) int {
		return (rows + high - 1) / high * ((cols + wide - 1) / wide)
	}
	switch info.Target {
	case "sm_100a", "sm_103a":
		t := f.Default(rows > 128 && cols > 128)
		p := plan{name: "matmul_" + f.Name, build: func(m *dsl.Module) {
			blockscaled.Build(m, f, t)
		}}
		if p.config = runtime.Grid(min(tiles(128, t.N), info.SMs)); t.Pair {
			p.config = runtime.Grid(2 * min(tiles(256, t.N), info.SMs/2))
		}
		p.key = fmt.Sprintf("%s, pair %t", p.name, t.Pair)
		return p, nil
	case "sm_120a", "sm_121a":
		t := f.SyncDefault()
		name := "matmul_sync_" + f.Name
		return plan{name, name, func(m *dsl.Module) { blockscaled.BuildSync(m, f, t) },
			runtime.Grid(tiles(t.M, t.N))}, nil
	}
	return plan{}, fmt.Errorf("%s has no block-scaled tensor cores", info.Target)
}
