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
	"github.com/ptxdsl/ptxdsl/internal/trial"
)

// exampleChecks hold the examples. Those for sm_100a have run nowhere yet: on other devices they are skipped.
func exampleChecks() []Check {
	var list []Check
	for _, e := range []struct {
		name  string
		check func(*trial.T) error
	}{
		{"01_vecadd", vecadd.Check},
		{"02_saxpy", saxpy.Check},
		{"03_transpose", transpose.Check},
		{"04_reduce", reduce.Check},
		{"05_scan", scan.Check},
		{"06_histogram", histogram.Check},
		{"07_softmax", softmax.Check},
		{"08_rmsnorm", rmsnorm.Check},
		{"09_matmul_simt", simt.Check},
		{"10_matmul_ladder", ladder.Check},
		{"11_clusters", clusters.Check},
		{"12_matmul_splitk", splitk.Check},
		{"13_matmul_multistage", multistage.Check},
		{"14_matmul_sparse", sparse.Check},
		{"15_matmul_hopper", hopper.Check},
		{"16_matmul_blackwell", blackwell.Check},
		{"17_matmul_blockscaled", blockscaled.Check},
		{"18_attention", attention.Check},
		{"18_attention, speed", attention.Speed},
		{"19_matmul_w4a16", w4a16.Check},
		{"19_matmul_w4a16, speed", w4a16.Speed},
		{"20_matmul_fp8", fp8.Check},
		{"20_matmul_fp8, speed", fp8.Speed},
		{"21_matmul_grouped", grouped.Check},
		{"21_matmul_grouped, speed", grouped.Speed},
		{"22_matmul_streamk", streamk.Check},
		{"22_matmul_streamk, speed", streamk.Speed},
	} {
		list = append(list, Check{"examples", e.name, func(t *T) error { return e.check(t.T) }})
	}
	return list
}
