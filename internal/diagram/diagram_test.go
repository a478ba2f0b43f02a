// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/emutest"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestImages compares the diagrams in docs with what the package draws.
func TestImages(t *testing.T) {
	const folder = "../../docs/images"
	names := map[string]bool{}
	for _, f := range All() {
		names[f.Name] = true
		old, err := os.ReadFile(filepath.Join(folder, f.Name))
		if err != nil {
			t.Error(err)
		}
		if string(old) != f.SVG {
			t.Errorf("%s is out of date: run go generate ./internal/diagram", f.Name)
		}
		wellFormed(t, f)
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !names[f.Name()] {
			t.Errorf("nothing draws %s", f.Name())
		}
	}
}

func wellFormed(t *testing.T, f File) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(f.SVG))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: %v", f.Name, err)
			return
		}
	}
}

// TestFragments runs mma.sync in the emulator with the fragments that fragmentA and fragmentC
// describe. Each element of A holds its own index and B is the identity, so D must hold the same
// values.
func TestFragments(t *testing.T) {
	dev := runtime.On(emutest.New("sm_120a"))
	for half := range 2 {
		m := dsl.New("fragments", "sm_120a")
		identity(m)
		mod, err := dev.Load(m)
		if err != nil {
			t.Fatal(err)
		}
		k, err := mod.Kernel("identity")
		if err != nil {
			t.Fatal(err)
		}
		out, err := runtime.Alloc[float32](dev, 128)
		if err != nil {
			t.Fatal(err)
		}
		a := registers(t, dev, 8, fragmentA, func(row, col int) int { return row*16 + col })
		b := registers(t, dev, 4, fragmentB, func(row, col int) int {
			if row == col+8*half {
				return 1
			}
			return 0
		})
		if err := k.Launch(runtime.Grid(1), a, b, out); err != nil {
			t.Fatal(err)
		}
		got, err := runtime.Download(out)
		if err != nil {
			t.Fatal(err)
		}
		for row := range 16 {
			for col := range 8 {
				lane, index := fragmentC(row, col)
				if want := float32(row*16 + col + 8*half); got[lane*4+index] != want {
					t.Errorf("lane %d holds %v at %d, not %v", lane, got[lane*4+index], index, want)
				}
			}
		}
	}
}

// registers returns the fragments of a matrix as a buffer, lane by lane, with n elements per lane.
func registers(t *testing.T, dev *runtime.Device, n int, at cellOf, value func(row,
	col int) int) *runtime.Buffer[runtime.F16] {
	t.Helper()
	xs := make([]runtime.F16, 32*n)
	rows, cols := 16, 2*n
	for row := range rows {
		for col := range cols {
			lane, index := at(row, col)
			xs[lane*n+index] = runtime.ToF16(float32(value(row, col)))
		}
	}
	b, err := runtime.Upload(dev, xs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// identity builds a kernel of one warp that executes one mma.sync on fragments in memory.
func identity(m *dsl.Module) {
	k := m.Kernel("identity", dsl.Threads(32))
	a, b := dsl.Global[dsl.F16x2](k, "a"), dsl.Global[dsl.F16x2](k, "b")
	d := dsl.Global[dsl.F32](k, "d")
	lane := k.TID().X
	load := func(x dsl.Array[dsl.F16x2], n int) []dsl.Operand {
		var list []dsl.Operand
		for i := range n {
			list = append(list, x.At(lane.MulI(int64(n))).LoadI(int64(i)))
		}
		return list
	}
	zero, sums := k.F32(0), []dsl.Operand{}
	var to []dsl.Reg[dsl.F32]
	for range 4 {
		to = append(to, dsl.NewReg[dsl.F32](k))
		sums = append(sums, to[len(to)-1])
	}
	k.Ins("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", sums, load(a, 4), load(b, 2),
		dsl.List(zero.Var(), zero.Var(), zero.Var(), zero.Var()))
	for i, x := range to {
		d.At(lane.MulI(4)).StoreI(int64(i), x)
	}
}
