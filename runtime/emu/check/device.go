// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// Device returns an emulated device for a test that launches kernels itself, for example with
// tensor maps of its own. The device watches all launches for races. When the test ends, it fails
// if there was a race, or a launch that was too large to be watched; reviews are logged. Messages
// name the Go lines of a *dsl.Module.
//
// The seed chooses the order in which threads run and asynchronous operations complete. Most races
// are found with every seed; hangs and wrong results may need several.
//
//	dev := runtime.On(check.Device(t, "sm_90a", 0))
//	err := Check(kerneltest.New(dev))
func Device(t testing.TB, target string, seed uint64) device.Device {
	t.Helper()
	s, detector := scheduleOf(seed), race.New()
	d, err := emu.New(emu.Options{Target: target, Seed: s.seed, Completion: s.completion,
		Interleave: true, Workers: 1, Observer: detector})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, y := range detector.Races() {
			text := fmt.Sprintf("kernel %s: %s", y.Kernel, Text(diagnostic(y, y.Severity, "", nil)))
			if y.Severity == diag.Error {
				t.Error(text)
			} else {
				t.Log(text)
			}
		}
		if detector.Skipped() > 0 {
			t.Errorf("%d launches have more than %d threads and were not checked for races",
				detector.Skipped(), race.MaxThreads)
		}
	})
	return d
}
