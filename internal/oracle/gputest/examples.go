// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gputest

import (
	vecadd "github.com/ptxdsl/ptxdsl/examples/01_vecadd"
	saxpy "github.com/ptxdsl/ptxdsl/examples/02_saxpy"
	transpose "github.com/ptxdsl/ptxdsl/examples/03_transpose"
	reduce "github.com/ptxdsl/ptxdsl/examples/04_reduce"
	scan "github.com/ptxdsl/ptxdsl/examples/05_scan"
	histogram "github.com/ptxdsl/ptxdsl/examples/06_histogram"
	softmax "github.com/ptxdsl/ptxdsl/examples/07_softmax"
	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	simt "github.com/ptxdsl/ptxdsl/examples/09_matmul_simt"
	ladder "github.com/ptxdsl/ptxdsl/examples/10_matmul_ladder"
	clusters "github.com/ptxdsl/ptxdsl/examples/11_clusters"
	splitk "github.com/ptxdsl/ptxdsl/examples/12_matmul_splitk"
	multistage "github.com/ptxdsl/ptxdsl/examples/13_matmul_multistage"
	sparse "github.com/ptxdsl/ptxdsl/examples/14_matmul_sparse"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	blackwell "github.com/ptxdsl/ptxdsl/examples/16_matmul_blackwell"
	blockscaled "github.com/ptxdsl/ptxdsl/examples/17_matmul_blockscaled"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	w4a16 "github.com/ptxdsl/ptxdsl/examples/19_matmul_w4a16"
	fp8 "github.com/ptxdsl/ptxdsl/examples/20_matmul_fp8"
	grouped "github.com/ptxdsl/ptxdsl/examples/21_matmul_grouped"
	streamk "github.com/ptxdsl/ptxdsl/examples/22_matmul_streamk"
	gemm "github.com/ptxdsl/ptxdsl/examples/23_gemm"
	allreduce "github.com/ptxdsl/ptxdsl/examples/24_allreduce"
	topk "github.com/ptxdsl/ptxdsl/examples/25_topk"
	moe "github.com/ptxdsl/ptxdsl/examples/26_moe"
	calls "github.com/ptxdsl/ptxdsl/examples/27_calls"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// An Example is a directory in examples.
type Example struct {
	Name    string   // name of its directory
	Targets []string // targets it is built for
	Check   func(*kerneltest.T) error
	Speed   func(*kerneltest.T) error // nil if it has no benchmark
}

// Examples returns the examples, in order.
func Examples() []Example {
	return []Example{
		{"01_vecadd", vecadd.Targets, vecadd.Check, nil},
		{"02_saxpy", saxpy.Targets, saxpy.Check, nil},
		{"03_transpose", transpose.Targets, transpose.Check, nil},
		{"04_reduce", reduce.Targets, reduce.Check, nil},
		{"05_scan", scan.Targets, scan.Check, nil},
		{"06_histogram", histogram.Targets, histogram.Check, nil},
		{"07_softmax", softmax.Targets, softmax.Check, nil},
		{"08_rmsnorm", rmsnorm.Targets, rmsnorm.Check, nil},
		{"09_matmul_simt", simt.Targets, simt.Check, nil},
		{"10_matmul_ladder", ladder.Targets, ladder.Check, nil},
		{"11_clusters", clusters.Targets, clusters.Check, nil},
		{"12_matmul_splitk", splitk.Targets, splitk.Check, nil},
		{"13_matmul_multistage", multistage.Targets, multistage.Check, nil},
		{"14_matmul_sparse", sparse.Targets, sparse.Check, nil},
		{"15_matmul_hopper", hopper.Targets, hopper.Check, nil},
		{"16_matmul_blackwell", blackwell.Targets, blackwell.Check, nil},
		{"17_matmul_blockscaled", blockscaled.Targets, blockscaled.Check, nil},
		{"18_attention", attention.Targets, attention.Check, attention.Speed},
		{"19_matmul_w4a16", w4a16.Targets, w4a16.Check, w4a16.Speed},
		{"20_matmul_fp8", fp8.Targets, fp8.Check, fp8.Speed},
		{"21_matmul_grouped", grouped.Targets, grouped.Check, grouped.Speed},
		{"22_matmul_streamk", streamk.Targets, streamk.Check, streamk.Speed},
		{"23_gemm", gemm.Targets, gemm.Check, nil},
		{"24_allreduce", allreduce.Targets, allreduce.Check, nil},
		{"25_topk", topk.Targets, topk.Check, nil},
		{"26_moe", moe.Targets, moe.Check, nil},
		{"27_calls", calls.Targets, calls.Check, nil},
	}
}

// exampleChecks returns checks that run the examples. An example for another target is skipped.
func exampleChecks() []Check {
	var list []Check
	for _, e := range Examples() {
		list = append(list, Check{"examples", e.Name, func(t *T) error { return e.Check(t.T) }})
		if e.Speed != nil {
			list = append(list,
				Check{"examples", e.Name + ", speed", func(t *T) error { return e.Speed(t.T) }})
		}
	}
	return list
}
