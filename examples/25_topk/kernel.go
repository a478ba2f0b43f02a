// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package topk is a kernel that finds the largest elements in each row of a matrix, such as the
// logits of a language model, and samples one of them.
package topk

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

type (
	f32  = dsl.Reg[dsl.F32]
	u32  = dsl.Reg[dsl.U32]
	pred = dsl.Reg[dsl.Pred]
)

// Threads is the number of threads per block, and the largest possible count.
const Threads = 256

// Name returns the name of the kernel for a type and count.
func Name(t isa.Type, count int) string { return fmt.Sprintf("topk_%s_%d", t.String()[1:], count) }

// Build adds to m a kernel that writes the count largest elements of each row, in descending
// order, and their columns. The elements are .f32, .f16 or .bf16. Equal elements are ordered by
// column, and NaN is less than all numbers. The kernel also samples a column for each row. The
// probabilities are the softmax of the elements divided by a temperature. Only the most probable
// elements whose sum of probabilities reaches top_p of the total are kept. The result is the
// first element for which the running sum exceeds the product of the sum of the kept
// probabilities and a random number from 0 to 1. The grid has one block per row; a row has at
// least count columns.
func Build(m *dsl.Module, t isa.Type, count int) {
	if t == isa.F32 {
		build[dsl.F32](m, count)
	} else if t == isa.F16 {
		build[dsl.F16](m, count)
	} else {
		build[dsl.BF16](m, count)
	}
}

func build[E dsl.Scalar](m *dsl.Module, count int) {
	k := m.Kernel(Name(dsl.TypeOf[E](), count), dsl.Threads(Threads))
	if count < 1 || count > Threads {
		k.Errorf("the %d largest elements, expected 1 to %d", count, Threads)
		return
	}
	x, values, indices := dsl.Global[E](k, "x"), dsl.Global[dsl.F32](k, "values"),
		dsl.Global[dsl.U32](k, "indices")
	tokens, random := dsl.Global[dsl.U32](k, "tokens"), dsl.Global[dsl.F32](k, "random")
	cols, temperature, topP := dsl.Param[dsl.U32](k, "cols"), dsl.Param[dsl.F32](k, "temperature"),
		dsl.Param[dsl.F32](k, "top_p")
	row := k.CTAID().X
	x = x.At64(dsl.MulWide[dsl.U64](row, cols))
	values, indices = values.At(row.MulI(int64(count))), indices.At(row.MulI(int64(count)))
	key := func(col u32) u32 { return keyOf(dsl.To[dsl.F32](x.Load(col))) }

	least, equal := threshold(k, cols, count, key)
	keys, places := gather(k, cols, count, key, least, equal)
	k.Comment("the rank of each element is the number of those before it")
	own := k.Thread()
	sorted, columns := dsl.Shared[dsl.F32](k, "sorted", Threads),
		dsl.Shared[dsl.U32](k, "columns", Threads)
	k.If(own.LTI(int64(count)), func() {
		mine, rank := keys.Load(own), k.U32(0).Var()
		for i := range k.RangeI(0, count) {
			other := keys.Load(i)
			before := dsl.Select(i.LT(own), one(other.GE(mine)), one(other.GT(mine)))
			rank.Set(rank.Add(before))
		}
		value, col := valueOf(mine), places.Load(own)
		sorted.Store(rank, value)
		columns.Store(rank, col)
		values.Store(rank, value)
		indices.Store(rank, col)
	})
	k.Sync()
	rank := sample(k, count, sorted, temperature, topP, random.Load(row))
	k.If(own.EQI(0), func() { tokens.Store(row, columns.Load(rank)) })
}
