// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// Copied returns how many bytes a bulk copy transfers, if that is known. For a tensor box, or
// the four rows of a gather, a comment after the tensor map states it.
func (p *Pass) Copied(e *trace.Event) (int64, bool) {
	if !Tensor(e.In) {
		return Number(e, 2)
	}
	if b := box(e); b != nil && b.Bytes > 0 {
		return b.Bytes, true
	}
	return 0, false
}

// Element returns the size of an element of the tensor map of a copy, if a comment after the tensor
// map states one of 1, 2, 4 or 8 bytes.
func (p *Pass) Element(e *trace.Event) (int64, bool) {
	if b := box(e); b != nil &&
		(b.Element == 1 || b.Element == 2 || b.Element == 4 || b.Element == 8) {
		return b.Element, true
	}
	return 0, false
}

// box returns what is known of the copies with the tensor map of a copy, or nil.
func box(e *trace.Event) *ir.Box {
	if v := tensorMap(e); v != nil {
		return v.Box
	}
	return nil
}

// tensorMap returns the parameter that holds the tensor map of a copy, or nil.
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
