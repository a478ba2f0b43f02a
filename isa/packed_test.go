// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa_test

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"

	"github.com/ptxdsl/ptxdsl/isa"
)

// TestGlobals: programs that import the package have little that each collection of garbage looks through.
func TestGlobals(t *testing.T) {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/scan/globals:bytes"}}
	metrics.Read(sample)
	if n := sample[0].Value.Uint64(); n > 256<<10 {
		t.Errorf("%d bytes of variables to look through", n)
	}
}

// TestReadAtOnce: whoever asks for an instruction gets the same one, also where many ask first.
func TestReadAtOnce(t *testing.T) {
	var names []string
	for ins := range isa.Standard().All() {
		names = append(names, ins.Name)
	}
	for range 20 {
		set := isa.Unread()
		got := make([][]*isa.Instruction, 8)
		var wait sync.WaitGroup
		for i := range got {
			wait.Go(func() {
				for _, name := range names {
					got[i] = append(got[i], set.Named(name)...)
				}
			})
		}
		wait.Wait()
		for _, list := range got {
			for i := range list {
				if list[i] != got[0][i] {
					t.Fatalf("%s was read twice", list[i].Name)
				}
			}
		}
	}
}
