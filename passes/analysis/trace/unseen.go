// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import "github.com/ptxdsl/ptxdsl/ir"

// unseen returns the first synchronizing or asynchronous instruction that no followed path
// reaches, or nil: its effects were not checked. Paths that can only end in a trap are
// ignored.
func (p *program) unseen() *ir.Instr {
	seen := make(map[*ir.Instr]bool)
	for _, t := range p.k.Traces {
		for i := range t.Events {
			seen[t.Events[i].In] = true
		}
	}
	for b, block := range p.k.Func.Blocks {
		if p.ruled[b] || p.doomed != nil && p.doomed[b] || b > 0 && len(p.flow.Preds[b]) == 0 {
			continue
		}
		for _, in := range block.Instrs {
			if in.Directive() || seen[in] {
				continue
			}
			switch p.kind(in) {
			case Other, Load, Store, Atomic, Touch, Call, Exit:
			default:
				return in
			}
		}
	}
	return nil
}
