// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/diag"
)

// differences reports results that depend on the schedule.
func (k *kernel) differences(runs []*run) diag.List {
	type contents struct {
		count  uint64
		inputs bool
	}
	seen := make(map[contents]*run)
	for _, x := range runs {
		if x.fault != nil || x.err != nil || x.filled || x.blocks != 0 || x.hasOtherBlock() ||
			x.unordered() {
			continue
		}
		c := contents{x.count, x.inputs}
		first := seen[c]
		if first == nil {
			seen[c] = x
			continue
		}
		if x.result != first.result {
			at, _ := k.module.At(k.fn.Pos)
			d := diag.Diagnostic{Place: at, Rule: RuleOrder, Severity: diag.Review}
			if x.scattered {
				d.Message = k.scatteredResult()
			} else {
				d.Message = fmt.Sprintf(
					"results differ between %s and %s: they depend on the order in which threads run",
					first.order(), x.order())
			}
			return diag.List{d}
		}
	}
	return nil
}

// order describes the order of a run for a message.
func (x *run) order() string {
	if x.delayed != nil {
		return x.delayed.String()
	}
	return fmt.Sprintf("schedule %d", x.schedule.seed)
}

// overrun returns the finding for accesses past shared memory with the block that .maxntid
// declares. The kernel may be written for smaller blocks.
func (k *kernel) overrun() diag.List {
	x := k.tooLarge
	if x == nil || k.declaresBlock() {
		return nil
	}
	return diag.List{{Place: x.fault.Place, Rule: RuleFault, Severity: diag.Review,
		Message: describeFault(x.fault) + "; with the number of threads that .maxntid declares"}}
}
