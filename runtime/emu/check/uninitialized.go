// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
)

// uninitialized repeats launches that ended without an error, and reports values that were never
// written but reach global memory, an address or a branch. The finding is an error if it occurs in
// every repeated launch. The best run has been repeated already, which is first.
func (k *kernel) uninitialized(r *Result, best, first *run, all []*run) {
	if !k.searchesValues(best, all) {
		return
	}
	k.values = true
	defer func() { k.values = false }()
	if first.fault == nil && k.guarded() { // the kernel supports every count
		for _, x := range k.comparable(best, all) {
			if x.hasOtherBlock() {
				continue
			}
			if y := k.again(x); y.fault != nil {
				best, first = x, y
				break
			}
		}
	}
	d := diag.Diagnostic{Rule: RuleValue, Severity: diag.Error}
	if first.fault == nil {
		if y, only := k.unusual(best, all); y != nil {
			best, first, d.Severity = y, y, diag.Review
			d.Message = "; it occurs only with " + only
		}
	}
	if first.fault == nil || !unwritten(first.fault) {
		return
	}
	d.Place, d.Message = first.fault.Place, describeFault(first.fault)+d.Message
	for _, x := range k.comparable(best, all) {
		if d.Severity == diag.Review || k.guarded() && x.block == best.block {
			continue
		}
		if y := k.again(x); y.fault == nil || y.fault.Place != first.fault.Place {
			d.Severity = diag.Review
			d.Message += "; it does not occur with " + k.difference(best, x)
			break
		}
	}
	if d.Severity == diag.Error && k.guessedBlock && !k.confirmed(best) {
		d.Severity, d.Message = diag.Review, d.Message+"; the kernel does not require a block size"
	}
	if d.Severity == diag.Error && k.guessedBox {
		d.Severity, d.Message = diag.Review, d.Message+"; check assumed the boxes of tensor maps"
	}
	for i, n := range first.fault.Notes {
		if i < 4 {
			d.Related = append(d.Related, diag.Related{Place: d.Place, Message: n})
		}
	}
	r.Findings = append(r.Findings, d)
}

// unusual looks for uses of uninitialized values in launches that the kernel should support, but
// for which it may have been given wrong data: numbers in its inputs, or, if it compares a thread
// index with each of its counts, an odd count. It returns a run and what it differs in, or nil.
func (k *kernel) unusual(best *run, all []*run) (_ *run, only string) {
	if len(k.shape.Args) > 0 {
		return nil, ""
	}
	for _, x := range all {
		if x.inputs && x.fault == nil && x.err == nil && x.blocks == 0 && x.block == best.block {
			if y := k.again(x); y.fault != nil && unwritten(y.fault) {
				return y, "numbers in the inputs of the kernel"
			}
		}
	}
	if odd := best.count - 3; k.guarded() && best.count > 3 && best.events <= cheap {
		if y := k.launch(best.schedule, odd, best.filled); y.fault != nil && unwritten(y.fault) {
			return y, fmt.Sprintf("%d for all integers", odd)
		}
	}
	return nil, ""
}

// confirmed reports whether a block of the largest size uses an uninitialized value too. Then it is
// not that the other blocks have too few threads to write all values.
func (k *kernel) confirmed(best *run) bool {
	if k.mentions("%tid.y") || best.events > cheap {
		return false
	}
	defer func(n [3]uint32) { k.shape.Block = n }(k.shape.Block)
	k.shape.Block = [3]uint32{1024, 1, 1}
	if n, ok := k.attribute(".maxntid"); ok {
		k.shape.Block = n
	}
	y := k.launch(best.schedule, best.count, best.filled)
	return y.fault != nil && unwritten(y.fault)
}

// searchesValues reports whether a use of an uninitialized value is reported as a finding. It is
// not if accesses race, because a thread may then read before another thread has written.
func (k *kernel) searchesValues(best *run, all []*run) bool {
	return best.fault == nil && best.err == nil && k.options.Order == nil &&
		!slices.ContainsFunc(all, func(x *run) bool { return !x.hasOtherBlock() && x.unordered() })
}

// withValues runs the best launch with a schedule, and looks for uses of uninitialized values.
func (k *kernel) withValues(s seeding, best *run) *run {
	k.values = true
	defer func() { k.values = false }()
	return k.launch(s, best.count, best.filled)
}

// again repeats the launch of a run and looks for uses of uninitialized values.
func (k *kernel) again(x *run) *run {
	if x.hasOtherBlock() {
		defer func(n [3]uint32) { k.shape.Block = n }(k.shape.Block)
		k.shape.Block = x.block
	}
	k.inputs = x.inputs
	defer func() { k.inputs = false }()
	return k.launch(x.schedule, x.count, x.filled)
}

// maxComparable is the maximum number of launches with which a use of an uninitialized value is
// compared.
const maxComparable = 4

// comparable returns the successful runs whose integers, blocks or contents differ from those of
// the best run.
func (k *kernel) comparable(best *run, all []*run) (list []*run) {
	if len(k.shape.Args) > 0 {
		return nil
	}
	for _, x := range all {
		same := x.count == best.count && x.filled == best.filled && x.inputs == best.inputs &&
			x.block == best.block
		if x.fault != nil || x.err != nil || x.blocks != 0 || x.row || same ||
			k.varies() && !ordinary(x.count) {
			continue
		}
		if list = append(list, x); len(list) == maxComparable {
			break
		}
	}
	return list
}

// difference describes how the launch of x differs from that of the best run.
func (k *kernel) difference(best, x *run) string {
	switch {
	case x.block != best.block:
		return x.blockText()
	case x.count != best.count:
		return fmt.Sprintf("%d for all integers", x.count)
	}
	return "other contents of the arrays"
}

// unwritten reports whether a fault is a use of a value that was never written. Matrix instructions
// may read rows that were never written, and not use the elements of the result.
func unwritten(f *emu.Fault) bool {
	return f.Has(emu.CauseUnwritten) || f.Has(emu.CauseOtherLane) || f.Has(emu.CauseUnset)
}

// describeFault returns the message of a fault, with the index of its thread.
func describeFault(f *emu.Fault) string {
	if f.Lane < 0 {
		return f.Message
	}
	t, b := f.Thread, f.Block
	return fmt.Sprintf("%s: thread (%d,%d,%d) of block (%d,%d,%d)", f.Message, t[0], t[1], t[2],
		b[0], b[1], b[2])
}
