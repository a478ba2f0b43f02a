// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// wrongBlackwell are mistakes with tensor memory, and with what blocks of a cluster share.
var wrongBlackwell = []wrongKernel{
	{"sm_100a", func(m *dsl.Module, _ *dsl.Kernel) { // tiles that blocks share
		k := m.Kernel("c", dsl.Threads(256), dsl.Cluster(3, 2))
		k.Pair() // want `D501: a pair of blocks in clusters of 6; Cluster\(2\) is expected, or another even number of blocks along x`
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		s := k.ScaleMap("s", dsl.NVFP4, 128, 256)
		k.Pipeline("p", 2, a.Feed().MulticastCol())         // want `D401: 128 rows of a cannot be split over a cluster of 3 in groups of eight|D501: nothing arrives`
		k.Pipeline("p", 2, s.Feed().MulticastCol())         // want `D401: 1 rows of s cannot be split over a cluster of 3|D501: nothing arrives`
		for range k.Dynamic(k.U32(4), k.U32(4), 1).Each() { // want `D501: the hardware deals tiles to clusters of 3 x 2 blocks; a single dimension is expected here`
		}
	}},
	{"sm_100a", func(m *dsl.Module, _ *dsl.Kernel) {
		k := m.Kernel("c", dsl.Threads(256), dsl.Cluster(2, 1, 2))
		a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)
		k.Pipeline("p", 2, a.Feed().MulticastHalf())           // want `D501: halves of a are shared, which pairs of blocks have \(Pair\); MulticastCol`
		k.Pipeline("p", 2, a.Feed().MulticastRow())            // want `D501: a is shared along rows and columns in a cluster of 2 x 1 x 2 blocks; two dimensions are expected`
		for range k.Persistent(k.U32(4), k.U32(4), 1).Each() { // want `D501: tiles are dealt to clusters of 2 x 1 x 2 blocks; two dimensions are expected`
		}
	}},
}
