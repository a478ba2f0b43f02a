// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// pairText returns a module with two kernels. The kernel producer launches its dependents and then
// writes a word per thread. The kernel consumer runs the instruction wait and then copies the word
// of each thread.
func pairText(wait string) string {
	const head = ".reg .b32 %r<9>; .reg .b64 %d<9>;\nld.param.u64 %d0, [data]; " +
		"mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0; " +
		"mul.wide.u32 %d1, %r2, 4; add.u64 %d2, %d0, %d1;\n"
	return ".version 8.3\n.target sm_90\n.address_size 64\n" +
		".visible .entry producer(.param .u64 data) {\n" + head +
		"griddepcontrol.launch_dependents;\nadd.u32 %r3, %r2, 1000;\n" +
		"st.global.u32 [%d2], %r3;\nret;\n}\n" +
		".visible .entry consumer(.param .u64 data, .param .u64 out) {\n" + head +
		"ld.param.u64 %d3, [out]; add.u64 %d3, %d3, %d1;\n" + wait +
		"ld.global.u32 %r3, [%d2];\nst.global.u32 [%d3], %r3;\nret;\n}\n"
}

// runPair launches the two kernels and returns how many words of the consumer are stale.
func runPair(t *testing.T, o emu.Options, wait string, programmatic bool) (stale int) {
	t.Helper()
	const blocks, words = 4, 4 * 64
	d := open(t, o)
	m, err := d.Load(runtime.PTX(pairText(wait)))
	if err != nil {
		t.Fatal(err)
	}
	producer, e1 := m.Kernel("producer")
	consumer, e2 := m.Kernel("consumer")
	data, e3 := runtime.Upload(d, make([]uint32, words))
	out, e4 := runtime.Upload(d, make([]uint32, words))
	for _, err := range []error{e1, e2, e3, e4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := producer.Launch(runtime.Grid(blocks).Block(64), data); err != nil {
		t.Fatal(err)
	}
	second := runtime.Grid(blocks).Block(64)
	if programmatic {
		second = second.Programmatic()
	}
	if err := consumer.Launch(second, data, out); err != nil {
		t.Fatal(err)
	}
	got, err := runtime.Download(out)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range got {
		switch x {
		case uint32(i + 1000):
		case 0:
			stale++
		default:
			t.Fatalf("word %d is %d", i, x)
		}
	}
	written, err := runtime.Download(data)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range written {
		if x != uint32(i+1000) {
			t.Fatalf("word %d of the producer is %d", i, x)
		}
	}
	return stale
}

const waitForGrid = "griddepcontrol.wait;\n"

// TestDependentLaunch launches a kernel that depends on the previous one. Without
// griddepcontrol.wait, it reads stale data if the policy lets the launches overlap. With
// griddepcontrol.wait, or without the launch attribute, it never does.
func TestDependentLaunch(t *testing.T) {
	for _, workers := range []int{1, 3} {
		late := emu.Options{Workers: workers, Completion: emu.Late}
		if n := runPair(t, late, "", true); n != 4*64 {
			t.Errorf("%d workers, without a wait: %d words are stale, want all", workers, n)
		}
		if n := runPair(t, late, waitForGrid, true); n != 0 {
			t.Errorf("%d workers, with a wait: %d words are stale", workers, n)
		}
		if n := runPair(t, late, "", false); n != 0 {
			t.Errorf("%d workers, without the attribute: %d words are stale", workers, n)
		}
	}
	if n := runPair(t, emu.Options{Completion: emu.Eager}, "", true); n != 0 {
		t.Errorf("eager: %d words are stale", n)
	}
	counts := make(map[int]int)
	for seed := range uint64(40) {
		o := emu.Options{Workers: 1, Completion: emu.Random, Seed: seed}
		counts[runPair(t, o, "", true)]++
		if again := runPair(t, o, "", true); counts[again] == 0 {
			t.Errorf("seed %d: two runs differ", seed)
		}
		if n := runPair(t, o, waitForGrid, true); n != 0 {
			t.Errorf("seed %d, with a wait: %d words are stale", seed, n)
		}
	}
	if len(counts) < 3 {
		t.Errorf("40 seeds give the numbers of stale words %v; want several", counts)
	}
}

// TestPausedLaunch checks that a launch that is paused for dependents ends when the device is used:
// by Sync, by a launch without the attribute, and when a flag makes it spin.
func TestPausedLaunch(t *testing.T) {
	d, err := emu.New(emu.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	dev := runtime.On(d)
	// Block 0 launches dependents at once. The others do so only after they see what it writes
	// then.
	text := strings.Replace(pairText(""), "griddepcontrol.launch_dependents;", `.reg .pred %p<3>;
setp.eq.u32 %p0, %r1, 0;
@%p0 griddepcontrol.launch_dependents;
@%p0 st.relaxed.gpu.global.u32 [%d0+2048], 1;
spin: ld.relaxed.gpu.global.u32 %r4, [%d0+2048];
setp.eq.u32 %p1, %r4, 0;
@%p1 bra spin;
@!%p0 griddepcontrol.launch_dependents;`, 1)
	m, err := dev.Load(runtime.PTX(text))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("producer")
	if err != nil {
		t.Fatal(err)
	}
	data, err := runtime.Upload(dev, make([]uint32, 1024))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := k.Launch(runtime.Grid(4).Block(64), data); err != nil {
			t.Fatal(err)
		}
		if err := dev.Sync(); err != nil {
			t.Fatal(err)
		}
		if got, want := d.Stats().Launches, int64(i+1); got != want {
			t.Errorf("%d launches, want %d", got, want)
		}
	}
	got, err := runtime.Download(data)
	if err != nil {
		t.Fatal(err)
	}
	if got[255] != 1255 {
		t.Errorf("the last word is %d", got[255])
	}
}

// TestPausedFault checks that the fault of a paused launch is the error of the next call.
func TestPausedFault(t *testing.T) {
	d := open(t, emu.Options{})
	text := strings.Replace(pairText(""), "add.u32 %r3, %r2, 1000;", "trap;", 1)
	m, err := d.Load(runtime.PTX(text))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("producer")
	if err != nil {
		t.Fatal(err)
	}
	data, err := runtime.Upload(d, make([]uint32, 256))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(runtime.Grid(4).Block(64), data); err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(); err == nil || !strings.Contains(err.Error(), "trap") {
		t.Errorf("error %v, want the trap", err)
	}
	if err := d.Sync(); err != nil {
		t.Errorf("the error is returned twice: %v", err)
	}
}
