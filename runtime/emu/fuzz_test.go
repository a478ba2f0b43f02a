// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/oracle/agree"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// FuzzLoad loads arbitrary text and decodes all its kernels. It must not panic.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/wrong/*.ptx")
	if err != nil || len(files) == 0 {
		f.Fatal(err, len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, _ := parse("fuzz", text)
		if m == nil {
			return
		}
		if err := m.place(newMemory(1<<20, 0)); err != nil {
			return
		}
		for name, fn := range m.defined {
			if fn.Kernel {
				_, err := m.image(name)
				var why *Unsupported
				if err != nil && !errors.As(err, &why) {
					t.Fatal(err)
				}
			}
		}
	})
}

// fuzzTargets are the targets of random kernels.
var fuzzTargets = []string{"sm_80", "sm_90a", "sm_100a", "sm_120a"}

// randomKernels returns a generator of kernels for a target that uses only emulated instructions.
// It generates no branches, so every kernel ends.
func randomKernels(target string) *agree.Kernels {
	to, _ := isa.ParseTarget(target)
	return agree.NewKernels(isa.Standard(), isa.Newest(), to,
		func(ins *isa.Instruction, f *isa.Form) bool {
			switch f.Kind {
			case isa.KindBra, isa.KindBrxIdx, isa.KindCall, isa.KindRet, isa.KindExit, isa.KindTrap:
				return false
			}
			return Emulates(f)
		})
}

// runRandom runs a random kernel of n instructions. An invalid instruction may end it with a fault.
func runRandom(t *testing.T, kernels *agree.Kernels, target string, seed uint64,
	n int) (faulted bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	text := kernels.Kernel(rng, n)
	defer func() {
		if x := recover(); x != nil {
			t.Errorf("seed %d: panic: %v\n%s", seed, x, text)
			panic(x)
		}
	}()
	d, err := New(Options{Target: target, Workers: 1, Memory: 1 << 24, Output: io.Discard,
		Completion: Completion(seed % 3), Seed: seed, Unchecked: seed%2 == 0})
	if err != nil {
		t.Fatal(err)
	}
	l, err := d.Load(device.Image{Name: "random", PTX: text})
	if err != nil {
		return true // the variables do not fit
	}
	k, err := d.Kernel(l.Module, "k", 0)
	if err != nil {
		var why *Unsupported
		if !errors.As(err, &why) {
			t.Errorf("seed %d: %v\n%s", seed, err, text)
		}
		return true
	}
	out, err := d.Allocate(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Fill(out, 1, 4, 1<<14, 0); err != nil {
		t.Fatal(err)
	}
	values := make([]byte, 256)
	little.PutUint64(values, uint64(out))
	launch := &device.Launch{Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{64, 1, 1}, Values: values}
	if d.info.Clusters {
		launch.Cluster = [3]uint32{2, 1, 1}
	}
	return k.Launch(launch) != nil
}

// FuzzKernels runs random legal kernels. They must end without a panic.
func FuzzKernels(f *testing.F) {
	all := make([]*agree.Kernels, len(fuzzTargets))
	for i, target := range fuzzTargets {
		all[i] = randomKernels(target)
	}
	for i := range uint64(40) {
		f.Add(i, uint8(i), uint8(1+i%5))
	}
	f.Fuzz(func(t *testing.T, seed uint64, target, n uint8) {
		i := int(target) % len(fuzzTargets)
		runRandom(t, all[i], fuzzTargets[i], seed, int(n%16)+1)
	})
}

// TestRandomKernels runs random kernels of one instruction and checks that enough of them complete
// without a fault.
func TestRandomKernels(t *testing.T) {
	for _, target := range fuzzTargets {
		kernels := randomKernels(target)
		ended := 0
		const tries = 300
		for seed := range uint64(tries) {
			if !runRandom(t, kernels, target, seed, 1) {
				ended++
			}
			if t.Failed() {
				return
			}
		}
		t.Logf("%s: %d of %d kernels end without a fault", target, ended, tries)
		if ended < tries/2 {
			t.Errorf("%s: %d of %d kernels end without a fault, want half", target, ended, tries)
		}
	}
}
