// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// judge turns the results of the runs into findings.
func (k *kernel) judge(r *Result, runs []*run) {
	var good int
	for _, x := range runs {
		if x.fault == nil && x.err == nil && !k.fillsFlags(x) {
			good++
		}
		if x.skipped > 0 {
			r.Incomplete = append(r.Incomplete,
				fmt.Sprintf("races of launches with more than %d threads", race.MaxThreads))
		}
	}
	list := r.Findings // findings of the search
	list = append(list, k.races(runs)...)
	list = append(list, k.faults(r, runs, good)...)
	list = append(list, k.differences(runs)...)
	list = append(list, k.overrun()...)
	r.Findings, r.Suppressed = k.suppress(list.Sort())
	slices.Sort(r.Incomplete)
	r.Incomplete = slices.Compact(r.Incomplete)
}

// unordered reports whether the run has a race.
func (x *run) unordered() bool {
	return slices.ContainsFunc(x.races, func(y *race.Race) bool {
		return y.Rule != race.RuleExited && (y.Severity == diag.Error ||
			y.Rule != race.RuleFragment && y.Rule != race.RuleSkipped)
	})
}

// A site is a rule with the two places of a race.
type site struct {
	rule          string
	first, second diag.Place
}

// sites returns the races of a run by their places, in both orders.
func sites(x *run) map[site]*race.Race {
	list := make(map[site]*race.Race)
	for _, y := range x.races {
		list[site{y.Rule, y.First.Place, y.Second.Place}] = y
		list[site{y.Rule, y.Second.Place, y.First.Place}] = y
	}
	return list
}

// races returns the races of runs. A race is a review if it does not occur with other contents of
// the arrays, with another block size or with ordinary integers, because the kernel may not support
// such a launch. A race that occurs only with other contents is not reported, because flags must
// possibly be zero.
func (k *kernel) races(runs []*run) (list diag.List) {
	filled := make(map[site]*race.Race)
	for _, x := range runs {
		if x.filled && x.fault == nil && x.err == nil {
			maps.Copy(filled, sites(x))
		}
	}
	unlike := k.unlike(runs)
	doubts := k.doubts(runs)
	usual := make(map[site]*race.Race)
	for _, x := range runs {
		if x.filled || x.hasOtherBlock() {
			continue
		}
		if x.blocks == 0 {
			maps.Copy(usual, sites(x))
		}
		for _, y := range x.races {
			at := site{y.Rule, y.First.Place, y.Second.Place}
			if x.blocks != 0 {
				if usual[at] == nil && (y.Severity == diag.Error || k.readsBlockCount()) {
					list = append(list, k.withMoreBlocks(x, y))
				}
				continue
			}
			if d, ok := k.judged(y, x, filled[at], doubts, unlike); ok {
				list = append(list, d)
			}
		}
	}
	return withoutExits(list)
}

// withoutExits removes the reviews of barriers for which threads that skip them are reported.
func withoutExits(list diag.List) diag.List {
	skipped := make(map[diag.Place]bool)
	for _, d := range list {
		if d.Rule == race.RuleSkipped && d.Severity == diag.Error {
			skipped[d.Place] = true
		}
	}
	return slices.DeleteFunc(list, func(d diag.Diagnostic) bool {
		return d.Rule == race.RuleExited && skipped[d.Place]
	})
}

// judged returns the finding of a race of run x. filled is the same race in a launch with other
// contents of the arrays, or nil. It returns false if the race is no finding: both writes store one
// value, and occur only if a pitch is zero or odd.
func (k *kernel) judged(y *race.Race, x *run, filled *race.Race, doubts []doubt,
	unlike func(*race.Race) bool) (d diag.Diagnostic, ok bool) {
	at := site{y.Rule, y.First.Place, y.Second.Place}
	severity, note, unusual := y.Severity, "", false
	if filled != nil && y.SameValue {
		severity = min(severity, filled.Severity)
	}
	if severity == diag.Error && len(k.shape.Args) == 0 {
		if why := k.assumed(y); why != "" {
			severity, note = diag.Review, "; "+why
		}
	}
	for _, d := range doubts {
		occurs := slices.ContainsFunc(d.runs, func(m map[site]*race.Race) bool {
			return m[at] != nil
		})
		if y.Severity == diag.Review && d.note == smallValues && !k.guarded() {
			unusual = !occurs
		}
		if y.Rule == race.RuleExited && filled != nil {
			continue
		}
		if severity == diag.Error && y.Rule != race.RuleFragment && !d.settled(y) && !occurs &&
			!(d.note == otherContents && unlike(y)) {
			severity, note = diag.Review, "; "+d.note
		}
	}
	return diagnostic(y, severity, note, x), !unusual
}

// withMoreBlocks returns the finding of a race that occurs only when the grid, or its clusters,
// have more blocks than usual.
func (k *kernel) withMoreBlocks(x *run, y *race.Race) diag.Diagnostic {
	severity, note := y.Severity, fmt.Sprintf("; it occurs with %d blocks", x.blocks)
	if x.paired {
		note = "; it occurs in clusters of two blocks, which the kernel does not declare"
	}
	if x.paired || k.assumed(y) != "" {
		severity = diag.Review
	}
	return diagnostic(y, severity, note, x)
}

// readsBlockCount reports whether the kernel reads the number of blocks or clusters.
func (k *kernel) readsBlockCount() bool {
	return k.mentions("%nctaid") || k.mentions("%nclusterid")
}

// diagnostic returns the finding of a race.
func diagnostic(y *race.Race, severity diag.Severity, note string, x *run) diag.Diagnostic {
	d := diag.Diagnostic{Place: y.Second.Place, Rule: y.Rule, Severity: severity}
	d.Message = y.Message + ": " + y.Second.What
	if y.Address != "" {
		d.Message += " at " + y.Address
	}
	d.Message += note
	d.Message += inBrackets(y.Second.Source)
	d.Related = append(d.Related, diag.Related{Place: y.First.Place,
		Message: y.First.What + ": " + y.First.Opcode + inBrackets(y.First.Source)})
	d.Related = append(d.Related,
		diag.Related{Place: y.Second.Place, Message: "missing: " + y.Missing + "; fix: " + y.Fix})
	return d
}

// inBrackets returns a source line to append to a message, or "" if it is unknown.
func inBrackets(source string) string {
	if source == "" {
		return ""
	}
	return " (" + source + ")"
}

// faults returns the faults of runs. A fault that ends all launches at one place is an error.
func (k *kernel) faults(r *Result, runs []*run, good int) (list diag.List) {
	seen := make(map[string]bool)
	hangs := slices.ContainsFunc(runs, func(x *run) bool { // then others may run to their limit
		return x.fault != nil && x.fault.Has(emu.CauseHang)
	})
	for _, x := range runs {
		f := x.fault
		if f == nil || k.ignored(x, good) || seen[f.Message+f.Place.String()] {
			continue
		}
		seen[f.Message+f.Place.String()] = true
		if x.scattered {
			if d, ok := k.scatteredFault(x); ok {
				list = append(list, d)
			}
			continue
		}
		if x.delayed != nil {
			if d, ok := k.delayFault(x); ok {
				list = append(list, d)
			}
			continue
		}
		if d, ok := k.livelock(runs, x); ok {
			list = append(list, d)
			continue
		}
		if why := k.unchecked(x); why != "" {
			if !x.limited() || !hangs {
				r.Incomplete = append(r.Incomplete, why)
			}
			continue
		}
		d := diag.Diagnostic{Place: f.Place, Rule: RuleFault,
			Severity: k.faultSeverity(runs, x, good), Message: describeFault(f)}
		hang := f.Has(emu.CauseHang)
		if hang {
			d.Rule = RuleHang
		}
		// the kernel may trust its integers
		if d.Severity == diag.Review && f.Has(emu.CauseVariable) {
			r.Incomplete = append(r.Incomplete,
				"an integer that check derived leads past a variable: "+f.Message)
			continue
		}
		if f.Waiting != nil {
			d.Place, d.Message = f.Waiting.Place, string(emu.CauseHang)+": "+f.Waiting.Reason
		}
		if hang {
			d.Message = withCause(d.Message, f)
		}
		if d.Place.Line == 0 {
			d.Place, _ = k.module.At(k.fn.Pos)
		}
		if d.Severity == diag.Review && k.varies() {
			d.Message += fmt.Sprintf("; with %d for all integers", x.count)
		}
		for i, n := range f.Notes {
			if i < 4 {
				d.Related = append(d.Related, diag.Related{Place: d.Place, Message: n})
			}
		}
		list = append(list, d)
	}
	return list
}

// faultSeverity returns the severity of the fault of run x: an error if the kernel causes it, and a
// review if the values that check derived may. good is the number of runs that ended without a
// fault.
func (k *kernel) faultSeverity(runs []*run, x *run, good int) diag.Severity {
	f := x.fault
	switch {
	case len(k.shape.Args) > 0 || good == 0 && k.always(runs, f):
		return diag.Error
	// the waits do not depend on the contents of memory
	case f.Has(emu.CauseHang) && waits(f) && (ordinary(x.count) || !k.varies()):
		return diag.Error
	case k.misuses(f) && ordinary(x.count): // nor does the launch cause these
		return diag.Error
	case good > 0 && !k.varies():
		return diag.Error
	}
	return diag.Review
}

// withCause adds the probable cause to the message of a hang.
func withCause(message string, f *emu.Fault) string {
	cause := string(emu.CauseHang)
	if f.Has(emu.CauseParity) || strings.Contains(message, string(emu.CauseParity)) {
		message = strings.Replace(message, cause,
			"kernel hangs, perhaps in a wait with the wrong parity", 1)
	}
	if f.Has(emu.CauseTripCounts) {
		message = strings.Replace(message, cause,
			cause+", because the "+string(emu.CauseTripCounts), 1)
	}
	return message
}

// ignored reports whether the fault of a run proves nothing about the kernel, because the kernel
// may not support its contents, its block size, an odd pitch, or a tensor without elements.
func (k *kernel) ignored(x *run, good int) bool {
	odd := k.varies() && !ordinary(x.count) && x.fault.Has(emu.CauseMisaligned)
	// A host launches no block for sizes of zero, unless its kernel looks for work by itself.
	empty := k.varies() && x.count == 0 && (x.fault.Has(emu.CauseNegativeStore) ||
		good > 0 && x.fault.Has(emu.CauseAssertion))
	return (x.filled || odd || empty) && good > 0 ||
		x.inputs && !waits(x.fault) && x.delayed == nil && !x.scattered ||
		x.hasOtherBlock()
}

// livelock returns the finding for a launch that does not end in one schedule, although it ends
// soon in another.
func (k *kernel) livelock(runs []*run, x *run) (d diag.Diagnostic, ok bool) {
	if x.fault.Message != emu.LimitReached {
		return d, false
	}
	for _, y := range runs {
		if y.fault == nil && y.err == nil && y.count == x.count && !y.filled && !x.filled &&
			y.inputs == x.inputs && y.block == x.block && y.events*endless < x.events {
			at, _ := k.module.At(k.fn.Pos)
			return diag.Diagnostic{Place: at, Rule: RuleHang, Severity: diag.Error,
				Message: fmt.Sprintf(
					"kernel does not end with seed %d, but ends with seed %d: threads wait for each other in a loop",
					x.schedule.seed, y.schedule.seed)}, true
		}
	}
	return d, false
}

// unchecked returns the reason why a fault of a launch proves nothing about the kernel, or "".
func (k *kernel) unchecked(x *run) string {
	f := x.fault
	switch {
	case f.Message == emu.LimitReached:
		return fmt.Sprintf("a launch did not end within its limit of %d instructions: %s, seed %d",
			x.limit, k.describe(x.count), x.schedule.seed)
	case f.Has(emu.CauseNotEmulated), f.Has(emu.CauseNoTensorMap):
		return f.Message
	case len(k.shape.Args) > 0:
		return ""
	case x.outside:
		return "an access is outside of the arrays that check derived: " + f.Message
	case f.Has(emu.CauseHang):
		return k.uncheckedHang(f)
	case f.Has(emu.CauseNoDimensions):
		return "a tensor map is built from an array of zeros; give a launch"
	case f.Has(emu.CauseFirstCoordinate) && k.guessedBox:
		return fmt.Sprintf(
			"line %d: %s, but check assumed the elements of the tensor map; state their size in a comment ptxdsl:element",
			f.Place.Line, f.Message)
	case f.Has(emu.CauseAssertion):
		return fmt.Sprintf(
			"line %d: an assertion of the kernel fails in a launch that check derived; give a launch",
			f.Place.Line)
	case strings.Contains(f.Message, emu.TrapExecuted):
		return fmt.Sprintf(
			"line %d: the kernel executes trap in a launch that check derived; give a launch",
			f.Place.Line)
	}
	return ""
}

// uncheckedHang returns the reason why a hang of a derived launch proves nothing about the kernel,
// or "".
func (k *kernel) uncheckedHang(f *emu.Fault) string {
	switch {
	case k.guessedBytes:
		return "the kernel hangs, but check assumed the boxes of tensor maps; state them in comments ptxdsl:bytes"
	case !polls(f):
	case k.betweenDevices():
		return waitsForDevices
	case k.waits:
		return waitsForKernels
	case k.oneThread && k.oneBlock && !k.uses(isa.KindAtom, isa.KindRed):
		return waitsForThreads
	}
	return ""
}

// fillsFlags reports whether a run began with numbers in memory through which blocks synchronize.
func (k *kernel) fillsFlags(x *run) bool {
	return x.filled && k.betweenBlocks() && !k.hasInputs()
}

// always reports whether all launches end with a fault at the same place as f. A launch that polls
// until it reaches its limit counts as such a launch, because with random time slices the emulator
// does not detect its hang.
func (k *kernel) always(runs []*run, f *emu.Fault) bool {
	for _, x := range runs {
		if x.limited() && f.Has(emu.CauseHang) || k.fillsFlags(x) {
			continue
		}
		switch {
		case x.fault == nil:
			return false
		case x.fault.Place == f.Place:
		case !f.Has(emu.CauseExited) || !x.fault.Has(emu.CauseExited): // loops may be unrolled
			return false
		}
	}
	return true
}

// misuses reports whether a fault is a misuse of a barrier or of tensor memory, or an access to
// address zero. Such faults depend neither on the contents of memory nor on the sizes of arrays.
func (k *kernel) misuses(f *emu.Fault) bool {
	if k.guessedBlock {
		return false
	}
	if slices.ContainsFunc([]emu.Cause{
		emu.CauseUninitialized, emu.CauseArrivals, emu.CauseBarrierThreads, emu.CauseClusterArrive,
		emu.CauseClusterWait, emu.CauseNoComplete, emu.CauseMemberMask, emu.CauseAllocRelinquished,
		emu.CauseDealloc, emu.CauseWarpgroup,
	}, f.Has) {
		return true
	}
	// no variable is at this address in any launch
	if strings.HasSuffix(f.Message, "at shared address 0x0") {
		return true
	}
	return !k.guessedBytes && f.Has(emu.CauseTransactions)
}

// waitsForDevices is the reason why a kernel that waits for other devices is not checked further.
const waitsForDevices = "the kernel waits for memory that other devices may write; give a launch"

// waitsForKernels is the reason why a kernel is not checked further if it polls memory that no
// kernel of the launch writes.
const waitsForKernels = "the kernel waits for memory that it never writes; give a launch"

// waitsForThreads is the reason if all threads wait at one place, which no thread passes.
const waitsForThreads = "all threads wait for memory, and only another kernel or the host can write it; give a launch"

// polls reports whether a warp in a hang reads memory in a loop.
func polls(f *emu.Fault) bool { return f.Has(emu.CauseSpin) }

// waits reports whether a warp in a hang waits at a barrier.
func waits(f *emu.Fault) bool {
	for _, n := range f.Notes {
		if strings.Contains(n, ": waits ") {
			return true
		}
	}
	return false
}

// varies reports whether the kernel has integer parameters, so that launches differ in their
// values.
func (k *kernel) varies() bool { return len(k.counts()) > 1 }
