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

// boxes reads those comments.
func boxes(f *ir.Func) map[*ir.Var]int64 {
	list := make(map[*ir.Var]int64)
	for _, v := range f.Params {
		for _, text := range append([]string{v.Note}, v.Doc...) {
			_, rest, found := strings.Cut(text, size)
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
	n := 1
	if e.Kind == trace.BulkStore {
		n = 0
	}
	v := Val(e, Address(e.In, n))
	if v == nil || v.Single() == nil {
		return 0, false
	}
	of, ok := v.Single().Ref.(*ir.Var)
	if !ok {
		return 0, false
	}
	bytes, ok := p.kernelState.boxes[of]
	return bytes, ok
}
