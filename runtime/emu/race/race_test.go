// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package race_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// launch runs kernel k of a text the given number of times.
func launch(t *testing.T, text string, blocks, threads uint32, programmatic bool,
	times int) *race.Detector {
	t.Helper()
	detector := race.New()
	d, err := emu.New(emu.Options{Observer: detector, Unchecked: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(device.Image{Name: "k.ptx", PTX: text})
	if err != nil {
		t.Fatal(err)
	}
	k, err := d.Kernel(m.Module, "k", 1)
	if err != nil {
		t.Fatal(err)
	}
	a, err := d.Allocate(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		l := &device.Launch{Grid: [3]uint32{blocks, 1, 1}, Block: [3]uint32{threads, 1, 1},
			Programmatic: programmatic}
		l.Values = binary.LittleEndian.AppendUint64(nil, uint64(a))
		if err := k.Launch(l); err != nil {
			t.Fatal(err)
		}
	}
	return detector
}

// source returns a kernel with the address of an array in %d0 and the thread index in %r0.
func source(body string) string {
	return `.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a) {
	.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;
	ld.param.u64 %d0, [a]; cvta.to.global.u64 %d0, %d0; mov.u32 %r0, %tid.x;
	mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;
` + body + "\nret;\n}\n"
}

// TestDetector checks which rules each launch violates.
func TestDetector(t *testing.T) {
	for _, test := range []struct {
		name, body   string
		blocks       uint32
		threads      uint32
		programmatic bool
		times        int
		rule         string
		severity     diag.Severity
	}{
		{"two launches", "ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;",
			1, 64, false, 2, "", 0},
		{"dependent launch",
			"ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;", 1, 64, true,
			2, race.RuleGrids, diag.Error},
		{"dependent launch that waits",
			"griddepcontrol.wait; ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;",
			1, 64, true, 2, "", 0},
		{"one value", "mov.u32 %r1, 7; st.global.u32 [%d0], %r1;", 2, 32, false, 1, race.RuleGrid,
			diag.Review},
		{"values of lanes", "st.global.u32 [%d0], %r0;", 1, 32, false, 1, race.RuleValues,
			diag.Error},
		{"bytes of one word",
			"mov.u32 %r1, %ctaid.x; cvt.u64.u32 %d2, %r1; add.u64 %d2, %d0, %d2; setp.eq.u32 %p1, %r0, 0; @%p1 st.global.u8 [%d2], %r1;",
			4, 32, false, 1, "", 0},
		{"a word over bytes",
			"mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r0, 0; @%p1 ret; setp.eq.u32 %p2, %r1, 0; @%p2 st.global.u8 [%d0+1], 5; @!%p2 st.global.u32 [%d0], %r1;",
			2, 32, false, 1, race.RuleGrid, diag.Error},
		{"read-only load", "st.global.u32 [%d1], %r0; ld.global.nc.u32 %r1, [%d1];", 1, 32, false,
			1, race.RuleReadOnly, diag.Error},
		{"the flag of a later round",
			"mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r0, 0; @%p1 ret; setp.ne.u32 %p2, %r1, 0; @%p2 bra W; " +
				"st.release.gpu.global.u32 [%d0], 1; st.global.u32 [%d0+8], 1; st.release.gpu.global.u32 [%d0], 1; ret; " +
				"W: ld.acquire.gpu.global.u32 %r2, [%d0]; setp.eq.u32 %p3, %r2, 0; @%p3 bra W; ld.global.u32 %r3, [%d0+8];",
			2, 32, false, 1, race.RuleGrid, diag.Error},
		{"weak and atomic",
			"setp.eq.u32 %p1, %r0, 0; @%p1 st.global.u32 [%d0], 0; atom.global.add.u32 %r1, [%d0], 1;",
			1, 64, false, 1, race.RuleBlock, diag.Error},
		{"exited lane at an aligned barrier", "setp.eq.u32 %p1, %r0, 3; @%p1 ret; bar.sync 0;", 1,
			64, false, 1, race.RuleExited, diag.Review},
		{"exited lane at a barrier", "setp.eq.u32 %p1, %r0, 3; @%p1 ret; barrier.sync 0;", 1, 64,
			false, 1, "", 0},
		{"exited warp at an aligned barrier", "setp.ge.u32 %p1, %r0, 32; @%p1 ret; bar.sync 0;", 1,
			64, false, 1, "", 0},
		{"mbarrier that is initialized again",
			".shared .align 8 .b64 m; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [m], 1; " +
				"bar.sync 0; @%p1 mbarrier.init.shared.b64 [m], 1;", 1, 64, false, 1, race.RuleLive,
			diag.Error},
		{"mbarrier that is invalidated and initialized again",
			".shared .align 8 .b64 m; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [m], 1; " +
				"bar.sync 0; @%p1 mbarrier.inval.shared.b64 [m]; @%p1 mbarrier.init.shared.b64 [m], 1;",
			1, 64, false, 1, "", 0},
		{"mbarrier that is overwritten",
			".shared .align 8 .b64 m; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [m], 1; " +
				"bar.sync 0; @%p1 st.shared.u32 [m+4], 1;", 1, 64, false, 1, race.RuleLive,
			diag.Error},
	} {
		d := launch(t, source(test.body), test.blocks, test.threads, test.programmatic, test.times)
		found := false
		for _, r := range d.Races() {
			found = found || r.Rule == test.rule && r.Severity == test.severity
		}
		if found != (test.rule != "") || test.rule == "" && len(d.Races()) > 0 {
			t.Errorf("%s: %d races, want rule %q", test.name, len(d.Races()), test.rule)
			for _, r := range d.Races() {
				t.Logf("%+v", r)
			}
		}
	}
}

// TestSkipped checks that a launch that is too large is counted and not checked.
func TestSkipped(t *testing.T) {
	d := launch(t, source("st.global.u32 [%d0], %r0;"), race.MaxThreads/1024+1, 1024, false, 1)
	if d.Skipped() != 1 || len(d.Races()) != 0 {
		t.Errorf("%d launches skipped, %d races", d.Skipped(), len(d.Races()))
	}
}

// TestUpdate checks that the fix of a race of an update names atomic operations.
func TestUpdate(t *testing.T) {
	for _, test := range []struct {
		body string
		want bool
	}{
		{"ld.global.u32 %r1, [%d0]; add.u32 %r1, %r1, 1; st.global.u32 [%d0], %r1;", true},
		{"and.b32 %r2, %r0, 1; mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d0, %d2; ld.global.u32 %r1, [%d3]; add.u64 %d4, %d0, %d2; add.u32 %r3, %r1, 1; st.global.u32 [%d4], %r3;",
			true},
		{"ld.global.u32 %r1, [%d0+4]; add.u32 %r1, %r1, %r0; st.global.u32 [%d0], %r1;", false},
		{"st.global.u32 [%d0], %r0;", false},
	} {
		races := launch(t, source(test.body), 1, 64, false, 1).Races()
		if len(races) == 0 || strings.Contains(races[0].Fix, "(red or atom)") != test.want {
			t.Errorf("%s: races %+v, want one whose fix names an atomic operation: %t", test.body,
				races, test.want)
		}
	}
}
