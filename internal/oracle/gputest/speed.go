// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// median returns the median of some durations.
func median(list []time.Duration) time.Duration {
	slices.SortFunc(list, cmp.Compare[time.Duration])
	return list[len(list)/2]
}

// timePerCall returns the time per call of n calls, as the median of several repetitions. It
// synchronizes after each repetition.
func (t *T) timePerCall(n int, call func() error, sync func() error) (time.Duration, error) {
	var rounds []time.Duration
	for range 15 {
		if err := sync(); err != nil {
			return 0, err
		}
		start := time.Now()
		for range n {
			if err := call(); err != nil {
				return 0, err
			}
		}
		rounds = append(rounds, time.Since(start)/time.Duration(n))
	}
	return median(rounds), sync()
}

// checkLaunch measures the launch overhead with an empty kernel.
func checkLaunch(t *T) error {
	empty, e1 := t.load("empty")
	k, e2 := t.load("add")
	s, e3 := t.Device.Stream()
	b, e4 := runtime.Alloc[float32](t.Device, 1024)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	const burst = 500 // fewer launches than fit into the queue of a stream
	asynchronous, err := t.timePerCall(burst,
		func() error { return empty.Launch(runtime.Grid(1).On(s)) },
		s.Sync)
	if err != nil {
		return err
	}
	n := uint32(1000)
	loaded, err := t.timePerCall(burst,
		func() error { return k.Launch(runtime.Grid(4).On(s), b, b, b, n) }, s.Sync)
	if err != nil {
		return err
	}
	waiting, err := t.timePerCall(200,
		func() error { return errors.Join(empty.Launch(runtime.Grid(1).On(s)), s.Sync()) }, s.Sync)
	if err != nil {
		return err
	}
	const inGraph = 1000
	g, err := s.Record(func() error {
		for range inGraph {
			if err := empty.Launch(runtime.Grid(1).On(s)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	replay, err := t.timePerCall(1, func() error { return errors.Join(g.Replay(s), s.Sync()) },
		s.Sync)
	if err != nil {
		return err
	}
	plain := testing.AllocsPerRun(1000,
		func() { err = errors.Join(err, empty.Launch(runtime.Grid(1).On(s))) })
	if err != nil {
		return err
	}
	if err := s.Sync(); err != nil {
		return err
	}
	full := testing.AllocsPerRun(1000,
		func() { n++; err = k.Launch(runtime.Grid(4).On(s), b, b, b, n) })
	t.Note("empty %.2f us, with 4 arguments %.2f us, launch and wait %.2f us, in a graph of %d %.2f us each; %v and %v allocations",
		micro(asynchronous), micro(loaded), micro(waiting), inGraph, micro(replay)/inGraph, plain,
		full)
	return errors.Join(err, want(plain == 0 && full == 0, "a launch allocates"), g.Close(),
		s.Close(), b.Close())
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// checkCopy measures the bandwidth of copies through buffers.
func checkCopy(t *T) error {
	const bytes = 1 << 30
	x, e1 := runtime.Alloc[uint32](t.Device, bytes/4)
	y, e2 := runtime.Alloc[uint32](t.Device, bytes/4)
	p, e3 := runtime.AllocPinned[uint32](t.Device, bytes/16)
	first, e4 := t.Device.Event()
	last, e5 := t.Device.Event()
	if err := errors.Join(e1, e2, e3, e4, e5); err != nil {
		return err
	}
	part, err := x.Slice(0, bytes/16)
	if err != nil {
		return err
	}
	pageable := make([]uint32, bytes/16)
	rate := func(bytes int, work func() error) (float64, error) {
		var list []time.Duration
		for range 9 {
			if err := errors.Join(first.Record(nil), work(), last.Record(nil),
				last.Sync()); err != nil {
				return 0, err
			}
			took, err := last.Since(first)
			if err != nil {
				return 0, err
			}
			list = append(list, took)
		}
		return float64(bytes) / median(list).Seconds() / 1e9, nil
	}
	within, e1 := rate(2*bytes, func() error { return y.CopyFrom(x) })
	up, e2 := rate(bytes/4, func() error { return part.WritePinned(p) })
	down, e3 := rate(bytes/4, func() error { return part.ReadPinned(p) })
	slow, e4 := rate(bytes/4, func() error { return part.Write(pageable) })
	fill, e5 := rate(bytes, func() error { return x.Fill(1) })
	t.Note("within the device %.0f GB/s (read and write), fill %.0f; pinned up %.1f, down %.1f; pageable up %.1f GB/s", within, fill, up, down, slow)
	return errors.Join(e1, e2, e3, e4, e5, x.Close(), y.Close(), p.Close(), first.Close(),
		last.Close())
}

// checkLoad measures the time to load a module, and tests the cache.
func checkLoad(t *T) error {
	folder, err := os.MkdirTemp("", "ptxdsl-cache-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	text, err := kernels(t.Target()).Text()
	if err != nil {
		return err
	}
	// a unique comment in the text bypasses the cache of the driver
	fresh := func() string { return fmt.Sprintf("%s\n// %d\n", text, time.Now().UnixNano()) }
	load := func(text, cache string) (took time.Duration, cached bool, err error) {
		start := time.Now()
		m, err := t.Device.Load(runtime.PTX(text), runtime.Cache(cache))
		if err != nil {
			return 0, false, err
		}
		took = time.Since(start)
		name, cached := m.Assembler()
		k, err := m.Kernel("empty")
		if err != nil {
			return 0, false, err
		}
		if cache != "" && !cached {
			t.Note("with a cache, assembled by %s", name)
		}
		return took, cached, errors.Join(k.Launch(runtime.Grid(1)), t.Device.Sync(), m.Close())
	}
	one, two := fresh(), fresh()
	first, _, e1 := load(one, "")
	second, _, e2 := load(one, "")
	into, early, e3 := load(two, folder)
	from, cached, e4 := load(two, folder)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	t.Note("%d bytes of PTX: %.2f ms by the driver, %.2f ms again; %.2f ms into our cache, %.2f ms again", len(text), milli(first), milli(second), milli(into), milli(from))
	if !cached {
		t.Note("no ptxas as new as the driver: the cache was not used")
	}
	return want(!early, "a module was in the cache before it was assembled")
}

func milli(d time.Duration) float64 { return micro(d) / 1e3 }

// checkPeer tests copies between two devices.
func checkPeer(t *T) error {
	count, err := runtime.Count()
	if err != nil {
		return err
	}
	if count < 2 {
		return kerneltest.Skip("one GPU")
	}
	other, err := runtime.Open("cuda:1")
	if err != nil {
		return err
	}
	const n = 1 << 20
	xs := t.Uint32s(n)
	x, e1 := runtime.Upload(t.Device, xs)
	y, e2 := runtime.Alloc[uint32](other, n)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	if err := errors.Join(y.CopyFrom(x), t.Device.Sync()); err != nil {
		return err
	}
	got, err := runtime.Download(y)
	if err != nil {
		return err
	}
	if !slices.Equal(got, xs) {
		return errors.New("a copy between devices is not what was copied")
	}
	if err := t.Device.Reach(other); err != nil {
		return err
	}
	k, err := t.load("increment")
	if err != nil {
		return err
	}
	if err := errors.Join(k.Launch(runtime.Grid(8), y, n, 1), t.Device.Sync()); err != nil {
		return err
	}
	if got, err = runtime.Download(y); err != nil || got[n-1] != xs[n-1]+1 {
		return fmt.Errorf("a kernel did not reach the other device's memory: %w", err)
	}
	return errors.Join(x.Close(), other.Close())
}
