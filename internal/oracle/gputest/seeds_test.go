// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
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
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// unordered are the examples that add floating-point numbers with atomics of several blocks. Their
// results depend on the order, and only have to be within the tolerance of their references.
var unordered = map[string]bool{"04_reduce": true, "12_matmul_splitk": true}

// TestSeeds runs the examples with many seeds, which choose the order of warps and when
// asynchronous operations complete. It also runs them with operations that complete immediately,
// and as late as allowed. All results must be equal byte by byte. EMU_SEEDS is the last seed, or
// the first and the last with a hyphen between.
func TestSeeds(t *testing.T) {
	first, last, err := seedRange(os.Getenv("EMU_SEEDS"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range exampleChecks() {
		if strings.Contains(c.Name, "speed") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			want, err := resultsOf(c, emu.Options{Completion: emu.Eager})
			if errors.Is(err, kerneltest.ErrSkip) || errors.As(err, new(*emu.Unsupported)) {
				t.Skipf("the emulator does not run it yet: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			try := func(o emu.Options) {
				got, err := resultsOf(c, o)
				if err != nil {
					t.Errorf("seed %d, completion %d: %v", o.Seed, o.Completion, err)
				} else if got != want && !unordered[c.Name] {
					t.Errorf("seed %d, completion %d: the results differ", o.Seed, o.Completion)
				}
			}
			try(emu.Options{Completion: emu.Late})
			for seed := first; seed <= last; seed++ {
				try(emu.Options{Completion: emu.Random, Seed: seed})
			}
		})
	}
}

// seedRange reads a range of seeds, such as 200 or 101-200. The empty text is 1.
func seedRange(text string) (first, last uint64, err error) {
	if text == "" {
		return 1, 1, nil
	}
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

// seedTargets are the targets of the examples that do not run on sm_90a.
var seedTargets = map[string]string{
	"13_matmul_multistage": "sm_80", "14_matmul_sparse": "sm_80",
	"16_matmul_blackwell": "sm_100a", "17_matmul_blockscaled": "sm_100a",
}

// resultsOf runs a check and returns a digest of all bytes copied from the device.
func resultsOf(c Check, o emu.Options) (string, error) {
	if o.Target = seedTargets[c.Name]; o.Target == "" {
		o.Target = "sm_90a"
	}
	back, err := emu.New(o)
	if err != nil {
		return "", err
	}
	r := &recorder{Device: back, sum: sha256.New()}
	d := runtime.On(r)
	t := kerneltest.New(d)
	t.Budget = 3000
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
