// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// Copied returns how many bytes a bulk copy transfers. The result is false if the number is
// unknown. For a tensor copy, including a gather of four rows, only an annotation of the tensor
// map states it.
func (p *Pass) Copied(e *trace.Event) (int64, bool) {
	if !Tensor(e.In) {
		return Number(e, 2)
	}
	if b := box(e); b != nil && b.Bytes > 0 {
		return b.Bytes, true
	}
	return 0, false
}

// Element returns the size in bytes of the elements of a copy's tensor map. The result is false
// unless an annotation of the tensor map states 1, 2, 4 or 8 bytes.
func (p *Pass) Element(e *trace.Event) (int64, bool) {
	if b := box(e); b != nil &&
		(b.Element == 1 || b.Element == 2 || b.Element == 4 || b.Element == 8) {
		return b.Element, true
	}
	return 0, false
}

// box returns the annotation of a copy's tensor map, or nil.
func box(e *trace.Event) *ir.Box {
	if v := tensorMap(e); v != nil {
		return v.Box
	}
	return nil
}

// tensorMap returns the parameter that holds a copy's tensor map, or nil.
func tensorMap(e *trace.Event) *ir.Var {
	n := 1
	if e.Kind == trace.BulkStore {
		n = 0
	}
	v := Val(e, Address(e.In, n))
	if v == nil || v.Single() == nil {
		return nil
	}
	of, _ := v.Single().Ref.(*ir.Var)
	return of
}
