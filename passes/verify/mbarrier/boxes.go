// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mbarrier

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// An expectedLoad is the byte count that one phase of an mbarrier expects, and the copies that
// complete on the mbarrier in this phase.
type expectedLoad struct {
	expects *trace.Event
	bytes   int64
	copies  []string // opcode and tensor map of each copy
}

// compareTensorBytes compares the phases of an mbarrier. The size of a tensor copy is part of the
// tensor map and not of the PTX, but the same copies must transfer the same number of bytes in
// each phase.
func compareTensorBytes(p *verify.Pass) {
	said := make(map[string]*expectedLoad)
	hold := func(l *expectedLoad) {
		if l == nil || len(l.copies) == 0 {
			return
		}
		key := strings.Join(l.copies, " ")
		if was := said[key]; was == nil {
			said[key] = l
		} else if was.bytes != l.bytes {
			p.Report(&ruleBytes, l.expects.In,
				"expect_tx is %d bytes here, but %[2]d bytes elsewhere for the same copies",
				l.bytes, was.bytes).
				Also(was.expects.In,
					"the same copies, from the same tensors")
		}
	}
	for _, t := range p.Traces {
		open := make(map[verify.Object]*expectedLoad)
		for i := range t.Events {
			e := &t.Events[i]
			expects := verify.Expects(e.In)
			if !expects && (e.Kind != trace.BulkLoad || !verify.Tensor(e.In)) {
				continue
			}
			list, ok := p.Objects(e, verify.Val(e, verify.Target(e)))
			if !ok || len(list) != 1 || e.Guard != nil {
				return
			}
			o := list[0]
			switch l := open[o.Object]; {
			case expects:
				bytes, known := verify.Number(e, verify.Address(e.In, 0)+1)
				if !known || o.Threads.Len() != 1 {
					return
				}
				hold(l)
				open[o.Object] = &expectedLoad{expects: e, bytes: bytes}
			case l == nil:
				return // the copy precedes its expect_tx
			default:
				from := verify.Val(e, verify.Address(e.In, 1))
				if from == nil {
					return
				}
				l.copies = append(l.copies, fmt.Sprint(e.In.Op, from.ID))
			}
		}
		for i := range t.Events {
			if e := &t.Events[i]; verify.Expects(e.In) {
				list, _ := p.Objects(e, verify.Val(e, verify.Target(e)))
				for _, o := range list {
					hold(open[o.Object])
					delete(open, o.Object)
				}
			}
		}
	}
}
