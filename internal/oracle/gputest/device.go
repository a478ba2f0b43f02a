// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// deviceChecks returns the checks of package runtime.
func deviceChecks() []Check {
	return []Check{
		{"runtime", "add", checkAdd},
		{"runtime", "parameters", checkParameters},
		{"runtime", "buffers", checkBuffers},
		{"runtime", "pinned", checkPinned},
		{"runtime", "streams", checkStreams},
		{"runtime", "graph", checkGraph},
		{"runtime", "occupancy", checkOccupancy},
		{"runtime", "attributes", checkAttributes},
		{"runtime", "tensor maps", checkTensorMaps},
		{"runtime", "shared memory", checkShared},
		{"runtime", "load", checkLoad},
		{"runtime", "launch", checkLaunch},
		{"runtime", "copy", checkCopy},
		{"runtime", "peer", checkPeer},
	}
}

func checkAdd(t *T) error {
	k, err := t.load("add")
	if err != nil {
		return err
	}
	for _, n := range []int{1, 31, 256, 1000, 1<<20 + 1} {
		xs, ys := t.Float32s(n), t.Float32s(n)
		x, e1 := runtime.Upload(t.Device, xs)
		y, e2 := runtime.Upload(t.Device, ys)
		z, e3 := runtime.Alloc[float32](t.Device, n)
		if err := errors.Join(e1, e2, e3); err != nil {
			return err
		}
		if err := k.Launch(runtime.Threads(n), x, y, z, n); err != nil {
			return err
		}
		zs, err := runtime.Download(z)
		if err != nil {
			return err
		}
		for i := range zs {
			if zs[i] != xs[i]+ys[i] {
				return fmt.Errorf("n = %d: element %d is %v, not %v", n, i, zs[i], xs[i]+ys[i])
			}
		}
		if err := errors.Join(x.Close(), y.Close(), z.Close()); err != nil {
			return err
		}
	}
	return nil
}

func checkParameters(t *T) error {
	k, err := t.load("mixed")
	if err != nil {
		return err
	}
	out, err := runtime.Alloc[float64](t.Device, 6)
	if err != nil {
		return err
	}
	if err := k.Launch(runtime.Grid(1), out, uint8(200), int16(-3), -70000, uint64(1)<<40,
		float32(0.5), 0.25); err != nil {
		return err
	}
	got, err := runtime.Download(out)
	if err != nil {
		return err
	}
	if expected := []float64{200, -3, -70000, 1 << 40, 0.5, 0.25}; !slices.Equal(got, expected) {
		return fmt.Errorf("the kernel saw %v, not %v", got, expected)
	}
	for i, p := range k.Params() {
		driver := k.Info().Params
		if k.Info().Known &&
			(i >= len(driver) || driver[i].Offset != p.Offset || driver[i].Size != p.Size) {
			return fmt.Errorf("parameter %d is at %d of %d bytes by the text; the driver says %v",
				i, p.Offset, p.Size, driver)
		}
	}
	return out.Close()
}

func checkBuffers(t *T) error {
	const n = 100_000
	xs := t.Uint32s(n)
	b, err := runtime.Upload(t.Device, xs)
	if err != nil {
		return err
	}
	part, err := b.Slice(1000, 2000)
	if err != nil {
		return err
	}
	if err := part.Fill(7); err != nil {
		return err
	}
	c, err := runtime.Alloc[uint32](t.Device, n)
	if err != nil {
		return err
	}
	if err := c.CopyFrom(b); err != nil {
		return err
	}
	got, err := runtime.Download(c)
	if err != nil {
		return err
	}
	for i := 1000; i < 2000; i++ {
		xs[i] = 7
	}
	if !slices.Equal(got, xs) {
		return errors.New("what was filled and copied is not what was expected")
	}
	w, e1 := runtime.Alloc[uint8](t.Device, 333)
	h, e2 := runtime.Alloc[runtime.BF16](t.Device, 333)
	l, e3 := runtime.Alloc[float64](t.Device, 333)
	if err := errors.Join(e1, e2, e3, w.Fill(9), h.Fill(runtime.ToBF16(1.5)),
		l.Fill(0)); err != nil {
		return err
	}
	ws, e1 := runtime.Download(w)
	hs, e2 := runtime.Download(h)
	ls, e3 := runtime.Download(l)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	if ws[332] != 9 || hs[332].Float32() != 1.5 || ls[332] != 0 {
		return errors.New("a buffer was not filled to its end")
	}
	return errors.Join(b.Close(), c.Close(), w.Close(), h.Close(), l.Close())
}

func checkPinned(t *T) error {
	const n = 1 << 20
	p, e1 := runtime.AllocPinned[uint32](t.Device, n)
	q, e2 := runtime.AllocPinned[uint32](t.Device, n)
	b, e3 := runtime.Alloc[uint32](t.Device, n)
	s, e4 := t.Device.Stream()
	k, e5 := t.load("increment")
	if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
		return err
	}
	copy(p.Slice(), t.Uint32s(n))
	on := b.On(s)
	err := errors.Join(on.WritePinned(p), k.Launch(runtime.Grid(64).On(s), b, n, 3),
		on.ReadPinned(q), s.Sync())
	if err != nil {
		return err
	}
	for i, v := range q.Slice() {
		if v != p.Slice()[i]+3 {
			return fmt.Errorf("element %d is %d, not %d", i, v, p.Slice()[i]+3)
		}
	}
	// a kernel can access pinned host memory
	if err := errors.Join(k.Launch(runtime.Grid(4).On(s), q, 1000, 1), s.Sync()); err != nil {
		return err
	}
	if q.Slice()[999] != p.Slice()[999]+4 || q.Slice()[1000] != p.Slice()[1000]+3 {
		return errors.New("a kernel did not reach pinned memory")
	}
	return errors.Join(p.Close(), q.Close(), b.Close(), s.Close())
}

func checkStreams(t *T) error {
	const n = 1 << 16
	spin, e1 := t.load("spin")
	increment, e2 := t.load("increment")
	b, e3 := runtime.Alloc[uint32](t.Device, n)
	s, e4 := t.Device.Stream(runtime.Apart())
	u, e5 := t.Device.Stream(runtime.Apart(), runtime.Priority(-1))
	e, e6 := t.Device.Event()
	f, e7 := t.Device.Event()
	if err := errors.Join(e1, e2, e3, e4, e5, e6, e7); err != nil {
		return err
	}
	clocks := uint64(t.Device.Info().Clock) * 20 // clock cycles in 20 ms
	err := errors.Join(b.On(s).Fill(1), e.Record(s), spin.Launch(runtime.Grid(1).On(s), clocks),
		increment.Launch(runtime.Grid(8).On(s), b, n, 1), f.Record(s))
	if err != nil {
		return err
	}
	if done, err := s.Done(); err != nil || done {
		return fmt.Errorf("a stream with a kernel of 20 ms is done: %v, %w", done, err)
	}
	if done, err := f.Done(); err != nil || done {
		return fmt.Errorf("the event behind a kernel of 20 ms has happened: %v, %w", done, err)
	}
	// the second stream waits for the first
	if err := errors.Join(u.Wait(f), increment.Launch(runtime.Grid(8).On(u), b, n, 1),
		u.Sync()); err != nil {
		return err
	}
	took, err := f.Since(e)
	if err != nil {
		return err
	}
	if err := want(took > 10*time.Millisecond && took < time.Second,
		"a kernel of about 20 ms took %v between events", took); err != nil {
		return err
	}
	got, err := runtime.Download(b)
	if err != nil {
		return err
	}
	if got[0] != 3 || got[n-1] != 3 {
		return fmt.Errorf("one increment on each of two streams made 1 to %d", got[0])
	}
	t.Note("20 ms of clocks took %v", took.Round(time.Microsecond))
	return errors.Join(b.Close(), s.Close(), u.Close(), e.Close(), f.Close())
}

func checkGraph(t *T) error {
	const n, launches, replays = 1024, 10, 5
	k, e1 := t.load("increment")
	b, e2 := runtime.Upload(t.Device, make([]uint32, n))
	s, e3 := t.Device.Stream()
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	g, err := s.Record(func() error {
		for i := range launches {
			if err := k.Launch(runtime.Grid(4).On(s), b, n, i); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if got, err := runtime.Download(b); err != nil || got[0] != 0 {
		return fmt.Errorf("recording ran the kernels: %d, %w", got[0], err)
	}
	for range replays {
		if err := g.Replay(s); err != nil {
			return err
		}
	}
	got, err := runtime.Download(b.On(s))
	if err != nil {
		return err
	}
	if sum := uint32(replays * launches * (launches - 1) / 2); got[0] != sum || got[n-1] != sum {
		return fmt.Errorf("graph replays computed %d, expected %d", got[0], sum)
	}
	return errors.Join(g.Close(), s.Close(), b.Close())
}

func checkOccupancy(t *T) error {
	k, err := t.load("add")
	if err != nil {
		return err
	}
	n, err := k.Occupancy(runtime.Grid(1))
	if err != nil {
		return err
	}
	info := t.Device.Info()
	t.Note("add: %d blocks of 256 on a multiprocessor, %d registers", n, k.Info().Registers)
	return want(n*256 == info.Threads, "%d blocks of a kernel of %d registers; %d threads fit", n,
		k.Info().Registers, info.Threads)
}

// checkAttributes tests cooperative launches, cluster launches, and programmatic dependent
// launches.
func checkAttributes(t *T) error {
	const n = 100_000
	k, e1 := t.load("increment")
	b, e2 := runtime.Upload(t.Device, make([]uint32, n))
	s, e3 := t.Device.Stream()
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	info := t.Device.Info()
	fit, err := k.Occupancy(runtime.Grid(1))
	if err != nil {
		return err
	}
	launches := []runtime.Config{runtime.Grid(fit * info.SMs).Cooperative()}
	if info.Clusters {
		launches = append(launches, runtime.Grid(64).Cluster(2), runtime.Grid(64).Cluster(8),
			runtime.Grid(64).Cluster(4).Cooperative(), runtime.Grid(64).Cluster(16))
		for _, size := range []int{2, 8, 16} {
			fit, err := k.Clusters(runtime.Grid(64).Cluster(size))
			if err != nil {
				return err
			}
			t.Note("%d clusters of %d fit", fit, size)
		}
	}
	for _, c := range launches {
		if err := k.Launch(c.On(s), b, n, 1); err != nil {
			return err
		}
	}
	if info.Capability >= 90 {
		// the kernel does not depend on the previous one, so the two may overlap
		for range 10 {
			if err := k.Launch(runtime.Grid(8).Programmatic().On(s), b, 0, 1); err != nil {
				return err
			}
		}
	}
	got, err := runtime.Download(b.On(s))
	if err != nil {
		return err
	}
	for i, v := range got {
		if int(v) != len(launches) {
			return fmt.Errorf("element %d is %d after %d launches", i, v, len(launches))
		}
	}
	return errors.Join(b.Close(), s.Close())
}

// checkTensorMaps encodes tensor maps of every kind. The examples of matrix products use some of
// them.
func checkTensorMaps(t *T) error {
	if !t.Device.Info().TensorMaps {
		return kerneltest.Skip("no tensor maps before sm_90")
	}
	b, e1 := runtime.Alloc[runtime.BF16](t.Device, 1<<20)
	f, e2 := runtime.Alloc[float32](t.Device, 1<<20)
	c, e3 := runtime.Alloc[uint8](t.Device, 1<<20)
	if err := errors.Join(e1, e2, e3); err != nil {
		return err
	}
	var errs []error
	made := 0
	keep := func(what string) func(*runtime.TensorMap, error) {
		return func(_ *runtime.TensorMap, err error) {
			if made++; err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", what, err))
			}
		}
	}
	for swizzle, cols := range map[int]int{0: 256, 32: 16, 64: 32, 128: 64} {
		keep("swizzle")(runtime.Tiled(b, []int{512, 1024}, []int{128, cols},
			runtime.Swizzle(swizzle)))
	}
	for _, promotion := range []int{64, 128, 256} {
		keep("promotion")(runtime.Tiled(f, []int{512, 512}, []int{64, 32},
			runtime.Promotion(promotion), runtime.Swizzle(128), runtime.NaN()))
	}
	for n := 1; n <= 5; n++ {
		sizes, box := []int{64}, []int{16}
		for range n - 1 {
			sizes, box = append([]int{4}, sizes...), append([]int{2}, box...)
		}
		keep(fmt.Sprint(n, " dimensions"))(runtime.Tiled(f, sizes, box))
	}
	keep("strides and steps")(runtime.Tiled(b, []int{100, 60}, []int{50, 32}, runtime.Strides(64),
		runtime.Steps(2, 1)))
	keep("tf32")(runtime.Tiled(f, []int{512, 512}, []int{64, 32}, runtime.As("tf32")))
	keep("bytes")(runtime.Tiled(c, []int{1024, 1024}, []int{64, 128}, runtime.As("e4m3"),
		runtime.Swizzle(128)))
	for n := 1; n <= 3; n++ {
		sizes, w := []int{2}, runtime.Window{}
		for range n {
			sizes, w.Lower, w.Upper = append(sizes, 8), append(w.Lower, -1), append(w.Upper, -1)
		}
		keep(fmt.Sprint("im2col with space of ", n))(
			runtime.Im2col(b, append(sizes, 64), w, 64, 64, runtime.Swizzle(128)))
	}
	t.Note("%d made", made)
	return errors.Join(append(errs, b.Close(), f.Close(), c.Close())...)
}

// checkShared launches a kernel with increasing dynamic shared memory, up to the maximum.
func checkShared(t *T) error {
	k, err := t.load("empty")
	if err != nil {
		return err
	}
	most := t.Device.Info().SharedOptIn
	for _, bytes := range []int{0, 48 << 10, 48<<10 + 1, 100 << 10, most} {
		if err := errors.Join(k.Launch(runtime.Grid(4).Shared(bytes)),
			t.Device.Sync()); err != nil {
			return fmt.Errorf("%d bytes: %w", bytes, err)
		}
	}
	t.Note("%d bytes", most)
	return nil
}
