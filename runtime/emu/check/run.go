// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unsafe"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/runtime/device"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// A run is the outcome of one launch.
type run struct {
	schedule seeding
	count    uint64
	filled   bool // arrays hold numbers instead of zeros
	races    []*race.Race
	fault    *emu.Fault
	err      error  // the launch was refused
	outside  bool   // an access was outside the arrays
	result   uint64 // a hash of the contents of all arrays
	reached  func(line int) bool
	skipped  int
}

// Derived array sizes start at the first and grow to the second while accesses are out of bounds.
const (
	firstArray = 1 << 20
	mostArray  = 1 << 26
	mostWork   = 20_000_000 // instruction limit of a launch

	mostEndless = 10 // launches of a file that reach the limit before its other kernels are skipped
)

// check runs the launches of the kernel.
func (k *kernel) check() Result {
	k.derive()
	r := Result{Kernel: k.fn.Name}
	if *k.endless >= mostEndless {
		r.Incomplete = append(r.Incomplete, "launches of other kernels in the file did not end; "+
			"choose this one with -kernel")
		return r
	}
	for _, p := range k.params {
		if p.kind == paramBytes && len(k.shape.Args) == 0 {
			r.Incomplete = append(r.Incomplete, fmt.Sprintf("parameter %s is a structure, which is assumed to be zero; give a launch", p.v.Name))
		}
	}
	runs := k.runs(&r)
	k.judge(&r, runs)
	return r
}

// runs runs launches with different counts until all lines are reached. It then runs other
// schedules of the first launch that succeeded.
func (k *kernel) runs(r *Result) []*run {
	counts := k.counts()
	if len(k.shape.Args) > 0 {
		counts = counts[:1]
	}
	schedules := k.schedules()
	var all []*run
	var best *run
	missing := -1
	for _, n := range counts {
		x := k.launch(schedules[0], n, false)
		var no *emu.Unsupported
		if errors.As(x.err, &no) {
			for i, d := range no.Findings {
				if i < 3 {
					r.Incomplete = append(r.Incomplete, fmt.Sprintf("line %d: %s", d.Place.Line, d.Message))
				}
			}
			return nil
		}
		if x.err != nil {
			r.Incomplete = append(r.Incomplete, x.err.Error())
			return all
		}
		all = append(all, x)
		before := missing
		if missing = len(k.unreached(all)); missing != before || best == nil && x.fault == nil {
			r.Tried = append(r.Tried, k.describe(n)+ending(x))
		}
		if best == nil && x.fault == nil {
			best = x
		}
		if best != nil && missing == 0 {
			break
		}
	}
	if best == nil {
		best = all[0]
	}
	if k.options.Order != nil {
		return []*run{k.follow(r, best, k.options.Order)}
	}
	for _, s := range schedules[1:] {
		all = append(all, k.launch(s, best.count, false))
	}
	if len(k.shape.Args) == 0 {
		all = append(all, k.launch(schedules[0], best.count, true))
	}
	r.NotReached = k.unreached(all)
	k.search(r, best, all)
	return all
}

// ending describes how a failed launch ended.
func ending(x *run) string {
	if x.fault == nil {
		return ""
	}
	return ": " + x.fault.Message
}

// unreached returns the lines with accesses to memory or synchronization that no run executed.
func (k *kernel) unreached(all []*run) (lines []int) {
	k.instructions(func(in *ir.Instr) {
		if !watched(in) {
			return
		}
		at, _ := k.module.At(in.Pos)
		for _, x := range all {
			if x.reached != nil && x.reached(at.Line) {
				return
			}
		}
		lines = append(lines, at.Line)
	})
	slices.Sort(lines)
	return slices.Compact(lines)
}

// watched reports whether the race detector observes an instruction.
func watched(in *ir.Instr) bool {
	op := in.Form.Operation()
	switch op.Kind {
	case isa.KindLd, isa.KindSt:
		s := op.Space.Base()
		return s == isa.Global || s == isa.Shared
	case isa.KindAtom, isa.KindRed, isa.KindCpAsync, isa.KindCpAsyncBulk, isa.KindCpAsyncBulkTensor, isa.KindMbarrierInit:
		return true
	}
	return false
}

// launch runs the kernel once. It enlarges the arrays until all accesses are in bounds.
func (k *kernel) launch(s seeding, count uint64, filled bool) *run {
	for bytes := firstArray; ; bytes *= 8 {
		x := k.once(s, count, filled, bytes)
		if !x.outside || bytes >= mostArray || len(k.shape.Args) > 0 {
			return x
		}
	}
}

// once runs the kernel with arrays of the given size.
func (k *kernel) once(s seeding, count uint64, filled bool, bytes int) *run {
	detector := race.New()
	x := &run{schedule: s, count: count, filled: filled, reached: detector.Reached}
	d, err := emu.New(emu.Options{
		Target: k.target(), Seed: s.seed, Completion: s.completion, Workers: 1, Unchecked: true, Limit: mostWork,
		Observer: emu.Observers(append([]emu.Observer{detector}, k.watch...)...),
	})
	if err != nil {
		x.err = err
		return x
	}
	loaded, err := d.LoadProgram(k.program)
	if err != nil {
		x.err = err
		return x
	}
	launched, err := d.Kernel(loaded.Module, k.fn.Name, -1)
	if err != nil {
		x.err = err
		return x
	}
	values, arrays, err := k.arguments(d, count, filled, bytes)
	if err != nil {
		x.err = err
		return x
	}
	l := &device.Launch{Grid: k.shape.Grid, Block: k.shape.Block, Cluster: k.shape.Cluster, Shared: k.shape.Shared, Values: values}
	err = launched.Launch(l)
	if !errors.As(err, &x.fault) {
		x.err = err
	}
	if x.fault != nil && x.fault.Message == emu.LimitReached {
		*k.endless++
	}
	x.races, x.skipped = detector.Races(), detector.Skipped()
	x.outside = x.fault != nil && strings.Contains(x.fault.Message, "out of bounds") && strings.Contains(x.fault.Message, "global")
	if x.fault == nil && err == nil {
		x.result = fingerprint(d, arrays)
	}
	return x
}

// target returns the target of the module as a device name.
func (k *kernel) target() string { return k.module.Target.String() }

// An array is a global memory allocation of a launch.
type array struct {
	at    device.Address
	bytes int64
}

// fingerprint returns a hash of the contents of arrays.
func fingerprint(d *emu.Device, arrays []array) uint64 {
	h := fnv.New64a()
	for _, a := range arrays {
		b := make([]byte, a.bytes)
		if d.Download(unsafe.Pointer(&b[0]), a.at, a.bytes, 0, false) == nil {
			h.Write(b)
		}
	}
	return h.Sum64()
}

// arguments returns the bytes of the parameters, and the arrays that they point to.
func (k *kernel) arguments(d *emu.Device, count uint64, filled bool, bytes int) ([]byte, []array, error) {
	var values []byte
	var arrays []array
	if n := len(k.shape.Args); n > 0 && n != len(k.params) {
		return nil, nil, fmt.Errorf("%d arguments; the kernel has %d parameters", n, len(k.params))
	}
	put := func(p *param, b []byte) {
		for len(values) < p.offset+int(p.v.Size()) {
			values = append(values, 0)
		}
		copy(values[p.offset:p.offset+int(p.v.Size())], b)
	}
	allocate := func(contents []byte) (device.Address, error) {
		at, err := d.Allocate(int64(len(contents)))
		if err == nil {
			err = d.Upload(at, unsafe.Pointer(&contents[0]), int64(len(contents)), 0, false)
			arrays = append(arrays, array{at, int64(len(contents))})
		}
		return at, err
	}
	for i := range k.params {
		p := &k.params[i]
		if i < len(k.shape.Args) {
			a := k.shape.Args[i]
			if a.Array == nil {
				put(p, a.Value)
				continue
			}
			at, err := allocate(a.Array)
			if err != nil {
				return nil, nil, err
			}
			put(p, binary.LittleEndian.AppendUint64(nil, uint64(at)))
			continue
		}
		switch p.kind {
		case paramPointer:
			at, err := allocate(contents(bytes, filled))
			if err != nil {
				return nil, nil, err
			}
			put(p, binary.LittleEndian.AppendUint64(nil, uint64(at)))
		case paramMap:
			at, err := allocate(contents(mapBytes, filled))
			if err != nil {
				return nil, nil, err
			}
			b, err := k.tensorMap(d, *p, at)
			if err != nil {
				return nil, nil, err
			}
			put(p, b)
		default:
			put(p, p.value(count))
		}
	}
	return values, arrays, nil
}

// contents returns the initial contents of an array: zeros, or small numbers that differ between
// words.
func contents(n int, filled bool) []byte {
	b := make([]byte, n)
	if filled {
		for i := 0; i+4 <= n; i += 4 {
			binary.LittleEndian.PutUint32(b[i:], uint32(i/4)%61+1)
		}
	}
	return b
}

// judge turns the results of the runs into findings.
func (k *kernel) judge(r *Result, runs []*run) {
	var good, zero int
	for _, x := range runs {
		if x.fault == nil && x.err == nil {
			good++
			if !x.filled {
				zero++
			}
		}
		if x.skipped > 0 {
			r.Incomplete = append(r.Incomplete, fmt.Sprintf("races of launches with more than %d threads", race.MostThreads))
		}
	}
	list := r.Findings // findings of the search
	list = append(list, k.races(runs)...)
	list = append(list, k.faults(r, runs, good)...)
	list = append(list, k.differences(runs)...)
	r.Findings, r.Suppressed = k.suppress(list.Sort())
	slices.Sort(r.Incomplete)
	r.Incomplete = slices.Compact(r.Incomplete)
}

// races returns the races of the runs. A race seen only with arrays of zeros is a review. A race
// seen only with other contents is not reported, because the kernel may require flags that start at
// zero.
func (k *kernel) races(runs []*run) (list diag.List) {
	type site struct {
		rule          string
		first, second diag.Place
	}
	var filled *run
	other := make(map[site]*race.Race)
	for _, x := range runs {
		if x.filled && x.fault == nil && x.err == nil {
			filled = x
			for _, y := range x.races {
				other[site{y.Rule, y.First.Place, y.Second.Place}] = y
			}
		}
	}
	for _, x := range runs {
		if x.filled {
			continue
		}
		for _, y := range x.races {
			severity := y.Severity
			note := ""
			if filled != nil {
				z, found := other[site{y.Rule, y.First.Place, y.Second.Place}]
				if !found {
					z, found = other[site{y.Rule, y.Second.Place, y.First.Place}]
				}
				switch {
				case found:
					severity = min(severity, z.Severity)
				case severity == diag.Error && len(filled.races) == 0:
					severity, note = diag.Review, "; it does not occur with other contents of the arrays"
				}
			}
			list = append(list, diagnostic(y, severity, note, x))
		}
	}
	return list
}

// diagnostic returns the finding of a race.
func diagnostic(y *race.Race, severity diag.Severity, note string, x *run) diag.Diagnostic {
	d := diag.Diagnostic{Place: y.Second.Place, Rule: y.Rule, Severity: severity}
	d.Message = fmt.Sprintf("%s: %s at %s%s", y.Message, y.Second.What, y.Address, note)
	d.Related = append(d.Related, diag.Related{Place: y.First.Place, Message: y.First.What + ": " + y.First.Opcode})
	d.Related = append(d.Related, diag.Related{Place: y.Second.Place, Message: "missing: " + y.Missing + "; fix: " + y.Fix})
	if y.Second.Source != "" {
		d.Message += " (" + y.Second.Source + ")"
	}
	return d
}

// faults returns the faults of the runs. A fault that ends every launch is an error.
func (k *kernel) faults(r *Result, runs []*run, good int) (list diag.List) {
	seen := make(map[string]bool)
	for _, x := range runs {
		f := x.fault
		if f == nil || x.filled && good > 0 || seen[f.Message+f.Place.String()] {
			continue
		}
		seen[f.Message+f.Place.String()] = true
		rule := RuleFault
		severity := diag.Review
		if good == 0 || len(k.shape.Args) > 0 || !k.varies() {
			severity = diag.Error
		}
		switch {
		case f.Message == emu.LimitReached:
			r.Incomplete = append(r.Incomplete, fmt.Sprintf("a launch did not end within %d instructions: %s", mostWork, k.describe(x.count)))
			continue
		case x.outside && len(k.shape.Args) == 0:
			r.Incomplete = append(r.Incomplete, "an access lies outside of the arrays that were derived: "+f.Message)
			continue
		case strings.Contains(f.Message, "hangs"):
			rule = RuleHang
			if waits(f) { // no memory contents can end these waits
				severity = diag.Error
			}
		case strings.Contains(f.Message, "not emulated") || strings.Contains(f.Message, "no tensor map"):
			r.Incomplete = append(r.Incomplete, f.Message)
			continue
		}
		d := diag.Diagnostic{Place: f.Place, Rule: rule, Severity: severity, Message: f.Message}
		if d.Place.Line == 0 {
			d.Place, _ = k.module.At(k.fn.Pos)
		}
		if f.Lane >= 0 {
			d.Message += fmt.Sprintf(": thread (%d,%d,%d) of block (%d,%d,%d)", f.Thread[0], f.Thread[1], f.Thread[2], f.Block[0], f.Block[1], f.Block[2])
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

// waits reports whether a hung warp waits at a barrier.
func waits(f *emu.Fault) bool {
	for _, n := range f.Notes {
		if strings.Contains(n, ": waits ") {
			return true
		}
	}
	return false
}

// varies reports whether launches differ in their parameter values.
func (k *kernel) varies() bool { return len(k.counts()) > 1 }

// differences reports results that depend on the schedule.
func (k *kernel) differences(runs []*run) diag.List {
	var first *run
	for _, x := range runs {
		if x.fault != nil || x.err != nil || x.filled || len(x.races) > 0 {
			continue
		}
		if first == nil {
			first = x
			continue
		}
		if x.count == first.count && x.result != first.result {
			at, _ := k.module.At(k.fn.Pos)
			return diag.List{{Place: at, Rule: RuleOrder, Severity: diag.Review, Message: fmt.Sprintf(
				"results differ between schedules %d and %d: they depend on the order in which threads run", first.schedule.seed, x.schedule.seed)}}
		}
	}
	return nil
}
