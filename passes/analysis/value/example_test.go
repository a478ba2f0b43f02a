// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value_test

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Example computes the index of a stage in a ring of four in two ways, and the threads of a block
// that are in its second warp.
func Example() {
	p := value.NewPool(64, 1, 1, true)
	turn := p.Atom(32, value.OpParameter, "turn", nil, value.Block)
	masked := p.Binary(value.OpAnd, 32, turn, p.Const(32, 3))
	rest := p.Binary(value.OpRem, 32, turn, p.Const(32, 4))
	fmt.Println("one value:", masked == rest)

	tid := p.Special("%tid.x", 32)
	second := p.Where(p.Compare(value.OpEq, false, p.Binary(value.OpShr, 32, tid, p.Const(32, 5)),
		p.Const(32, 1)), p.All())
	fmt.Println("threads", second.Least(), "to", second.Most())
	// Output:
	// one value: true
	// threads 32 to 63
}
