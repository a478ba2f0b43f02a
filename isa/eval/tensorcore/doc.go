// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package tensorcore computes matrix products as tensor cores do: the fused and truncated sums of
// each architecture, fragments, sparsity, block scaling, and the descriptors of wgmma and tcgen05.
// It is pure: it reads registers and bytes that it is given and keeps no state.
//
// The sums follow the MMA-Sim reference model (microsoft/MMA-Sim, arXiv 2511.10909), whose authors
// compared it with hardware. Products are exact; every product and the accumulator are shifted to
// the largest exponent and truncated to a number of fractional bits; the truncated terms are added
// exactly; f32 results are truncated, f16 results rounded to nearest even.
//
//	architecture         fractional bits   fused sums of one instruction
//	Volta                23                one
//	Turing               24                one
//	Ampere               24                two for k8 of tf32 and k16 of f16 and bf16
//	Ada                  24, fp8 13        as Ampere, two for k32 of fp8
//	Hopper mma.sync      25                one (fp8: see below)
//	Hopper wgmma         25, fp8 13        one
//	Blackwell            25                one
//	packed e2m1, scaled  35                groups of 16 products are added exactly, then scaled
//
// Where the table has 13 bits, f32 results keep 13 bits of fraction too. Double precision is a
// chain of fused multiply-adds, integers are exact. The architecture Exact adds in float64 instead.
//
// The assembler replaces instructions that an architecture lacks. On Hopper and sm_100 an mma or
// mma.sp of fp8 becomes two matrix products of f16. Their sum starts from zero and is added to c
// last. From Ampere on, mma.m8n8k4 of f16 becomes a chain of f32 instructions.
//
// The models of Hopper, f64 and integers included, agree bit by bit with an H100 in all 640 cases
// of mma, mma.sp and wgmma in bench/results/gpu-agree.md.
package tensorcore
