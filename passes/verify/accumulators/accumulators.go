// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package accumulators reports accumulators that need more registers than a role or the launch
// allows. Accumulators stay in registers from the first MMA to their store. If they alone need
// all registers, ptxas must spill some of them or ignore setmaxnreg.
package accumulators

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer that compares the registers of live accumulators with the limit.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "accumulators",
		Doc: `Accumulators reports accumulators that are live at the same time and need at least as many
registers as a thread has. The registers of other values are not counted.`,
		Rules: []*diag.Rule{&annotated.Role},
		Run:   run,
	}
}

// registerLimit returns the largest number of registers that a thread may have, and a phrase for
// messages that names the origin of the limit.
func registerLimit(f *ir.Func) (n int, who string) {
	n, who = 255, "a thread has at most 255"
	notes := f.Annotations
	if t := max(notes.Threads(), notes.Most); t > 0 {
		if all := t * max(1, notes.Blocks); 65536/all/8*8 < n {
			n = 65536 / all / 8 * 8
			who = strconv.Itoa(all) + " threads of a multiprocessor have " + strconv.Itoa(n) +
				" each"
		}
	}
	if a := f.Attr(".maxnreg"); a != nil {
		if most, err := strconv.Atoi(strings.TrimSpace(a.Text)); err == nil && most < n {
			n, who = most, "MaxRegs allows "+a.Text
		}
	}
	return n, who
}

func run(p *annotated.Pass) {
	if len(p.Notes.Accumulators) == 0 {
		return
	}
	common := 0 // registers of accumulators outside roles that have a register budget
	for _, a := range p.Notes.Accumulators {
		if a.Role == nil || a.Role.Registers == 0 {
			common += a.Words
		}
	}
	most, _ := registerLimit(p.Func)
	many := common >= most
	for _, r := range p.Notes.Roles {
		all := common
		for _, a := range p.Notes.Accumulators {
			if a.Role == r {
				all += a.Words
			}
		}
		many = many || r.Budgeted && all >= r.Registers
	}
	if many { // only then is liveness worth computing
		newLiveRegisters(p).check()
	}
}
