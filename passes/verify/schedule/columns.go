// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// recordColumns records the accesses of a tcgen05 operation to tensor memory. Only the first
// column of each operand is recorded; it represents all columns of the operand.
func (m *machine) recordColumns(a *agent, e *trace.Event, operation int, write bool) {
	if e.Kind == trace.TensorCopy || e.Kind == trace.TensorShift {
		return
	}
	at := verify.Address(e.In, 0)
	width := int64(1)
	if e.Kind == trace.TensorFree {
		at = 0
		if width, _ = verify.Number(e, 1); width < 1 {
			return
		}
	}
	m.recordColumn(a, e, at, width, operation, write)
	if e.Kind != trace.TensorMultiply {
		return
	}
	// An operand, the scale factors and the sparsity metadata may be in tensor memory too.
	for n := 1; verify.Address(e.In, n) >= 0; n++ {
		m.recordColumn(a, e, verify.Address(e.In, n), width, operation, false)
	}
}

// recordColumn records an access to the tensor memory columns that operand number at names.
func (m *machine) recordColumn(a *agent, e *trace.Event, at int, width int64, operation int,
	write bool) {
	v := verify.Val(e, at)
	if v == nil {
		return
	}
	root := m.p.Pool.Rest(v)
	own := m.p.Pool.Sub(v.Width, v, root) // lane and column, which may depend on the warp index
	column := m.p.Pool.Add(64, root, m.p.Pool.Const(64, m.p.Pool.At(own, e.Threads.Least())&0xffff))
	r, ok := memory.Of(m.p.Pool, column, width, *e.Threads)
	if !ok {
		return
	}
	x := access{e: e, by: a, when: a.at + 1, operation: operation, write: write, block: a.block,
		region: r, tensor: true, lanes: m.p.TensorLanes(e, at, *e.Threads)}
	m.recordAccess(&x)
	if e.Kind == trace.TensorMultiply && e.In.HasMod(isa.ModCTAGroup2) && m.p.Ranks > 1 {
		x.block ^= 1
		m.recordAccess(&x)
	}
}
