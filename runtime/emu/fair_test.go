// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// TestForwardProgress runs kernels in which lanes, warps and blocks spin until others have done
// something. They must end with every order of warps, every completion policy and any number of
// workers.
func TestForwardProgress(t *testing.T) {
	const words = 64
	for _, test := range []struct {
		name, body      string
		blocks, threads int
		want            func(i int) uint32
	}{
		// Lanes of one warp take a lock in global memory: the holder is another lane, or another
		// block.
		{"lock of a grid",
			`l: atom.acquire.gpu.global.cas.b32 %r1, [%d0], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra l;
			ld.relaxed.gpu.global.u32 %r2, [%d0+4]; add.u32 %r2, %r2, 1; st.relaxed.gpu.global.u32 [%d0+4], %r2;
			atom.release.gpu.global.exch.b32 %r1, [%d0], 0;`, 5, 48, first(0, 240)},
		// The spinning lanes change memory all the time, and wait for lanes that wait for them to
		// reconverge.
		{"busy spin",
			`setp.eq.u32 %p1, %r0, 31; @%p1 bra m; l: red.global.add.u32 [%d0], 1; ld.volatile.global.u32 %r1, [%d0+4];
			setp.eq.u32 %p2, %r1, 0; @%p2 bra l; m: @!%p1 bra e; st.volatile.global.u32 [%d0+4], 9; e: bar.warp.sync 0xffffffff;
			mov.u32 %r3, 0; st.volatile.global.u32 [%d0], %r3;`, 1, 32, first(0, 9)},
		// Lane 0 waits for lane 1, lane 1 for lane 2, and so on; the last lane begins.
		{"chain of lanes",
			`setp.eq.u32 %p1, %r0, 31; l: ld.volatile.global.u32 %r1, [%d1+4]; setp.eq.u32 %p2, %r1, 0;
			@%p1 bra e; @%p2 bra l; e: mov.u32 %r2, 1; st.volatile.global.u32 [%d1], %r2;`, 1, 32,
			func(i int) uint32 {
				if i < 32 {
					return 1
				}
				return 0
			}},
		// All blocks meet at a barrier three times.
		{"barrier of a grid",
			`mov.u32 %r5, %nctaid.x; mov.u32 %r6, 0; mov.u32 %r7, 0; n: bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 bra s;
			add.u32 %r6, %r6, %r5; atom.add.release.gpu.global.u32 %r1, [%d0], 1;
			l: ld.acquire.gpu.global.u32 %r2, [%d0]; setp.lt.u32 %p2, %r2, %r6; @%p2 bra l;
			s: bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 3; @%p3 bra n;`, 20, 64, first(60, 0)},
		// A warp spins, and changes memory, until another has waited for a copy.
		{"copy beside a busy warp",
			`.shared .align 16 .b8 s[128]; .shared .align 8 .b64 b; setp.ge.u32 %p1, %r0, 32; @%p1 bra busy;
			setp.ne.u32 %p2, %r0, 0; @%p2 bra e; mbarrier.init.shared.b64 [b], 1; mbarrier.arrive.expect_tx.shared.b64 %d5, [b], 128;
			cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0+128], 128, [b];
			w: mbarrier.try_wait.parity.shared.b64 %p3, [b], 0; @!%p3 bra w; st.volatile.global.u32 [%d0+4], 5; bra e;
			busy: red.global.add.u32 [%d0], 1; ld.volatile.global.u32 %r1, [%d0+4]; setp.eq.u32 %p4, %r1, 0; @%p4 bra busy;
			st.volatile.global.u32 [%d0], 7; e:`, 1, 64, first(7, 5)},
	} {
		for seed := range uint64(6) {
			ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
			d := open(t, emu.Options{Seed: seed, Completion: emu.Completion(seed % 3),
				Workers: 1 + int(seed)%2})
			out := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, words)))
			err := kernel(t, d, source(test.body)).LaunchContext(ctx,
				runtime.Grid(test.blocks).Block(test.threads), out)
			end()
			if err != nil {
				t.Errorf("%s, seed %d: %v", test.name, seed, err)
				break
			}
			got := must[[]uint32](t)(runtime.Download(out))
			for i, x := range got {
				if x != test.want(i) {
					t.Errorf("%s, seed %d: word %d is %d, want %d", test.name, seed, i, x,
						test.want(i))
					break
				}
			}
		}
	}
}

// first returns the expected value of each word: a, b, then zeros.
func first(a, b uint32) func(i int) uint32 {
	return func(i int) uint32 { return [...]uint32{a, b, 0}[min(i, 2)] }
}

// TestReconvergence checks that lanes that took different paths reconverge. The loops have
// different iteration counts, and each lane counts the active lanes after its loop.
func TestReconvergence(t *testing.T) {
	body := `mov.u32 %r1, 0; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r8, 0;
		outer: mov.u32 %r2, 0; inner: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r0; @%p1 bra inner;
		and.b32 %r3, %r0, 3; setp.eq.u32 %p2, %r3, %r1; @%p2 bra odd; add.u32 %r4, %r4, 1; bra both; odd: add.u32 %r5, %r5, 1;
		both: activemask.b32 %r6; popc.b32 %r7, %r6; add.u32 %r8, %r8, %r7; add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 4; @%p3 bra outer;
		st.global.u32 [%d1], %r8;`
	for seed := range uint64(8) {
		got, err := try(t, open(t, emu.Options{Seed: seed}), source(body), 64)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if x != 128 {
				t.Fatal(fmt.Errorf(
					"seed %d: thread %d counted %d active lanes in 4 rounds, want 128", seed, i,
					x))
			}
		}
	}
}

// TestWaitsForOthers runs a kernel that spins until a kernel of another device stores to its
// memory. It must not be reported as a hang.
func TestWaitsForOthers(t *testing.T) {
	const spin = `l: ld.acquire.sys.u32 %r1, [%d0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra l; st.u32 [%d0+4], %r1;`
	a, b := must[*runtime.Device](t)(runtime.Open("emu")),
		must[*runtime.Device](t)(runtime.Open("emu:1"))
	if err := b.Reach(a); err != nil {
		t.Fatal(err)
	}
	x := must[*runtime.Buffer[uint32]](t)(runtime.Upload(a, make([]uint32, 2)))
	waits, late := kernel(t, a, source(spin)),
		kernel(t, b,
			source(`mov.u32 %r2, 0; w: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000000; @%p1 bra w; mov.u32 %r1, 5; st.release.sys.u32 [%d0], %r1;`))
	first := make(chan error)
	go func() { first <- waits.Launch(runtime.Grid(1).Block(32), x) }()
	if err := late.Launch(runtime.Grid(1).Block(32), x); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if got := must[[]uint32](t)(runtime.Download(x)); got[1] != 5 {
		t.Errorf("the kernel saw %d", got[1])
	}
}

// TestTimeLimits runs threads that wait for a time to pass, with and without other threads. They
// must end, and a thread that reads a clock forever must be reported.
func TestTimeLimits(t *testing.T) {
	const sleep = `mov.u64 %d2, %globaltimer; l: nanosleep.u32 1000000; mov.u64 %d3, %globaltimer; sub.u64 %d4, %d3, %d2; setp.lt.u64 %p1, %d4, 2000000000; @%p1 bra l;
		mov.u32 %r1, 1; st.global.u32 [%d1], %r1;`
	for _, test := range []struct {
		name, body string
		want       string // part of the error
	}{
		{"sleep of two seconds", sleep, ""},
		{"a hundred sleeps",
			`mov.u32 %r2, 100; n: mov.u64 %d2, %globaltimer; l: nanosleep.u32 1000000; mov.u64 %d3, %globaltimer; sub.u64 %d4, %d3, %d2; setp.lt.u64 %p1, %d4, 2000000000; @%p1 bra l;
			st.global.u32 [%d1], %r2; sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra n; mov.u32 %r1, 1; st.global.u32 [%d1], %r1;`, ""},
		{"watchdog",
			`mov.u64 %d2, %globaltimer; l: ld.acquire.gpu.global.u32 %r1, [%d0]; setp.ne.u32 %p1, %r1, 0; @%p1 bra e;
			nanosleep.u32 100; mov.u64 %d3, %globaltimer; sub.u64 %d4, %d3, %d2; setp.lt.u64 %p1, %d4, 10000000000; @%p1 bra l; trap; e:`, "executed a trap"},
		{"clock64",
			`mov.u64 %d2, %clock64; l: ld.volatile.global.u32 %r1, [%d0]; setp.ne.u32 %p1, %r1, 0; @%p1 bra e;
			mov.u64 %d3, %clock64; sub.u64 %d4, %d3, %d2; setp.lt.u64 %p1, %d4, 1000000000; @%p1 bra l; e: mov.u32 %r1, 1; st.global.u32 [%d1], %r1;`, ""},
		{"without a limit", `l: mov.u64 %d2, %globaltimer; nanosleep.u32 20; bra l;`,
			"kernel hangs"},
		{"others wait at a barrier",
			`setp.ne.u32 %p2, %r0, 0; @%p2 bra b; mov.u64 %d2, %clock64; l: nanosleep.u32 1000; mov.u64 %d3, %clock64; sub.u64 %d4, %d3, %d2; setp.lt.u64 %p1, %d4, 1000000; @%p1 bra l;
			b: bar.sync 0; mov.u32 %r1, 1; st.global.u32 [%d1], %r1;`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(2) {
				got, err := try(t, open(t, emu.Options{Seed: seed}), source(test.body), 64)
				switch {
				case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
					t.Errorf("%v, want an error with %q", err, test.want)
				case test.want == "" && err != nil:
					t.Error(err)
				case test.want == "" && got[63] != 1:
					t.Errorf("thread 63 stored %d", got[63])
				}
			}
		})
	}
}

// TestSpins checks which spinning threads are reported as a hang: not those that only load while
// they count or add up, but those that wait for something that never happens. All orders, several
// blocks and several workers are tried.
func TestSpins(t *testing.T) {
	work := strings.Repeat("xor.b32 %r5, %r5, %r1; xor.b32 %r5, %r5, %r1;", 12)
	// All blocks store to the same words, and volatile accesses do not race.
	for _, test := range []struct{ name, body, want string }{
		{"sum of volatile loads",
			`mov.u32 %r2, 0; l: ld.volatile.global.u32 %r1, [%d0]; add.u32 %r3, %r3, %r1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 20000; @%p1 bra l; mov.u32 %r1, 1; st.volatile.global.u32 [%d1], %r1;`,
			""},
		{"limited tries",
			`.shared .align 8 .b64 bar; setp.eq.u32 %p2, %r0, 0; @%p2 mbarrier.init.shared.b64 [bar], 1; bar.sync 0; mov.u32 %r2, 0;
			l: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @%p1 bra e; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3000; @%p1 bra l; e: mov.u32 %r1, 1; st.volatile.global.u32 [%d1], %r1;`, ""},
		{"flag", `l: ld.acquire.gpu.global.u32 %r1, [%d0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra l;`,
			"kernel hangs"},
		{"long loop",
			`mov.u32 %r5, 0; l: ld.volatile.global.u32 %r1, [%d0];` + work +
				`setp.eq.u32 %p1, %r1, 0; @%p1 bra l;`, "kernel hangs"},
		{"backoff",
			`mov.u32 %r2, 1; l: ld.volatile.global.u32 %r1, [%d0]; nanosleep.u32 %r2; shl.b32 %r2, %r2, 1; min.u32 %r2, %r2, 256; setp.eq.u32 %p1, %r1, 0; @%p1 bra l;`,
			"kernel hangs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(4) {
				d := open(t, emu.Options{Seed: seed, Workers: 1 + int(seed&1)})
				out := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, 64)))
				ctx, end := context.WithTimeout(t.Context(), 2*time.Minute)
				err := kernel(t, d, source(test.body)).LaunchContext(ctx, runtime.Grid(6).Block(64),
					out)
				end()
				if test.want == "" && err != nil || test.want != "" &&
					(err == nil || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("seed %d: %v, want %q", seed, err, test.want)
				}
			}
		})
	}
}
