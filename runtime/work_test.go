// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/internal/fakecuda"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime"
)

func TestBuffers(t *testing.T) {
	dev := open(t, fakecuda.New())
	s := must[*runtime.Stream](t)(dev.Stream(runtime.Apart(), runtime.Priority(-2)))
	b := must[*runtime.Buffer[int16]](t)(runtime.Upload(dev, []int16{1, 2, 3, 4, 5, 6}))
	part := must[*runtime.Buffer[int16]](t)(b.Slice(1, 4))
	inner := must[*runtime.Buffer[int16]](t)(part.Slice(1, 2))
	check(t, part.On(s).Fill(-1))
	check(t, inner.Fill(9))
	c := must[*runtime.Buffer[int16]](t)(runtime.Alloc[int16](dev, 6))
	check(t, c.On(s).CopyFrom(b))
	got := make([]int16, 6)
	check(t, c.On(s).Read(got))
	if d := cmp.Diff([]int16{1, -1, 9, -1, 5, 6}, got); d != "" || inner.Len() != 1 ||
		inner.Address() != b.Address()+4 || b.Device() != dev {
		t.Error(d)
	}
	p := must[*runtime.Pinned[int16]](t)(runtime.AllocPinned[int16](dev, 6))
	copy(p.Slice(), []int16{7, 7, 7, 7, 7, 8})
	check(t, errors.Join(b.On(s).WritePinned(p), p.Close()))
	q := must[*runtime.Pinned[int16]](t)(runtime.AllocPinned[int16](dev, 6))
	check(t, errors.Join(b.On(s).ReadPinned(q), s.Sync()))
	if q.Slice()[5] != 8 {
		t.Error(q.Slice())
	}
	l := must[*runtime.Buffer[float64]](t)(runtime.Alloc[float64](dev, 3))
	check(t, l.Fill(0))
	if got := must[[]float64](t)(runtime.Download(l)); got[2] != 0 {
		t.Error(got)
	}
	free, total, err := dev.Memory()
	if err != nil || total != 1<<30 || free != total-2*12-24 {
		t.Error(free, total, err)
	}
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	v := must[*runtime.Buffer[uint32]](t)(runtime.Variable[uint32](m, "counter"))
	check(t, v.Write([]uint32{0: 5, 15: 6}))
	if v.Len() != 16 || v.Close() == nil {
		t.Error("a variable is not what it should be")
	}
}

// TestPeers holds copies between devices, and kernels that use another's memory.
func TestPeers(t *testing.T) {
	d := fakecuda.New()
	d.GPUs = 2
	one := open(t, d)
	l, err := d.Library()
	check(t, err)
	c, err := l.Open(1)
	check(t, err)
	two := runtime.On(c)
	x := must[*runtime.Buffer[float32]](t)(runtime.Upload(one, []float32{1, 2, 3, 4}))
	y := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](two, 4))
	check(t, y.CopyFrom(x))
	if got := must[[]float32](t)(runtime.Download(y)); got[3] != 4 {
		t.Error(got)
	}
	m := must[*runtime.Module](t)(one.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	refused(t, k.Launch(runtime.Grid(1), x, y, x, 4), runtime.ErrArgument,
		"buffer of 4 float32 belongs to cuda:1, but the kernel runs on cuda:0; Device.Reach enables access to that memory")
	check(t, one.Reach(two))
	check(t, one.Reach(two))
	check(t, k.Launch(runtime.Grid(1), x, y, x, 4))
	check(t, two.Close())
}

func TestStreams(t *testing.T) {
	d := fakecuda.New()
	addFake(d)
	dev := open(t, d)
	s := must[*runtime.Stream](t)(dev.Stream())
	e, f := must[*runtime.Event](t)(dev.Event()), must[*runtime.Event](t)(dev.Event())
	check(t, errors.Join(e.Record(s), s.Wait(e), (*runtime.Stream)(nil).Wait(e), f.Record(nil),
		f.Sync()))
	if took := must[time.Duration](t)(f.Since(e)); took != 1500*time.Microsecond {
		t.Error(took)
	}
	if !must[bool](t)(s.Done()) || !must[bool](t)(e.Done()) {
		t.Error("stream or event is not done")
	}
	d.Fail = func(symbol string) uintptr {
		if symbol == "cuStreamQuery" || symbol == "cuEventQuery" {
			return 600 // not ready
		}
		return 0
	}
	if must[bool](t)(s.Done()) || must[bool](t)(e.Done()) {
		t.Error("everything is done")
	}
	d.Fail = nil
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	k := must[*runtime.Kernel](t)(m.Kernel("vecadd"))
	b := must[*runtime.Buffer[float32]](t)(runtime.Upload(dev, []float32{1}))
	g := must[*runtime.Graph](t)(
		s.Record(func() error { return k.Launch(runtime.Grid(1).On(s), b, b, b, 1) }))
	if n := len(d.Launches()); n != 0 {
		t.Errorf("recording made %d launches", n)
	}
	check(t, errors.Join(g.Replay(s), g.Replay(nil)))
	if got := must[[]float32](t)(runtime.Download(b)); got[0] != 4 {
		t.Error(got)
	}
	broken := errors.New("broken")
	_, err := s.Record(func() error { return broken })
	refused(t, err, broken, "recording: broken")
	d.Fail = func(symbol string) uintptr {
		if symbol == "cuGraphInstantiateWithFlags" {
			return 1
		}
		return 0
	}
	_, err = s.Record(func() error { return nil })
	refused(t, err, nil, "cuGraphInstantiateWithFlags: invalid argument")
	d.Fail = nil
	check(t, g.Close())
	refused(t, g.Replay(s), runtime.ErrClosed, "graph: closed")
	if n := d.Open("graph") + d.Open("exec"); n != 0 {
		t.Errorf("%d graphs are left", n)
	}
}

// TestFailures makes every function of the driver fail, one after the other. Each failure must be
// an error that names the function, and all resources must be freed.
func TestFailures(t *testing.T) {
	work := func(dev *runtime.Device) error {
		m, err := dev.Load(runtime.PTX(vecadd), runtime.Cache(""))
		if err != nil {
			return err
		}
		k, e1 := m.Kernel("vecadd")
		b, e2 := runtime.Upload(dev, []float32{1})
		s, e3 := dev.Stream()
		e, e4 := dev.Event()
		p, e5 := runtime.AllocPinned[float32](dev, 1)
		if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
			return err
		}
		h, e1 := runtime.Alloc[runtime.BF16](dev, 64)
		if e1 != nil {
			return e1
		}
		_, e2 = runtime.Tiled(h, []int{64}, []int{64})
		_, e3 = runtime.Im2col(h, []int{1, 1, 64}, runtime.Window{Lower: []int{0}, Upper: []int{0}},
			64, 1)
		_, e4 = k.Occupancy(runtime.Grid(1))
		_, e5 = k.Clusters(runtime.Grid(2).Cluster(2))
		_, e6 := runtime.Variable[uint32](m, "counter")
		g, e7 := s.Record(func() error { return k.Launch(runtime.Grid(1).On(s), b, b, b, 1) })
		if err := errors.Join(e1, e2, e3, e4, e5, e6, e7); err != nil {
			return err
		}
		_, _, e1 = dev.Memory()
		_, e2 = s.Done()
		_, e3 = e.Done()
		_, e4 = e.Since(e)
		_, e5 = runtime.Download(b)
		bytes, e6 := runtime.Alloc[uint8](dev, 1)
		if e6 != nil {
			return e6
		}
		return errors.Join(e1, e2, e3, e4, e5, e.Record(s), s.Wait(e), e.Sync(), s.Sync(),
			dev.Sync(), b.On(s).Fill(1), bytes.Fill(1), h.Fill(1), b.CopyFrom(b),
			b.On(s).WritePinned(p),
			b.On(s).ReadPinned(p), g.Replay(s), k.Launch(runtime.Grid(2).Cluster(2), b, b, b, 1),
			k.Launch(runtime.Grid(1).Shared(100_000), b, b, b, 1),
			g.Close(), p.Close(), e.Close(), s.Close(), b.Close(), m.Close())
	}
	quiet := fakecuda.New()
	dev := open(t, quiet)
	quiet.Calls()
	check(t, work(dev))
	seen := make(map[string]bool)
	for _, symbol := range quiet.Calls() {
		seen[symbol] = true
	}
	if len(seen) < 40 {
		t.Errorf("only %d functions of the driver were called", len(seen))
	}
	for symbol := range seen {
		if symbol == "cuGetErrorName" || symbol == "cuGetErrorString" {
			continue
		}
		t.Run(symbol, func(t *testing.T) {
			d := fakecuda.New()
			l, err := d.Library()
			check(t, err)
			declare(d)
			c, err := l.Open(0)
			check(t, err)
			dev := runtime.On(c)
			d.Fail = func(s string) uintptr {
				if s == symbol {
					return 999
				}
				return 0
			}
			refused(t, work(dev), nil, symbol)
			d.Fail = nil
			check(t, dev.Close())
			if n := d.Open("context"); n != 0 {
				t.Error("the context is left")
			}
		})
	}
}

// TestManyGoroutines has goroutines use one device at once, for the race detector.
func TestManyGoroutines(t *testing.T) {
	d := fakecuda.New()
	addFake(d)
	dev := open(t, d)
	m := must[*runtime.Module](t)(dev.Load(runtime.PTX(vecadd), runtime.Cache("")))
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() {
			errs[i] = func() error {
				k, err := m.Kernel("vecadd")
				if err != nil {
					return err
				}
				s, err := dev.Stream()
				if err != nil {
					return err
				}
				for n := 1; n < 50; n++ {
					b, err := runtime.Upload(dev, make([]float32, n))
					if err != nil {
						return err
					}
					on := b.On(s)
					if err := errors.Join(on.Fill(float32(i)),
						k.Launch(runtime.Threads(n).On(s), b, b, b, n),
						k.Launch(runtime.Grid(1).Shared(49_000+n).On(s), b, b, b, n)); err != nil {
						return err
					}
					got, err := runtime.Download(on)
					if err != nil {
						return err
					}
					if got[n-1] != float32(4*i) {
						return errors.New("a goroutine sees another's numbers")
					}
					if err := b.Close(); err != nil {
						return err
					}
				}
				return s.Close()
			}()
		})
	}
	group.Wait()
	check(t, errors.Join(errs...))
}

// TestSource checks what a launch verifies for a kernel that was built in Go: element types, boxes,
// shared memory and lines.
func TestSource(t *testing.T) {
	m := dsl.New("built", "sm_90a")
	k := m.Kernel("scale", dsl.Threads(64))
	x := dsl.Global[dsl.F32](k, "x")
	tiles := k.TensorMap("tiles", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
	shared := k.SharedTiles("stage", tiles.Tile(), 8)
	bar := k.Barrier("full", 1)
	k.If(k.TID().X.EQI(0), func() {
		bar.ArriveExpect(k.U32(tiles.Tile().Bytes()))
		tiles.Load(shared.At(k.U32(0)), k.U32(0), k.U32(0), bar)
	})
	x.StoreI(0, k.F32(1))

	d := fakecuda.New()
	d.Params["scale"] = []int{8, 128}
	dev := open(t, d)
	d.Params["scale"] = []int{8, 128}
	loaded := must[*runtime.Module](t)(dev.Load(m, runtime.Cache("")))
	scale := must[*runtime.Kernel](t)(loaded.Kernel("scale"))
	f := must[*runtime.Buffer[float32]](t)(runtime.Alloc[float32](dev, 64))
	i := must[*runtime.Buffer[int32]](t)(runtime.Alloc[int32](dev, 64))
	h := must[*runtime.Buffer[runtime.BF16]](t)(runtime.Alloc[runtime.BF16](dev, 64*64))
	tm := must[*runtime.TensorMap](t)(scale.TensorMap("tiles", h, 64, 64))
	other := must[*runtime.TensorMap](t)(
		runtime.Tiled(h, []int{64, 64}, []int{32, 64}, runtime.Swizzle(128)))
	check(t, scale.Launch(runtime.Grid(1), f, tm))
	l := d.Launches()
	if len(l) != 1 || int(l[0].Shared) != k.DynamicShared() || k.DynamicShared() < 8*64*128 {
		t.Errorf("launched with %+v, and the kernel uses %d bytes of shared memory", l,
			k.DynamicShared())
	}
	refused(t, scale.Launch(runtime.Grid(1), i, tm), runtime.ErrArgument,
		"a buffer of int32, but the parameter is a pointer to f32")
	refused(t, scale.Launch(runtime.Grid(1), f, other), runtime.ErrArgument,
		"a tensor map of boxes of 32x64 bf16 with a swizzle of 128, but the kernel was built for boxes of 64x64 bf16 with a swizzle of 128")
	refused(t, scale.Launch(runtime.Grid(1).Shared(1024), f, tm), runtime.ErrArgument,
		"1024 bytes of dynamic shared memory, but the kernel uses 65552")
	_, err := scale.TensorMap("x", h, 64, 64)
	refused(t, err, runtime.ErrArgument,
		"parameter x is a pointer and not a tensor map")
	_, err = scale.TensorMap("y", h, 64, 64)
	refused(t, err, runtime.ErrArgument, "has no parameter y")

	d.Log = "ptxas application ptx input, line " + lineOf(t, m, "st.global.f32") +
		"; error   : Something is wrong\nptxas fatal   : Ptx assembly aborted due to errors\n"
	d.Reject = true
	_, err = dev.Load(m, runtime.Cache(""))
	refused(t, err, nil, "work_test.go")
	refused(t, err, nil, "Something is wrong")
	refused(t, err, nil, "in the PTX")
	var load *runtime.LoadError
	if !errors.As(err, &load) || load.Findings.Errors() != 1 {
		t.Errorf("%v", err)
	}
	if strings.Contains(err.Error(), ":0:") {
		t.Errorf("a place without a column: %v", err)
	}
}

// lineOf returns the line of a module's text that contains a word.
func lineOf(t *testing.T, m *dsl.Module, word string) string {
	t.Helper()
	text := must[string](t)(m.Text())
	before, _, found := strings.Cut(text, word)
	if !found {
		t.Fatalf("no %s in\n%s", word, text)
	}
	return strconv.Itoa(1 + strings.Count(before, "\n"))
}

// TestHalves checks the conversions of all half-precision and bfloat16 numbers, and rounding.
func TestHalves(t *testing.T) {
	for n := range 1 << 16 {
		if f := runtime.F16(n).Float32(); f == f && runtime.ToF16(f) != runtime.F16(n) ||
			f != f && runtime.ToF16(f)&0x7c00 != 0x7c00 {
			t.Fatalf("half %#04x is %v, and that is %#04x", n, f, runtime.ToF16(f))
		}
		if f := runtime.BF16(n).Float32(); f == f && runtime.ToBF16(f) != runtime.BF16(n) ||
			f != f && runtime.ToBF16(f).Float32() == runtime.ToBF16(f).Float32() {
			t.Fatalf("bfloat16 %#04x is %v, and that is %#04x", n, f, runtime.ToBF16(f))
		}
	}
	inf := float32(math.Inf(1))
	for _, test := range []struct{ x, half, brain float32 }{
		{1 + 1.0/2048, 1, 1},            // half way: to even
		{1 + 3.0/2048, 1 + 2.0/1024, 1}, // half way: to even, upwards
		{1 + 1.0/256, 1 + 1.0/256, 1},   // likewise, in bfloat16
		{1 + 3.0/256, 1 + 3.0/256, 1 + 2.0/128},
		{65519, 65504, 65536}, {65520, inf, 65536}, {-65520, -inf, -65536}, {inf, inf, inf},
		{1.0 / (1 << 25), 0, 1.0 / (1 << 25)}, {3.0 / (1 << 26), 1.0 / (1 << 24), 3.0 / (1 << 26)},
	} {
		if h, b := runtime.ToF16(test.x).Float32(),
			runtime.ToBF16(test.x).Float32(); h != test.half || b != test.brain {
			t.Errorf("%v is %v in half precision and %v in bfloat16, not %v and %v", test.x, h, b,
				test.half, test.brain)
		}
	}
}
