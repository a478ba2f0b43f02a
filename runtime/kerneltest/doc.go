// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package kerneltest tests kernels. It runs them on a GPU or on the emulator with random inputs,
// and compares their results with a reference within a tolerance.
//
// A check is a function that runs a kernel and compares its results:
//
//	func Check(t *kerneltest.T) error {
//		k, err := t.Kernel("saxpy", Build)
//		if err != nil {
//			return err
//		}
//		for _, n := range t.Lengths(4, 1020, 1<<20) {
//			x, y := t.Float32s(n), t.Float32s(n)
//			want := Reference(2, x, y)
//			err := t.Launch(k, runtime.Threads(n),
//				kerneltest.In(x), kerneltest.InOut(y), float32(2), n)
//			if err != nil {
//				return err
//			}
//			what := fmt.Sprintf("n = %d", n)
//			if err := kerneltest.Compare(t, what, y, want, kerneltest.F32.ULPs(1)); err != nil {
//				return err
//			}
//		}
//		return nil
//	}
//
// Run is its test. It runs the check on an emulated device for each target, so it needs no GPU:
//
//	func TestRun(t *testing.T) {
//		kerneltest.Run(t, Check, "sm_80", "sm_90a", "sm_100a").Tight(t, 4)
//	}
//
// A check does not depend on package testing: programs can call it with a device of their own (see
// New). Package golden compares and assembles the PTX of kernels.
package kerneltest
