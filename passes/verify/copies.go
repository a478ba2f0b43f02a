// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
)

// size starts a comment after a tensor map parameter: "// ptxdsl:bytes 16384" states how many bytes
// one copy of its box transfers, which PTX does not contain.
const size = "ptxdsl:bytes"

// Bytes returns the comment that states how many bytes one copy of a tensor map's box
// transfers.
func Bytes(n int) string { return fmt.Sprint("// ", size, " ", n) }

// element starts a comment that states the size of an element of a tensor map in bytes.
const element = "ptxdsl:element"

// boxes reads the comments that state the bytes of boxes.
func boxes(f *ir.Func) map[*ir.Var]int64 { return stated(f, size) }

// stated reads comments that state a number for a parameter.
func stated(f *ir.Func, key string) map[*ir.Var]int64 {
	list := make(map[*ir.Var]int64)
	for _, v := range f.Params {
		for _, text := range append([]string{v.Note}, v.Doc...) {
			_, rest, found := strings.Cut(text, key)
			word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			if n, err := strconv.ParseInt(word, 10, 64); found && err == nil && n > 0 {
				list[v] = n
			}
		}
	}
	return list
}

// Copied returns how many bytes a bulk copy transfers, if that is known. For a tensor box, or
// the four rows of a gather, a comment after the tensor map states it.
func (p *Pass) Copied(e *trace.Event) (int64, bool) {
	if !Tensor(e.In) {
		return Number(e, 2)
	}
	bytes, ok := p.kernelState.boxes[tensorMap(e)]
	return bytes, ok
}

// Element returns the size of an element of the tensor map of a copy, if a comment after the tensor
// map states one of 1, 2, 4 or 8 bytes.
func (p *Pass) Element(e *trace.Event) (int64, bool) {
	if p.kernelState.elements == nil {
		p.kernelState.elements = stated(p.Func, element)
	}
	n, ok := p.kernelState.elements[tensorMap(e)]
	return n, ok && (n == 1 || n == 2 || n == 4 || n == 8)
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
