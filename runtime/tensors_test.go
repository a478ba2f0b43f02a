// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// tensors is a kernel with a tensor map of every kind; it copies through one of them.
func tensors(m *dsl.Module) {
	k := m.Kernel("tensors", dsl.Threads(32))
	line := k.Tensor("line", isa.F32, []int{64}, dsl.NoSwizzle)
	k.TensorMap("matrix", isa.Bf16, dsl.Box{Rows: 32, Cols: 128}, dsl.Swizzle128)
	k.Tensor("cube", isa.Bf16, []int{2, 4, 64}, dsl.Swizzle128)
	k.Tensor("five", isa.F32, []int{1, 2, 3, 4, 8}, dsl.Swizzle32)
	k.Im2col("images", isa.Bf16, 4, 96, 64, dsl.Swizzle128)
	k.RowTensor("rows", isa.F32, 32, dsl.Swizzle128)
	t := k.SharedTile("t", line.Tile())
	full := k.Barrier("full", 1)
	k.When(k.TID().X.EQI(0), func() {
		full.ArriveExpect(k.U32(256))
		line.Load(t, []dsl.Reg[dsl.U32]{k.U32(0)}, full)
	})
	full.Wait(k.U32(0))
}

// TestTensors creates the tensor maps of a kernel from the sizes of tensors alone, and launches the
// kernel with them. The driver must receive the boxes and swizzles that the kernel was built with.
func TestTensors(t *testing.T) {
	d := fakecuda.New()
	d.Params["tensors"] = []int{128, 128, 128, 128, 128, 128}
	dev := open(t, d)
	m := dsl.New("tensors", "sm_90a")
	tensors(m)
	loaded := must[*runtime.Module](t)(dev.Load(m, runtime.Cache("")))
	k := must[*runtime.Kernel](t)(loaded.Kernel("tensors"))
	f := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 1<<16))
	h := must[*runtime.Buffer[runtime.BF16]](t)(runtime.Alloc[runtime.BF16](dev, 1<<20))
	w := runtime.Window{Lower: []int{-1, -1}, Upper: []int{1, 1}}
	makes := []func() (*runtime.TensorMap, error){
		func() (*runtime.TensorMap, error) { return k.Tensor("line", f, []int{1 << 16}) },
		func() (*runtime.TensorMap, error) { return k.TensorMap("matrix", h, 256, 512) },
		func() (*runtime.TensorMap, error) { return k.Tensor("cube", h, []int{16, 64, 64}) },
		func() (*runtime.TensorMap, error) { return k.Tensor("five", f, []int{2, 2, 3, 8, 16}) },
		func() (*runtime.TensorMap, error) {
			return k.Images("images", h, []int{2, 30, 30, 128}, w)
		},
		func() (*runtime.TensorMap, error) { return k.Tensor("rows", f, []int{1000, 64}) },
	}
	args := make([]any, len(makes))
	for i, make := range makes {
		args[i] = must[*runtime.TensorMap](t)(make())
	}
	check(t, k.Launch(runtime.Grid(1), args...))
	type told struct {
		Kind, Dimensions byte
		Swizzle          byte // as the driver numbers them
		Copied           []uint16
	}
	var got []told
	values := d.Launches()[0].Values
	for at := 0; at < len(values); at += 128 {
		b := values[at : at+128]
		x := told{Kind: b[0], Dimensions: b[2], Swizzle: b[4]}
		n := int(b[2])
		if b[0] == 0x22 {
			n = 2
		}
		for i := range n {
			x.Copied = append(x.Copied, binary.LittleEndian.Uint16(b[24+2*i:]))
		}
		got = append(got, x)
	}
	want := []told{
		{0x11, 1, 0, []uint16{64}},
		{0x11, 2, 3, []uint16{64, 32}}, // a copy is as wide as the swizzle
		{0x11, 3, 3, []uint16{64, 4, 2}},
		{0x11, 5, 1, []uint16{8, 4, 3, 2, 1}},
		{0x22, 4, 3, []uint16{64, 96}},
		{0x11, 2, 3, []uint16{32, 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments of the driver (-want +got):\n%s", diff)
	}

	other := must[*runtime.TensorMap](t)(runtime.Tiled(h, []int{16, 64, 64}, []int{4, 4, 64},
		runtime.Swizzle(128)))
	args[2] = other
	refused(t, k.Launch(runtime.Grid(1), args...), runtime.ErrArgument,
		"a tensor map of boxes of 4x4x64 bf16 with a swizzle of 128, but the kernel was built for boxes of 2x4x64 bf16 with a swizzle of 128")
	args[2], args[4] = args[4], args[2]
	refused(t, k.Launch(runtime.Grid(1), args...), runtime.ErrArgument,
		"a tensor map of 96 pixels of 64 channels of bf16 in 4 dimensions with a swizzle of 128, but the kernel was built for boxes of 2x4x64 bf16 with a swizzle of 128")
	for _, wrong := range []struct {
		make  func() (*runtime.TensorMap, error)
		words string
	}{
		{func() (*runtime.TensorMap, error) { return k.TensorMap("cube", h, 16, 64) },
			"cube has 3 dimensions, but the tensor is [16 64]"},
		{func() (*runtime.TensorMap, error) { return k.Tensor("images", h, []int{2, 30, 30, 128}) },
			"kernel tensors copies images in im2col mode; create its tensor map with Images"},
		{func() (*runtime.TensorMap, error) { return k.Images("cube", h, []int{16, 64, 64}, w) },
			"kernel tensors copies cube in tiled mode; create its tensor map with Tensor"},
		{func() (*runtime.TensorMap, error) {
			return k.Images("images", h, []int{2, 30, 30, 128}, runtime.Window{})
		}, "kernel tensors, images: tensor map: the window corners have 0 and 0 dimensions, but the tensor has 2 spatial dimensions"},
		{func() (*runtime.TensorMap, error) { return k.Tensor("none", h, []int{16}) },
			"has no parameter none"},
		{func() (*runtime.TensorMap, error) { return k.Tensor("line", nil, []int{16}) },
			"cannot create a tensor map: the kernel or the buffer is nil"},
	} {
		_, err := wrong.make()
		refused(t, err, runtime.ErrArgument, wrong.words)
	}
}
