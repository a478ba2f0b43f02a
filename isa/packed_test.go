// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa_test

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestGlobals checks that importing the package adds few pointers for the garbage collector to
// scan.
func TestGlobals(t *testing.T) {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/scan/globals:bytes"}}
	metrics.Read(sample)
	if n := sample[0].Value.Uint64(); n > 256<<10 {
		t.Errorf("%d bytes of variables to look through", n)
	}
}

// TestReadAtOnce checks that all goroutines get the same form for an opcode, whatever was
// garbage-collected in between.
func TestReadAtOnce(t *testing.T) {
	ops := []string{"add.f32", "mov.b32", "ld.global.v4.b32", "st.shared.b64", "cvt.rn.bf16x2.f32",
		"setp.lt.and.s32", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"}
	sm90, _ := isa.ParseTarget("sm_90")
	for round := range 20 {
		set := isa.Unread()
		got := make([][]*isa.Form, 8)
		var wait sync.WaitGroup
		for i := range got {
			wait.Go(func() {
				m := set.Matcher(isa.MakeVersion(8, i), sm90)
				for _, op := range ops {
					if round%2 == 1 {
						runtime.GC()
					}
					found, _ := m.Candidates(op)
					for _, c := range found {
						got[i] = append(got[i], c.Form)
					}
				}
			})
		}
		wait.Wait()
		for _, list := range got {
			if len(list) < len(ops) || len(list) != len(got[0]) {
				t.Fatalf("%d forms, and %d", len(list), len(got[0]))
			}
			for i, f := range list {
				if f != got[0][i] {
					t.Fatalf("%s occurs twice", f.Template)
				}
			}
		}
	}
}

// TestCollected checks that decoded instructions are garbage-collected, and that decoding them
// again gives the same result.
func TestCollected(t *testing.T) {
	set := isa.Unread()
	gone := make(chan bool, 1)
	first := set.Named("mma")[0]
	forms := len(first.Forms)
	same := first.Forms[forms-1]
	runtime.AddCleanup(first, func(gone chan bool) { gone <- true }, gone)
	for range 100 {
		runtime.GC()
		select {
		case <-gone:
			again := set.Named("mma")[0]
			if len(again.Forms) != forms || !again.Forms[forms-1].Is(&same) ||
				again.Forms[0].Is(&same) {
				t.Errorf("%d forms, and %d", len(again.Forms), forms)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("stays")
}

// TestKept checks that a form decoded alone equals the form decoded with its instruction.
func TestKept(t *testing.T) {
	n := 0
	for f, kept := range isa.Unread().Kept() {
		if n++; f == kept || !f.Is(kept) {
			t.Errorf("%s is not read by itself, or is another", f.Template)
		}
		if diff := cmp.Diff(f, kept, cmpopts.IgnoreUnexported(isa.Form{})); diff != "" {
			t.Errorf("%s by itself: %s", f.Template, diff)
		}
	}
	if n < 1000 {
		t.Errorf("%d forms", n)
	}
}
