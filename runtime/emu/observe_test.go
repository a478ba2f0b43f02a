// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// A recorder records the events of warp 0.
type recorder struct {
	kinds  []string
	launch *emu.Launching
}

var eventNames = map[emu.EventKind]string{
	emu.EventRead: "read", emu.EventWrite: "write", emu.EventAtomic: "atomic",
	emu.EventIssue:    "issue",
	emu.EventComplete: "complete", emu.EventCommit: "commit", emu.EventWait: "wait",
	emu.EventFence:      "fence",
	emu.EventProxyFence: "proxy fence", emu.EventArrive: "arrive", emu.EventMeet: "meet",
	emu.EventLeave: "leave",
	emu.EventInit:  "init", emu.EventSignal: "signal", emu.EventPhase: "phase",
	emu.EventTest: "test", emu.EventUntrue: "untrue", emu.EventWarpSync: "warp sync",
}

// Observe records the event.
func (r *recorder) Observe(e *emu.Event) {
	if e.Kind == emu.EventBegin {
		r.launch = e.Launch
	}
	name := eventNames[e.Kind]
	if name == "" {
		return
	}
	if e.At != nil && e.Kind <= emu.EventAtomic {
		lane := 0
		for e.Mask>>lane&1 == 0 {
			lane++
		}
		name += fmt.Sprintf(" %s %d", r.launch.Symbol(e.At[lane]), e.Size)
	}
	if e.Operation != 0 {
		name += fmt.Sprintf(" of %d", e.Operation)
	}
	r.kinds = append(r.kinds, name)
}

// TestObserver checks which events an observer receives, and in which order.
func TestObserver(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"barrier",
			`.shared .u32 s[32]; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], %r0;
			bar.sync 0; ld.shared.u32 %r4, [s+4]; bar.warp.sync -1; atom.global.add.u32 %r5, [%d0], 1; fence.acq_rel.gpu;`,
			"write s+0 4, arrive, meet, leave, read s+4 4, warp sync, atomic allocation 1+0 4, fence"},
		{"copies",
			`.shared .align 16 .b8 s[512]; shl.b32 %r1, %r0, 2; mov.u32 %r2, s; add.u32 %r3, %r2, %r1;
			setp.ne.u32 %p1, %r0, 0; @%p1 bra e; cp.async.ca.shared.global [%r3], [%d0], 4; cp.async.commit_group; cp.async.wait_group 0; e:`,
			"issue of 1, commit, read allocation 1+0 4 of 1, write s+0 4 of 1, complete of 1, wait"},
		{"bulk",
			`.shared .align 16 .b8 s[128]; .shared .align 8 .b64 m; setp.eq.u32 %p1, %r0, 0; @!%p1 bra e;
			mbarrier.init.shared.b64 [m], 1; fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 %d5, [m], 64;
			cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 64, [m];
			w: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra w; e:`,
			"init, proxy fence, signal, issue of 1, read allocation 1+0 64 of 1, write s+0 64 of 1, signal of 1, phase, complete of 1, test"},
	} {
		r := &recorder{}
		if _, err := try(t, open(t, emu.Options{Observer: r, Unchecked: true}), source(test.body),
			32); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if strings.Join(r.kinds, ", ") != test.want {
			t.Errorf("%s: %s\nwant %s", test.name, strings.Join(r.kinds, ", "), test.want)
		}
	}
}
