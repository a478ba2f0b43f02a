// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// must returns a function that returns its value, or ends the test if there is an error.
func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(x T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// kernel loads kernel k of a text.
func kernel(t testing.TB, d *runtime.Device, text string) *runtime.Kernel {
	t.Helper()
	return must[*runtime.Kernel](t)(must[*runtime.Module](t)(d.Load(runtime.PTX(text))).Kernel("k"))
}

// TestCancel cancels kernels that never end, on one worker and on several.
func TestCancel(t *testing.T) {
	before := goruntime.NumGoroutine()
	for _, body := range []string{
		"again: add.u32 %r1, %r1, 1; bra again;",
		"again: red.global.add.u32 [%d0], 1; bra again;",
	} {
		for _, workers := range []int{1, 3} {
			d := open(t, emu.Options{Workers: workers})
			k := kernel(t, d, source(body))
			out := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, 64)))
			cause := errors.New("enough")
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
			err := k.LaunchContext(ctx, runtime.Grid(4).Block(64), out)
			if !errors.Is(err, cause) {
				t.Errorf("%d workers: %v", workers, err)
			}
			ctx, end := context.WithTimeout(context.Background(), 10*time.Millisecond)
			if err := k.LaunchContext(ctx, runtime.Grid(4).Block(64), out); !errors.Is(err,
				context.DeadlineExceeded) {
				t.Errorf("%d workers: %v", workers, err)
			}
			if err := k.LaunchContext(ctx, runtime.Grid(4).Block(64), out); !errors.Is(err,
				context.DeadlineExceeded) {
				t.Errorf("%d workers, after the deadline: %v", workers, err)
			}
			end()
			if err := errors.Join(d.SyncContext(context.Background()), d.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	for range 100 { // goroutines of contexts end on their own
		if goruntime.NumGoroutine() <= before {
			return
		}
		goruntime.Gosched()
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines are left of %d", goruntime.NumGoroutine(), before)
}

// TestWaitsForLaunch cancels a launch that waits for another one.
func TestWaitsForLaunch(t *testing.T) {
	d := open(t, emu.Options{Workers: 1})
	k := kernel(t, d, source("again: bra again;"))
	out := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, 64)))
	long, stop := context.WithCancel(context.Background())
	first := make(chan error)
	go func() { first <- k.LaunchContext(long, runtime.Grid(1).Block(32), out) }()
	short, end := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer end()
	if err := k.LaunchContext(short, runtime.Grid(1).Block(32), out); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Error(err)
	}
	stop()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestProgress checks the reported progress of a long kernel.
func TestProgress(t *testing.T) {
	var all []emu.Progress
	ctx, cancel := context.WithCancel(context.Background())
	d := open(t, emu.Options{Workers: 1, Progress: func(p emu.Progress) {
		all = append(all, p)
		cancel()
	}})
	// Only block 1 runs forever.
	k := kernel(t, d,
		source("mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 1; @%p1 ret; again: bra again;"))
	out := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, 64)))
	err := k.LaunchContext(ctx, runtime.Grid(2).Block(32), out)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(),
		"stopped after 1 of 2 blocks") {
		t.Error(err)
	}
	if len(all) != 2 || all[0].Done != 1 || all[0].Blocks != 2 || all[0].Left() <= 0 ||
		!all[1].Ended || all[1].Left() != 0 {
		t.Errorf("%+v", all)
	}
}

// TestPeerMemory copies between devices, and stores to a peer's memory in a kernel.
func TestPeerMemory(t *testing.T) {
	a, b := must[*runtime.Device](t)(runtime.Open("emu")),
		must[*runtime.Device](t)(runtime.Open("emu:sm_90a"))
	c := must[*runtime.Device](t)(runtime.Open("emu:2"))
	if err := errors.Join(a.Reach(b), a.Reach(c), b.Reach(c), c.Reach(a)); err != nil {
		t.Fatal(err)
	}
	x := must[*runtime.Buffer[uint32]](t)(runtime.Upload(a, make([]uint32, 32)))
	y := must[*runtime.Buffer[uint32]](t)(runtime.Upload(b, make([]uint32, 32)))
	z := must[*runtime.Buffer[uint32]](t)(runtime.Upload(c, make([]uint32, 32)))
	k := kernel(t, a, source("add.u32 %r0, %r0, 5; st.global.u32 [%d1], %r0; st.u32 [%d1], %r0;"))
	for _, buffer := range []*runtime.Buffer[uint32]{y, z} {
		if err := k.Launch(runtime.Grid(1).Block(32), buffer); err != nil {
			t.Fatal(err)
		}
		if err := x.CopyFrom(buffer); err != nil {
			t.Fatal(err)
		}
		if got := must[[]uint32](t)(runtime.Download(x)); got[31] != 36 {
			t.Error(got)
		}
	}
	// Two independently opened devices with memory and the same ordinal cannot access each other.
	d, e := must[*runtime.Device](t)(runtime.Open("emu")),
		must[*runtime.Device](t)(runtime.Open("emu"))
	must[*runtime.Buffer[uint32]](t)(runtime.Alloc[uint32](d, 1))
	must[*runtime.Buffer[uint32]](t)(runtime.Alloc[uint32](e, 1))
	if err := d.Reach(e); err == nil || !strings.Contains(err.Error(), "open one as emu:1") {
		t.Error(err)
	}
	if err := must[*runtime.Kernel](t)(
		must[*runtime.Module](t)(d.Load(runtime.PTX(source("")))).Kernel("k")).
		Launch(runtime.Grid(1).Block(32), z); err == nil {
		t.Error("a kernel takes memory that its device does not reach")
	}
}

// TestPinned uses pinned host memory in a kernel, and expects a fault after it is freed.
func TestPinned(t *testing.T) {
	d := open(t, emu.Options{})
	p := must[*runtime.Pinned[uint32]](t)(runtime.AllocPinned[uint32](d, 32))
	p.Slice()[3] = 100
	k := kernel(t, d, source("ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, %r0; st.u32 [%d1], %r1;"))
	if err := k.Launch(runtime.Grid(1).Block(32), p); err != nil {
		t.Fatal(err)
	}
	if got := p.Slice(); got[3] != 103 || got[31] != 31 {
		t.Error(got)
	}
	if err := k.Launch(runtime.Grid(1).Block(64), p); err == nil || !strings.Contains(err.Error(),
		"pinned memory 1: 128 bytes") {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestLimits launches kernels that exceed the limits of their targets.
func TestLimits(t *testing.T) {
	text := func(target string) string {
		text := strings.Replace(source("mov.u32 %r1, %tid.x; st.global.u32 [%d1], %r1;"), "sm_90a",
			target, 1)
		return strings.Replace(text, "8.3", "8.8", 1)
	}
	shared := func(bytes int) runtime.Config { return runtime.Grid(1).Block(32).Shared(bytes) }
	for _, test := range []struct {
		place, text string
		config      runtime.Config
		want        string
	}{
		{"emu:sm_120", text("sm_120"), shared(99 << 10), ""},
		{"emu:sm_120", text("sm_120"), shared(100 << 10), "at most 101376"},
		{"emu", text("sm_120"), shared(100 << 10),
			"invalid argument (CUDA_ERROR_INVALID_VALUE)"},
		{"emu", text("sm_100a"), shared(200 << 10), ""},
		{"emu:sm_80", text("sm_80"), shared(163 << 10), ""},
		{"emu:sm_80", text("sm_80"), shared(164 << 10), "at most 166912"},
		{"emu:sm_80", text("sm_90a"), runtime.Grid(1).Block(32), "it is built for sm_90a"},
		{"emu:sm_100a", text("sm_90a"), runtime.Grid(1).Block(32), "it is built for sm_90a"},
		{"emu:sm_80", text("sm_80"), runtime.Grid(2).Block(32).Cluster(2),
			"does not support clusters"},
		{"emu", text("sm_80"), runtime.Grid(2).Block(32).Cluster(2), "sm_80 has no clusters"},
		{"emu:sm_90a", text("sm_90a"), runtime.Grid(32).Block(32).Cluster(32),
			"expected at most 16"},
		{"emu:sm_90a", text("sm_90a"), runtime.Grid(1).Block(2048), "must be from 1 to 1024"},
		{"emu:sm_90a", text("sm_90a"), runtime.Grid(1).Block(64, 32),
			"2048 threads, expected at most 1024"},
		{"emu:sm_90a", text("sm_90a"), runtime.Grid(100_000).Block(32).Cooperative(),
			"too many blocks in cooperative launch (CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)"},
		{"emu:sm_90a", many(120), runtime.Grid(1).Block(1024),
			"too many resources requested for launch (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)"},
		{"emu:sm_90a", many(120), runtime.Grid(1).Block(256), ""},
		{"emu:sm_90a", many(30), runtime.Grid(1).Block(1024), ""},
		{"emu:sm_90a", strings.Replace(many(120), ") {", ") .maxntid 1024 {", 1),
			runtime.Grid(1).Block(1024), ""},
	} {
		d := must[*runtime.Device](t)(runtime.Open(test.place))
		err := func() error {
			m, err := d.Load(runtime.PTX(test.text))
			if err != nil {
				return err
			}
			out := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, 4096)))
			k, err := m.Kernel("k")
			if err != nil {
				return err
			}
			return k.Launch(test.config, out)
		}()
		if (err == nil) != (test.want == "") ||
			err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %q", test.place, err, test.want)
		}
	}
}

// many returns a kernel in which n values are live at once.
func many(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".reg .b32 %%v<%d>;\n", n)
	for i := range n {
		fmt.Fprintf(&b, "ld.volatile.global.u32 %%v%d, [%%d0+%d];\n", i, 4*i)
	}
	for i := range n {
		fmt.Fprintf(&b, "st.volatile.global.u32 [%%d0+%d], %%v%d;\n", 4*i, n-1-i)
	}
	return source(b.String())
}

// TestPlaces parses the names of emulated devices.
func TestPlaces(t *testing.T) {
	for name, want := range map[string]string{
		"emu": "emu", "emu:sm_90a": "emu:sm_90a", "emu:3": "emu:3",
		"emu:sm_100a:7": "emu:sm_100a:7",
		"emu:":          "", "emu:sm_1": "", "emu:256": "", "emu:-1": "", "emu:sm_90a:x": "",
		"emu:sm_90a:": "",
		"emu:a:b:c":   "",
	} {
		d, err := runtime.Open(name)
		if (err == nil) != (want != "") || err == nil && d.String() != want {
			t.Errorf("%q: %v, %v", name, d, err)
		}
	}
}

// TestWorkOnStreams uses streams, events and graphs.
func TestWorkOnStreams(t *testing.T) {
	d := open(t, emu.Options{})
	s := must[*runtime.Stream](t)(d.Stream(runtime.Apart(), runtime.Priority(-1)))
	first, last := must[*runtime.Event](t)(d.Event()), must[*runtime.Event](t)(d.Event())
	k := kernel(t, d,
		source("ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;"))
	x := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, 32)))
	launch := func() error { return k.Launch(runtime.Grid(1).Block(32).On(s).Programmatic(), x) }
	g := must[*runtime.Graph](t)(s.Record(launch))
	err := errors.Join(first.Record(s), launch(), g.Replay(s), g.Replay(nil), last.Record(s),
		s.Wait(last),
		last.SyncContext(t.Context()), s.SyncContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if took := must[time.Duration](t)(last.Since(first)); took <= 0 {
		t.Error(took)
	}
	if got := must[[]uint32](t)(runtime.Download(x)); got[5] != 3 {
		t.Error(got)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
