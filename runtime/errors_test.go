// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// TestArguments checks the error of every argument that does not fit.
func TestArguments(t *testing.T) {
	d := fakecuda.New()
	dev := open(t, d)
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	mixed := must[*runtime.Kernel](t)(m.Kernel("mixed"))
	x := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 8))
	closed := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 8))
	check(t, closed.Close())
	odd := must[*runtime.Buffer[float32]](t)(x.Slice(1, 2))
	other := open(t, fakecuda.New())
	foreign := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](other, 8))
	h := must[*runtime.Buffer[runtime.BF16]](t)(runtime.Alloc[runtime.BF16](dev, 64*64))
	tm := must[*runtime.TensorMap](t)(
		runtime.Tiled(h, []int{64, 64}, []int{64, 64}, runtime.Swizzle(128)))
	var none *runtime.Buffer[float32]
	var noMap *runtime.TensorMap
	grid := runtime.Grid(1)
	one := grid.Block(1)
	for _, test := range []struct {
		err   error
		kind  error
		words string
	}{
		{k.Launch(grid), runtime.ErrArgument,
			"it takes 4 arguments, but 0 are given; its parameters are (a: a pointer, b: a pointer, c: a pointer, n: .u32)"},
		{k.Launch(grid, x, nil, x, 1), runtime.ErrArgument, "argument 2, b: nil"},
		{k.Launch(grid, x, none, x, 1), runtime.ErrArgument, "argument 2, b: a nil buffer"},
		{k.Launch(grid, x, x, closed, 1), runtime.ErrClosed,
			"argument 3, c: buffer of 8 float32: closed"},
		{k.Launch(grid, x, odd, x, 1), runtime.ErrArgument,
			"a buffer of 8 float32 whose address is not a multiple of 16, the alignment that the kernel declares"},
		{k.Launch(grid, foreign, x, x, 1), runtime.ErrArgument, "Device.Reach"},
		{k.Launch(grid, 1, x, x, 1), runtime.ErrArgument,
			"int, but the parameter is a pointer; pass an address as a runtime.Address"},
		{k.Launch(grid, uint64(1), x, x, 1), runtime.ErrArgument,
			"uint64, but the parameter is a pointer; pass an address as a runtime.Address"},
		{k.Launch(grid, x, x, x, -1), runtime.ErrArgument, "-1 is not a value of .u32"},
		{k.Launch(grid, x, x, x, 1<<32), runtime.ErrArgument, "4294967296 is not a value of .u32"},
		{k.Launch(grid, x, x, x, uint64(1)), runtime.ErrArgument,
			"uint64, but the parameter is .u32"},
		{k.Launch(grid, x, x, x, float32(1)), runtime.ErrArgument,
			"float32, but the parameter is .u32"},
		{k.Launch(grid, x, x, x, x), runtime.ErrArgument,
			"buffer of 8 float32, but the parameter is .u32"},
		{k.Launch(grid, x, x, x, tm), runtime.ErrArgument,
			"a tensor map, but the parameter is .u32"},
		{k.Launch(grid, x, x, x, "1"), runtime.ErrArgument,
			"a string, which is not a supported argument; arguments are buffers, tensor maps, pinned memory, numbers and []byte"},
		{mixed.Launch(one, uint8(1), int16(1), 1.0, uint64(1), tm, 1.0, []byte("abcde")),
			runtime.ErrArgument, "float64, but the parameter is .f32"},
		{mixed.Launch(one, uint8(1), int16(1), float32(1), uint64(1), noMap, 1.0, []byte("abcde")),
			runtime.ErrArgument, "a nil tensor map"},
		{mixed.Launch(one, uint8(1), int16(1), float32(1), uint64(1), x, 1.0, []byte("abcde")),
			runtime.ErrArgument, "the parameter is .b8[128], a tensor map"},
		{mixed.Launch(one, uint8(1), int16(1), float32(1), uint64(1), tm, 1.0, []byte("abc")),
			runtime.ErrArgument, "3 bytes, but the parameter is .b8[5]"},
		{mixed.Launch(one, 256, int16(1), float32(1), uint64(1), tm, 1.0, []byte("abcde")),
			runtime.ErrArgument, "256 is not a value of .u8"},
		{mixed.Launch(one, 255, 32768, float32(1), uint64(1), tm, 1.0, []byte("abcde")),
			runtime.ErrArgument, "32768 is not a value of .s16"},
		{mixed.Launch(one, 255, -32768, float32(1), uint64(1)<<63, tm, 1.0, []byte("abcde")), nil,
			""},
	} {
		if test.words == "" {
			check(t, test.err)
			continue
		}
		refused(t, test.err, test.kind, test.words)
	}
	if n := len(d.Launches()); n != 1 {
		t.Errorf("%d launches reached the driver; 1 was right", n)
	}
}

// TestShapes checks the error of every invalid launch.
func TestShapes(t *testing.T) {
	dev := open(t, fakecuda.New())
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	mixed := must[*runtime.Kernel](t)(m.Kernel("mixed"))
	clustered := must[*runtime.Kernel](t)(m.Kernel("clustered"))
	for _, test := range []struct {
		err   error
		words string
	}{
		{k.Launch(runtime.Grid(0)), "the grid has 0 blocks, but x must be from 1 to 2147483647"},
		{k.Launch(runtime.Threads(0)), "the grid has 0 blocks"},
		{k.Launch(runtime.Grid(1, 70000)),
			"the grid has 1x70000 blocks, but y must be from 1 to 65535"},
		{k.Launch(runtime.Grid(1, 2, 3, 4)), "the grid has more than three dimensions"},
		{k.Launch(runtime.Grid(1).Block(1, 1, 1, 1)), "the block has more than three dimensions"},
		{k.Launch(runtime.Grid(1).Block(128)),
			"blocks of 128 threads, but the kernel declares 256"},
		{k.Launch(runtime.Grid(1).Shared(300_000)), "a block on cuda:0 has at most 232448"},
		{k.Launch(runtime.Grid(1).Shared(-1)), "the size of dynamic shared memory is -1 bytes"},
		{k.Launch(runtime.Grid(3).Cluster(2)),
			"the grid of 3 blocks is not a multiple of the cluster size 2"},
		{k.Launch(runtime.Grid(32).Cluster(32)),
			"a cluster of 32 has 32 blocks, expected at most 16"},
		{mixed.Launch(runtime.Grid(1)), "the block size is unknown; set it with Config.Block (-block of ptxdsl run)"},
		{mixed.Launch(runtime.Grid(1).Block(128)),
			"a block of 128 has 128 threads, expected at most 64, as the kernel declares"},
		{mixed.Launch(runtime.Grid(1).Block(1, 1, 65)),
			"a block has 1x1x65 threads, but z must be from 1 to 64"},
		{clustered.Launch(runtime.Grid(4).Cluster(4)),
			"clusters of 4 blocks, but the kernel declares 2"},
		{clustered.Launch(runtime.Grid(3)),
			"the grid of 3 blocks is not a multiple of the cluster size 2"},
	} {
		refused(t, test.err, runtime.ErrArgument, test.words)
	}
	old := fakecuda.New()
	old.Attributes = map[int]int{75: 8, 76: 0, 95: 0, 120: 0, 127: 0}
	ampere := open(t, old)
	m = must[*runtime.Module](t)(ampere.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k = must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	b := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](ampere, 1024))
	refused(t, k.Launch(runtime.Grid(2).Cluster(2)), runtime.ErrArgument,
		"cuda:0 does not support clusters, which require sm_90")
	refused(t, k.Launch(runtime.Grid(2).Programmatic()), runtime.ErrArgument,
		"cuda:0 does not support programmatic launches, which require sm_90")
	refused(t, k.Launch(runtime.Grid(2).Cooperative()), runtime.ErrArgument,
		"cuda:0 does not support cooperative launches")
	_, err := runtime.Tiled(b, []int{32, 32}, []int{8, 8})
	refused(t, err, runtime.ErrArgument, "cuda:0 does not support tensor maps, which require sm_90")
	_, err = ampere.Load(runtime.PTX(strings.Replace(vecadd, "sm_80", "sm_90a", 1)))
	refused(t, err, runtime.ErrArgument,
		"it is built for sm_90a, but cuda:0, Pretended H200, runs sm_80")
}

// TestUse checks the errors for values that are closed, nil, too short or on another device.
func TestUse(t *testing.T) {
	d := fakecuda.New()
	dev := open(t, d)
	other := open(t, fakecuda.New())
	x := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 8))
	s := must[*runtime.Stream](t)(dev.Stream())
	e := must[*runtime.Event](t)(dev.Event())
	p := must[*runtime.Pinned[float32]](t)(runtime.AllocPinned[float32](dev, 4))
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	elsewhere := must[*runtime.Stream](t)(other.Stream())
	wide := must[*runtime.Buffer[float64]](t)(runtime.Alloc[float64](dev, 8))
	part := must[*runtime.Buffer[float32]](t)(x.Slice(2, 4))
	var none *runtime.Buffer[float32]
	var noStream *runtime.Stream
	var noEvent *runtime.Event
	var noGraph *runtime.Graph
	var noDevice *runtime.Device
	var noModule *runtime.Module
	var noKernel *runtime.Kernel
	second := func(_ any, err error) error { return err }
	argument := runtime.ErrArgument
	for _, test := range []struct {
		err   error
		kind  error
		words string
	}{
		{second(runtime.Alloc[float32](dev, 0)), argument, "a buffer of 0 elements"},
		{second(runtime.Alloc[float32](dev, -1)), argument, "a buffer of -1 elements"},
		{second(runtime.Alloc[float32](nil, 1)), argument, "a nil device"},
		{second(runtime.Upload[float32](dev, nil)), argument, "a buffer of 0 elements"},
		{second(runtime.Alloc[float32](dev, 1<<30)), runtime.ErrMemory,
			"buffer of 1073741824 float32, 4294967296 bytes: cuMemAlloc_v2: out of memory (CUDA_ERROR_OUT_OF_MEMORY)"},
		{second(runtime.AllocPinned[float32](dev, 0)), argument, "pinned memory of 0 elements"},
		{second(runtime.Download(none)), argument, "nil buffer"},
		{second(x.Slice(4, 9)), argument, "cannot slice elements 4 to 9 of a buffer of 8 float32"},
		{second(x.Slice(3, 3)), argument, "elements 3 to 3"},
		{second(x.Slice(-1, 3)), argument, "elements -1 to 3"},
		{x.Write(make([]float32, 7)), argument,
			"the slice has 7 elements, but the buffer has 8; use Slice for a part of it"},
		{x.Read(make([]float32, 9)), argument,
			"the slice has 9 elements, but the buffer has 8; use Slice for a part of it"},
		{x.CopyFrom(part), argument,
			"the other buffer has 2 elements, but the buffer has 8; use Slice for a part of it"},
		{x.CopyFrom(nil), argument, "a nil buffer"},
		{x.WritePinned(p), argument,
			"the pinned memory has 4 elements, but the buffer has 8; use Slice for a part of it"},
		{x.WritePinned(nil), argument, "nil pinned memory"},
		{x.On(elsewhere).Fill(1), argument, "stream belongs to cuda:0, not to cuda:0"},
		{wide.Fill(1), argument, "patterns of at most four bytes"},
		{part.Close(), argument,
			"cannot close a slice of a buffer of 8 float32, or a buffer that a stream allocated: close the whole buffer"},
		{none.Close(), argument, "cannot close a nil buffer"},
		{noStream.Sync(), argument,
			"the nil stream is the default stream of every device; use Device.Sync to wait for it"},
		{second(noStream.Record(nil)), argument,
			"the nil stream cannot record; make a stream with Device.Stream"},
		{noEvent.Sync(), argument, "a nil event"},
		{second(e.Since(noEvent)), argument, "a nil event"},
		{noGraph.Replay(s), argument, "a nil graph"},
		{noDevice.Close(), argument, "a nil device"},
		{noDevice.Sync(), argument, "a nil device"},
		{noDevice.Lost(), argument, "a nil device"},
		{dev.Reach(nil), argument, "cannot reach nil"},
		{second(noModule.Kernel("k")), argument, "the module is nil"},
		{noKernel.Launch(runtime.Grid(1)), argument, "a nil kernel"},
		{second(m.Kernel("vecad")), argument, `has no kernel "vecad"; did you mean vecadd?`},
		{second(m.Kernel("zzzzzzzzzz")), argument, "it has clustered, mixed, vecadd"},
		{second(dev.Load(nil)), argument, "cannot load a nil module"},
		{second(dev.LoadCubin("x", nil)), argument, "the cubin is empty"},
		{second(runtime.Variable[uint32](m, "nothing")), nil, "named symbol not found"},
		{second(runtime.Open("gpu")), argument, `"gpu" is not a device`},
		{second(runtime.Open("cuda:x")), argument, `"cuda:x" is not a device`},
		{second(runtime.Open("emu:")), argument, `"emu:" is not an emulated device`},
		{second(runtime.Open("emu:sm_1")), argument, `"sm_1" is not a PTX target`},
	} {
		refused(t, test.err, test.kind, test.words)
	}
	check(t, errors.Join(x.Close(), s.Close(), e.Close(), p.Close(), m.Close()))
	k := second(m.Kernel("vecadd"))
	for _, err := range []error{x.Close(), s.Close(), e.Close(), p.Close(), m.Close(), x.Fill(1),
		part.Fill(1), s.Sync(), e.Record(nil), e.Sync(), k, second(x.Slice(0, 1)),
		x.Read(make([]float32, 8)), second(s.Record(nil)), second(s.Done()), second(e.Done())} {
		refused(t, err, runtime.ErrClosed, "closed")
	}
	check(t, dev.Close())
	for _, err := range []error{dev.Close(), dev.Sync(), wide.Fill(0), wide.Close(),
		second(dev.Stream()), second(dev.Event()), second(runtime.Alloc[int8](dev, 1)),
		second(dev.Load(runtime.PTX(vecadd))), second(runtime.AllocPinned[int8](dev, 1)),
		second(dev.LoadCubin("c", []byte{1})), dev.Do(func() error { return nil })} {
		refused(t, err, runtime.ErrClosed, "closed")
	}
}

// TestLost checks how a device behaves after an illegal access of a kernel.
func TestLost(t *testing.T) {
	d := fakecuda.New()
	d.Kernels["vecadd"] = func(d *fakecuda.Driver, _ fakecuda.Launch) { d.Lose() }
	library, err := d.Library()
	check(t, err)
	declare(d)
	c, err := library.Open(0)
	check(t, err)
	dev := runtime.On(c)
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	b := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 8))
	check(t, k.Launch(runtime.Grid(1), b, b, b, 8))
	refused(t, dev.Sync(), runtime.ErrLost, "CUDA_ERROR_ILLEGAL_ADDRESS")
	refused(t, dev.Lost(), runtime.ErrLost, "the last kernel launched was vecadd")
	refused(t, b.Fill(1), runtime.ErrLost,
		"fill of buffer of 8 float32: this process can no longer use cuda:0, and its memory is lost; restart the process: cuCtxSynchronize: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS); illegal memory access in a kernel: run it under compute-sanitizer or on the emulator; the last kernel launched was vecadd")
	refused(t, k.Launch(runtime.Grid(1), b, b, b, 8), runtime.ErrLost, "vecadd")
	check(t, dev.Close())
	_, err = library.Open(0)
	refused(t, err, runtime.ErrLost,
		"this process can no longer use cuda:0, and its memory is lost; restart the process: cuDevicePrimaryCtxRetain: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS); the device was lost in an earlier kernel")
}

// TestLostAtLast checks that an illegal access is reported when the device is closed, if not
// before.
func TestLostAtLast(t *testing.T) {
	d := fakecuda.New()
	d.Kernels["vecadd"] = func(d *fakecuda.Driver, _ fakecuda.Launch) { d.Lose() }
	library, err := d.Library()
	check(t, err)
	declare(d)
	c, err := library.Open(0)
	check(t, err)
	dev := runtime.On(c)
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	b := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 8))
	check(t, k.Launch(runtime.Grid(1), b, b, b, 8))
	refused(t, dev.Close(), runtime.ErrLost, "the last kernel launched was vecadd")
}

// TestTensorMaps checks the error of every invalid tensor map, and the arguments that the driver
// receives for a valid one.
func TestTensorMaps(t *testing.T) {
	dev := open(t, fakecuda.New())
	b := must[*runtime.Buffer[runtime.BF16]](t)(runtime.Alloc[runtime.BF16](dev, 128*64))
	odd := must[*runtime.Buffer[runtime.BF16]](t)(b.Slice(1, 128*64))
	tiled := func(sizes, box []int, options ...runtime.MapOption) error {
		_, err := runtime.Tiled(b, sizes, box, options...)
		return err
	}
	col := func(sizes []int, w runtime.Window, channels, pixels int) error {
		_, err := runtime.Im2col(b, sizes, w, channels, pixels)
		return err
	}
	_, oddError := runtime.Tiled(odd, []int{8, 8}, []int{8, 8})
	for _, test := range []struct {
		err   error
		words string
	}{
		{tiled([]int{128, 64}, []int{64, 64}, runtime.Swizzle(128), runtime.Promotion(256),
			runtime.NaN(), runtime.Steps(1, 1)), ""},
		{tiled([]int{64}, []int{64}), ""},
		{tiled([]int{128, 60}, []int{8, 8}, runtime.Strides(64)), ""},
		{tiled([]int{128, 64}, []int{8, 16}, runtime.As("f16")), ""},
		{tiled([]int{128, 64}, []int{64}), "the box has 1 dimensions, but the tensor has 2"},
		{tiled([]int{128, 64}, []int{64, 257}),
			"the box is [64 257], expected 1 to 256 elements in each dimension"},
		{tiled([]int{128, 64}, []int{64, 0}),
			"the box is [64 0], expected 1 to 256 elements in each dimension"},
		{tiled([]int{128, 64}, []int{8, 4}),
			"rows of a box of 4 bf16 have 8 bytes, expected a multiple of 16"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.Swizzle(64)),
			"rows of a box of 64 bf16 have 128 bytes, more than the swizzle of 64 bytes"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.Swizzle(48)), "the swizzle is 48 bytes"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.Promotion(32)),
			"the L2 promotion is 32 bytes, expected 64, 128 or 256"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.Interleave(8)), "the interleave is 8 bytes"},
		{tiled([]int{129, 64}, []int{8, 64}),
			"a tensor of [129 64] bf16 covers 16512 bytes, but the buffer has 16384"},
		{tiled([]int{64, 60}, []int{8, 8}), "a stride of 60 bf16 is 120 bytes"},
		{tiled([]int{128, 0}, []int{8, 8}),
			"the tensor is [128 0], expected 1 to 2^32 elements in each dimension"},
		{tiled([]int{1, 1, 1, 1, 1, 64}, []int{1, 1, 1, 1, 1, 64}),
			"the tensor has 6 dimensions, expected one to five"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.As("bf17")),
			"bf17 is not an element type of tensor maps"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.As("f32")),
			"the elements have type f32, but the buffer holds runtime.BF16"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.Steps(1)),
			"1 element strides are given for 2 dimensions"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.Steps(9, 1)),
			"an element stride is 9, expected 1 to 8"},
		{tiled([]int{128, 64}, []int{8, 64}, runtime.Strides(1, 2)),
			"2 strides are given for 2 dimensions"},
		{oddError, "address of buffer of 8192 runtime.BF16 is 0x7f0000005002, expected a multiple of 16 bytes"},
		{col([]int{2, 8, 8, 64}, runtime.Window{Lower: []int{-1, -1}, Upper: []int{1, 1}}, 64, 128),
			""},
		{col([]int{8, 64}, runtime.Window{}, 64, 64),
			"the im2col tensor has 2 dimensions, expected three to five"},
		{col([]int{2, 8, 8, 64}, runtime.Window{Lower: []int{-1}, Upper: []int{1, 1}}, 64, 64),
			"the window corners have 1 and 2 dimensions, but the tensor has 2 spatial dimensions"},
		{col([]int{2, 8, 8, 64}, runtime.Window{Lower: []int{-129, 0}, Upper: []int{1, 1}}, 64, 64),
			"a window corner is -129, but with 2 spatial dimensions it must be from -128 to 127"},
		{col([]int{2, 8, 8, 64}, runtime.Window{Lower: []int{1, 1}, Upper: []int{1, 1}}, 64, 64),
			"a window has the corners 1 and 1, but the corners are -1 and -1 for a filter of 3 elements"},
		{col([]int{2, 8, 1, 64}, runtime.Window{Lower: []int{0, 0}, Upper: []int{-1, -1}}, 64, 64),
			"a window with the corners 0 and -1 contains none of 1 pixels"},
		{col([]int{2, 8, 8, 64}, runtime.Window{Lower: []int{0, 0}, Upper: []int{1, 1}}, 257, 64),
			"257 channels of 64 pixels, expected 1 to 256 channels and 1 to 1024 pixels"},
	} {
		if test.words == "" {
			check(t, test.err)
			continue
		}
		refused(t, test.err, runtime.ErrArgument, test.words)
	}
}
