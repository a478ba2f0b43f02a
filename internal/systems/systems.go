// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package systems lists the options of the kernel families for matrix products and row
// operations, with the variants of the examples that test each option. Its test generates
// docs/reference/systems.md.
//
// To add a variant, return it from the function Variants of its example, with an Option of this
// package's list, and run go test ./internal/systems -run TestPage -update. A new example is
// added to the list in Systems.
package systems

import (
	"slices"

	rmsnorm "github.com/ptxdsl/ptxdsl/examples/08_rmsnorm"
	ladder "github.com/ptxdsl/ptxdsl/examples/10_matmul_ladder"
	multistage "github.com/ptxdsl/ptxdsl/examples/13_matmul_multistage"
	sparse "github.com/ptxdsl/ptxdsl/examples/14_matmul_sparse"
	hopper "github.com/ptxdsl/ptxdsl/examples/15_matmul_hopper"
	tcgen05 "github.com/ptxdsl/ptxdsl/examples/16_matmul_blackwell"
	blockscaled "github.com/ptxdsl/ptxdsl/examples/17_matmul_blockscaled"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	gemm "github.com/ptxdsl/ptxdsl/examples/23_gemm"
	allreduce "github.com/ptxdsl/ptxdsl/examples/24_allreduce"
	topk "github.com/ptxdsl/ptxdsl/examples/25_topk"
	moe "github.com/ptxdsl/ptxdsl/examples/26_moe"
	families "github.com/ptxdsl/ptxdsl/examples/27_calls"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/kerneltest"
)

// A System is a family of kernels.
type System struct {
	Name     string
	Options  []string // options that the family should have; the page lists those without a variant
	Pages    []string // names of the pages in docs/explanation/systems
	Examples []Example
}

// An Example is a directory in examples, with its variants.
type Example struct {
	Directory string
	Variants  []kerneltest.Variant
}

// Systems returns the systems in the order of the page.
func Systems() []System {
	return []System{
		{"Blackwell block-scaled GEMM", blackwell, []string{"blockscaled"}, []Example{
			{"16_matmul_blackwell", tcgen05.Variants()},
			{"17_matmul_blockscaled", blockscaled.Variants()},
		}},
		{"Ampere tensor cores", ampere, []string{"ampere"}, []Example{
			{"13_matmul_multistage", multistage.Variants()},
			{"14_matmul_sparse", sparse.Variants()},
		}},
		{"RMSNorm and its family", norms, []string{"rows"}, []Example{
			{"08_rmsnorm", rmsnorm.Variants()},
		}},
		{"BF16 ladder", rungs,
			[]string{"ladder-v0", "ladder-v1", "ladder-v2", "ladder-v3", "ladder-v4"}, []Example{
				{"10_matmul_ladder", ladder.Variants()},
			}},
		{"Hopper GEMM with wgmma", wgmma, nil, []Example{
			{"15_matmul_hopper", hopper.Variants()},
		}},
		{"Attention, experts and communication", requested, nil, []Example{
			{"18_attention", attention.Variants()},
			{"24_allreduce", allreduce.Variants()},
			{"25_topk", topk.Variants()},
			{"26_moe", moe.Variants()},
		}},
		{"Library calls", calls, nil, []Example{
			{"23_gemm", gemm.Variants()},
			{"27_calls", families.Variants()},
		}},
	}
}

// Missing returns the options for which no variant exists.
func (s System) Missing() []string {
	return slices.DeleteFunc(slices.Clone(s.Options), func(option string) bool {
		return slices.ContainsFunc(s.Examples, func(e Example) bool {
			return slices.ContainsFunc(e.Variants, func(v kerneltest.Variant) bool {
				return v.Option == option
			})
		})
	})
}

// Runs reports whether a kernel that is built for one of the targets can run on a device. A
// kernel without targets runs on all devices.
func Runs(targets []string, device string) bool {
	on, _ := isa.ParseTarget(device)
	d := on.Info()
	return len(targets) == 0 || slices.ContainsFunc(targets, func(name string) bool {
		target, _ := isa.ParseTarget(name)
		switch t := target.Info(); t.Suffix {
		case 'a':
			return t.Number == d.Number
		case 'f':
			return t.Family == d.Family && t.Number <= d.Number
		default:
			return t.Number <= d.Number
		}
	})
}
