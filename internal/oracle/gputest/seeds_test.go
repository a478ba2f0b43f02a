// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// unordered are the examples that add floating-point numbers with atomics of several blocks. Their
// results depend on the order, and only have to be within the tolerance of their references.
var unordered = map[string]bool{"04_reduce": true, "12_matmul_splitk": true}

// targets are the targets of the examples that run on others than sm_90a.
var targets = map[string]string{
	"13_matmul_multistage": "sm_80", "14_matmul_sparse": "sm_80 sm_90a",
	"16_matmul_blackwell": "sm_100a", "17_matmul_blockscaled": "sm_100a",
	"18_attention": "sm_90a sm_100a",
}

// targetsOf returns the targets on which TestSchedules and TestSeeds run an example.
func targetsOf(c Check) []string {
	return strings.Fields(cmp.Or(targets[c.Name], "sm_90a"))
}

// TestSchedules runs the examples in two schedules: asynchronous operations complete as late as
// allowed, or at random times while the race detector watches. The results must be equal byte by
// byte, and there must be no race.
func TestSchedules(t *testing.T) {
	onTargets(t, func(t *testing.T, c Check, target string) {
		detector := race.New()
		want, err := resultsOf(c, emu.Options{Target: target, Completion: emu.Late})
		if err != nil {
			t.Fatal(err)
		}
		got, err := resultsOf(c, emu.Options{Target: target, Completion: emu.Random, Seed: 1,
			Observer: detector})
		if err != nil {
			t.Fatal(err)
		}
		if got != want && !unordered[c.Name] {
			t.Error("the results differ")
		}
		if n := detector.Skipped(); n > 0 {
			t.Errorf("%d launches have more than %d threads", n, race.MaxThreads)
		}
		for _, r := range detector.Races() {
			t.Errorf("%s %s: %s: %s\n%s at %s:%d %s\n%s at %s:%d %s\nmissing: %s", r.Rule,
				r.Kernel, r.Message, r.Address,
				r.First.What, r.First.Place.File, r.First.Place.Line, r.First.Opcode,
				r.Second.What, r.Second.Place.File, r.Second.Place.Line, r.Second.Opcode,
				r.Missing)
		}
	})
}

// onTargets runs a test of each example on each of its targets.
func onTargets(t *testing.T, test func(t *testing.T, c Check, target string)) {
	for _, c := range exampleChecks() {
		if strings.Contains(c.Name, "speed") {
			continue
		}
		for _, target := range targetsOf(c) {
			t.Run(c.Name+"/"+target, func(t *testing.T) { test(t, c, target) })
		}
	}
}

// TestSeeds runs the examples with more seeds, which choose the order of warps and when
// asynchronous operations complete. All results must be equal byte by byte. EMU_SEEDS is the last
// seed, or the first and the last with a hyphen between; without it, TestSchedules is enough.
func TestSeeds(t *testing.T) {
	text := os.Getenv("EMU_SEEDS")
	if text == "" {
		return
	}
	first, last, err := seedRange(text)
	if err != nil {
		t.Fatal(err)
	}
	onTargets(t, func(t *testing.T, c Check, target string) {
		want, err := resultsOf(c, emu.Options{Target: target, Completion: emu.Eager})
		if err != nil {
			t.Fatal(err)
		}
		for seed := first; seed <= last; seed++ {
			got, err := resultsOf(c,
				emu.Options{Target: target, Completion: emu.Random, Seed: seed})
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
			} else if got != want && !unordered[c.Name] {
				t.Errorf("seed %d: the results differ", seed)
			}
		}
	})
}

// seedRange reads a range of seeds, such as 200 or 101-200.
func seedRange(text string) (first, last uint64, err error) {
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		from, to = "1", text
	}
	first, e1 := strconv.ParseUint(from, 10, 32)
	last, e2 := strconv.ParseUint(to, 10, 32)
	if err := errors.Join(e1, e2); err != nil || first < 1 || last < first {
		return 0, 0, fmt.Errorf("EMU_SEEDS=%s: expected a seed, or FIRST-LAST", text)
	}
	return first, last, nil
}

// resultsOf runs a check and returns a digest of all bytes copied from the device.
func resultsOf(c Check, o emu.Options) (string, error) {
	back, err := emu.New(o)
	if err != nil {
		return "", err
	}
	r := &recorder{Device: back, sum: sha256.New()}
	d := runtime.On(r)
	t := kerneltest.New(d)
	t.Budget = 1000
	err = c.Run(&T{t})
	err = errors.Join(err, d.Close())
	return fmt.Sprintf("%x", r.sum.Sum(nil)), err
}

// A recorder is a device that keeps a digest of all bytes copied from it.
type recorder struct {
	device.Device
	mutex sync.Mutex
	sum   hash.Hash
}

// Download copies from the device.
func (r *recorder) Download(to unsafe.Pointer, from device.Address, n int64, s device.Handle,
	later bool) error {
	if err := r.Device.Download(to, from, n, s, later); err != nil {
		return err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.sum.Write(unsafe.Slice((*byte)(to), n))
	return nil
}
