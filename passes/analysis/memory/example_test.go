// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memory_test

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Example compares the writes of the threads of a block, four bytes each, with a copy into the same
// variable.
func Example() {
	p := value.NewPool(128, 1, 1, true)
	tile := p.Atom(64, value.OpVariable, "tile", &ir.Var{Name: "tile", Space: isa.Shared},
		value.Block)
	own := p.Add(64, tile, p.Scale(64, p.Special("%tid.x", 64), 4))
	stores, _ := memory.Of(p, own, 4, p.All())
	behind, _ := memory.Of(p, p.Add(64, tile, p.Const(64, 512)), 1024, value.First(1))
	across, _ := memory.Of(p, p.Add(64, tile, p.Const(64, 256)), 1024, value.First(1))
	for _, copied := range []memory.Region{behind, across} {
		sure, _ := stores.Meets(&copied)
		fmt.Println(stores.Var().Name, stores.Low, "to", stores.High, "and", copied.Low, "to",
			copied.High, "meet:", sure)
	}
	// Output:
	// tile 0 to 512 and 512 to 1536 meet: false
	// tile 0 to 512 and 256 to 1280 meet: true
}
