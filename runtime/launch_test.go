// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func TestLaunch(t *testing.T) {
	d := fakecuda.New()
	addFake(d)
	dev := open(t, d)
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	xs, ys := []float32{1, 2, 3}, []float32{10, 20, 30}
	x := must[*runtime.Buffer[float32]](t)(runtime.Upload(dev, xs))
	y := must[*runtime.Buffer[float32]](t)(runtime.Upload(dev, ys))
	z := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 3))
	s := must[*runtime.Stream](t)(dev.Stream())
	check(t, k.Launch(runtime.Threads(3).On(s), x, y, z, 3))
	check(t, s.Sync())
	got := must[[]float32](t)(runtime.Download(z))
	if diff := cmp.Diff([]float32{11, 22, 33}, got); diff != "" {
		t.Error(diff)
	}
	l := d.Launches()
	if len(l) != 1 || l[0].Grid != [3]uint32{1, 1, 1} || l[0].Block != [3]uint32{256, 1, 1} ||
		l[0].Stream == 0 || len(l[0].Values) != 28 {
		t.Errorf("launched as %+v", l)
	}
}

// TestParameters checks the offsets of arguments of every type.
func TestParameters(t *testing.T) {
	d := fakecuda.New()
	dev := open(t, d)
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("mixed"))
	b := must[*runtime.Buffer[runtime.BF16]](t)(runtime.Alloc[runtime.BF16](dev, 64*64))
	tm := must[*runtime.TensorMap](t)(
		runtime.Tiled(b, []int{64, 64}, []int{64, 64}, runtime.Swizzle(128)))
	check(t, k.Launch(runtime.Grid(2, 3, 4).Block(8, 4), uint8(200), int16(-3), float32(0.5),
		uint64(1)<<40, tm, 0.25, []byte("abcde")))
	l := d.Launches()[0]
	v := l.Values
	if len(v) != 64+128+8+5 {
		t.Fatalf("%d bytes of arguments", len(v))
	}
	if v[0] != 200 || int16(binary.LittleEndian.Uint16(v[2:])) != -3 ||
		math.Float32frombits(binary.LittleEndian.Uint32(v[4:])) != 0.5 ||
		binary.LittleEndian.Uint64(v[8:]) != 1<<40 || v[64] != 0x11 ||
		math.Float64frombits(binary.LittleEndian.Uint64(v[192:])) != 0.25 ||
		string(v[200:]) != "abcde" {
		t.Errorf("offsets of the arguments: %v", v)
	}
	if l.Grid != [3]uint32{2, 3, 4} || l.Block != [3]uint32{8, 4, 1} {
		t.Errorf("launched as %v of %v", l.Grid, l.Block)
	}
}

// TestAttributes checks the launch attributes and function attributes that launches set.
func TestAttributes(t *testing.T) {
	d := fakecuda.New()
	dev := open(t, d)
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("clustered"))
	check(t, k.Launch(runtime.Grid(4).Cooperative().Programmatic().Shared(100_000), uint32(1)))
	l := d.Launches()[0]
	if diff := cmp.Diff(map[uint32][4]uint32{4: {2, 1, 1, 0}, 2: {1, 0, 0, 0}, 6: {1, 0, 0, 0}},
		l.Attributes); diff != "" || l.Shared != 100_000 {
		t.Error(l.Shared, diff)
	}
	asked := 0
	for _, c := range d.Calls() {
		if c == "cuFuncSetAttribute" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times for more shared memory", asked)
	}
	// The attribute is set only once.
	check(t, k.Launch(runtime.Grid(4).Shared(100_000), uint32(1)))
	for _, c := range d.Calls() {
		if c == "cuFuncSetAttribute" {
			t.Error("asked again")
		}
	}
}
