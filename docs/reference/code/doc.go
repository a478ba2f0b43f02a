// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package code contains the Go code of the CUDA-to-Go tables. A comment //cuda: contains CUDA code,
// and a comment //cuda:text describes it in words. The lines after the comment are the equivalent
// Go code.
package code

import "github.com/ptxdsl/ptxdsl/dsl"

type (
	u32  = dsl.Reg[dsl.U32]
	f32  = dsl.Reg[dsl.F32]
	pred = dsl.Reg[dsl.Pred]
)

func add(a, b f32) f32 { return a.Add(b) }

// use marks values as used that are only shown in a table.
func use(...any) {}
