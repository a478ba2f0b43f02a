// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/isa"
)

// TestProductsUnderWay releases stages while MMAs may or may not be in flight, and checks that a
// wait precedes the arrival if one is needed.
func TestProductsUnderWay(t *testing.T) {
	byHand := func(k *dsl.Kernel) {
		a, b := dsl.NewReg[dsl.B32](k), dsl.NewReg[dsl.B32](k)
		d, yes := k.U64(0).Var(), k.Lane().GEI(0)
		k.Ins("wgmma.fence.sync.aligned")
		k.Ins("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16", []dsl.Reg[dsl.B32]{a, b}, d, d,
			yes, 1, 1, 0, 0)
	}
	for _, test := range []struct {
		name           string
		then           func(k *dsl.Kernel, acc *dsl.Accumulator)
		commits, waits int
	}{
		{"nothing", func(*dsl.Kernel, *dsl.Accumulator) {}, 1, 1},
		{"a wait", func(_ *dsl.Kernel, acc *dsl.Accumulator) { acc.Wait() }, 1, 1},
		{"a group", func(k *dsl.Kernel, _ *dsl.Accumulator) { k.CommitMMA() }, 1, 1},
		{"a wait for all but one", func(k *dsl.Kernel, _ *dsl.Accumulator) {
			k.CommitMMA()
			k.WaitMMA(1)
		}, 1, 2},
		{"a wait that may not happen", func(k *dsl.Kernel, acc *dsl.Accumulator) {
			k.If(k.Lane().GEI(0), acc.Wait)
		}, 2, 2},
		{"a wait and a product by hand", func(k *dsl.Kernel, acc *dsl.Accumulator) {
			acc.Wait()
			byHand(k)
		}, 2, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := dsl.New("m", "sm_90a")
			k := m.Kernel("k", dsl.Warpgroups(2))
			a := k.TensorMap("a", isa.Bf16, dsl.Box{Rows: 64, Cols: 64}, dsl.Swizzle128)
			n := dsl.Param[dsl.U32](k, "n")
			p := k.Pipeline("p", 2, a.Feed())
			k.Roles(
				dsl.OnWarp(4, "load", func() {
					for s := range p.Produce(n) {
						s.Load(a, dsl.TileAt(k.U32(0), s.Iteration()))
					}
				}),
				dsl.OnWarpgroup(0, "multiply", func() {
					acc := k.Accumulator(64, 64, isa.F32)
					for s := range p.Consume(n) {
						acc.MMA(s.Tile(a), s.Tile(a))
						test.then(k, acc)
					}
				}),
			)
			text, err := m.Text()
			if err != nil {
				t.Fatal(err)
			}
			if c, w := strings.Count(text, "wgmma.commit_group"),
				strings.Count(text, "wgmma.wait_group"); c != test.commits || w != test.waits {
				t.Errorf("%d groups and %d waits, want %d and %d\n%s", c, w, test.commits,
					test.waits, text)
			}
		})
	}
}
