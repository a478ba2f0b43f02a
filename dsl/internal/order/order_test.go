// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package order

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptxdsl/ptxdsl/ir"
)

// TestOrder appends instructions to blocks, also to a block that was left before, and requests the
// lists in between: the result is the same as with one append each.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var o Order
		var blocks []*ir.Block
		want := make(map[*ir.Block][]*ir.Instr)
		for range 1 + random.IntN(2000) {
			switch random.IntN(40) {
			case 0:
				o.Gather()
			case 1:
				blocks = append(blocks, &ir.Block{})
				o.Place(blocks[len(blocks)-1])
			}
			if len(blocks) == 0 {
				continue
			}
			to := blocks[len(blocks)-1]
			if random.IntN(10) == 0 {
				to = blocks[random.IntN(len(blocks))]
			}
			if got := o.Empty(to); got != (len(want[to]) == 0) {
				t.Fatalf("block of %d instructions: Empty returned %t", len(want[to]), got)
			}
			if random.IntN(20) == 0 {
				latest := slices.Collect(o.Backward(to))
				if slices.Reverse(latest); !slices.Equal(latest, want[to]) {
					t.Fatalf("%d instructions from the latest on, of %d", len(latest),
						len(want[to]))
				}
			}
			want[to] = append(want[to], o.Next())
			o.Put(to)
		}
		o.Gather()
		for _, b := range blocks {
			if !slices.Equal(b.Instrs, want[b]) {
				t.Fatalf("%d instructions in the list of a block, of %d", len(b.Instrs),
					len(want[b]))
			}
		}
	}
}
