// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/schedule"
)

// Options select the kernels, launches and schedules to run.
type Options struct {
	Kernel string  // name of one kernel; "" for all kernels of the module
	Launch *Launch // nil to derive one
	// schedules for each launch; 0 means 3, or 2 for launches that take long
	Seeds int
	Seed  *uint64 // only this schedule
	// maximum number of states to search; 0 means 50,000, a negative number means no search
	Search int
	Order  schedule.Witness // replay only this order of synchronizations

	// values of integer parameters, as in Launch; other parts of the launch are derived
	Integers map[string]uint64
	// skip further schedules and the search if the first launches show an error
	Stop bool
}

// A Launch describes a launch of a kernel. Fields that are zero are derived.
type Launch struct {
	Grid, Block, Cluster [3]uint32
	Shared               uint32
	Args                 []Arg // one for each parameter; nil to derive them
	// values of integer parameters, by name, if Args is nil; other parameters get derived values.
	// The name of a field of a structure is that of the parameter with its offset: p[8].
	Integers map[string]uint64
}

// An Arg is an argument: the bytes of a value, or the contents of an array whose address is passed.
type Arg struct {
	Value []byte
	Array []byte
	Text  string // shown in messages
}

// A Result holds the findings for a kernel after its launches.
type Result struct {
	Kernel     string
	Findings   diag.List
	Tried      []string // descriptions of the launches
	NotReached []int    // lines with accesses or synchronization that no launch executed
	Incomplete []string // reasons why parts of the kernel were not checked
	// limits within which orders were searched; a clean verdict is subject to them
	Bounds     []string
	Suppressed int
	Search     *schedule.Result // search of one launch, or nil if none was searched
	Timeline   []schedule.Entry // timeline of the order that the search found
}

// Verdict returns error, review, incomplete or clean.
func (r *Result) Verdict() string {
	reviews := false
	for _, d := range r.Findings {
		if d.Severity == diag.Error {
			return "error"
		}
		reviews = reviews || d.Severity == diag.Review
	}
	switch {
	case reviews:
		return "review"
	case len(r.Incomplete) > 0 || len(r.NotReached) > 0:
		return "incomplete"
	}
	return "clean"
}

// File checks the kernels of a PTX text. The error is not nil if no kernel could be run.
func File(name, text string, o Options) ([]Result, error) {
	m, list := ptxdsl.Load(name, text)
	if m == nil {
		return nil, list.Err()
	}
	o = o.merged()
	var results []Result
	var all []*kernel
	program, functions, endless := emu.NewProgram(m), m.Funcs(), new(int)
	for _, f := range functions {
		if !f.Kernel || !f.Defined || o.Kernel != "" && o.Kernel != f.Name {
			continue
		}
		k := &kernel{
			name: name, text: text, module: m, program: program,
			functions: callees(f, functions), endless: endless, fn: f, options: o,
		}
		if err := k.fit(); err != nil {
			return nil, err
		}
		k.derive()
		all = append(all, k)
	}
	if err := settable(all, o.Integers); err != nil {
		return nil, err
	}
	for _, k := range all {
		results = append(results, k.check())
	}
	if dependent(all) {
		results = append(results, stream(all))
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("%s has no kernel %s", name, o.Kernel)
	}
	return results, nil
}

// fit returns an error if the parts of a launch that are given do not fit the kernel.
func (k *kernel) fit() error {
	l := k.options.Launch
	if l == nil {
		l = &Launch{}
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("the launch does not fit kernel %s of %s: %s", k.fn.Name, k.name,
			fmt.Sprintf(format, args...))
	}
	if len(l.Args) > 0 && len(k.options.Integers) > 0 {
		return fail("it has arguments, and integers can be set only if there are none")
	}
	if n := len(l.Args); n > 0 && n != len(k.fn.Params) {
		return fail("it has %s, but the kernel has %s", counted(n, "argument"),
			counted(len(k.fn.Params), "parameter"))
	}
	for i, a := range l.Args {
		switch p := k.fn.Params[i]; {
		case a.Array != nil && p.Size() != 8:
			return fail(
				"argument %d is an array, but parameter %s has %s, and an address has 8",
				i+1, p.Name, counted(int(p.Size()), "byte"))
		case a.Array == nil && !isExtension(a.Value, int(p.Size())):
			return fail("argument %d does not fit parameter %s, which has %s", i+1, p.Name,
				counted(int(p.Size()), "byte"))
		}
	}
	if want, ok := k.attribute(".reqntid"); ok && l.Block[0] != 0 && l.Block != want {
		return fail("its blocks have %dx%dx%d threads, but .reqntid requires %dx%dx%d", l.Block[0],
			l.Block[1], l.Block[2], want[0], want[1], want[2])
	}
	if most, ok := k.maxThreads(); ok && l.Block[0]*l.Block[1]*l.Block[2] > most {
		return fail("its blocks have %d threads, but .maxntid allows %d",
			l.Block[0]*l.Block[1]*l.Block[2], most)
	}
	return nil
}

// isExtension reports whether a value fits n bytes: the other bytes are all zero, or all ones.
func isExtension(value []byte, n int) bool {
	if len(value) <= n {
		return true
	}
	rest := value[n:]
	return (rest[0] == 0 || rest[0] == 0xff) && len(bytes.Trim(rest, string(rest[:1]))) == 0
}

// A Source is a module: a *dsl.Module, or runtime.PTX.
type Source interface {
	Text() (string, error)
}

// A placedSource can tell which Go lines emitted the lines of its text. *dsl.Module can.
type placedSource interface {
	Places(text string) func(line int) (at diag.Place, from []diag.Place, ok bool)
}

// locate moves findings from lines of the PTX to the Go lines that emitted them.
func locate(results []Result, origin func(line int) (diag.Place, []diag.Place, bool)) {
	for _, r := range results {
		for i := range r.Findings {
			d := &r.Findings[i]
			if at, from, ok := origin(d.Place.Line); ok {
				d.Message += fmt.Sprintf(" (%s:%d)", d.Place.File, d.Place.Line)
				d.Place, d.From = at, from
			}
			for j := range d.Related {
				if at, _, ok := origin(d.Related[j].Place.Line); ok {
					d.Related[j].Place = at
				}
			}
		}
	}
}

// Kernel checks the kernels of a module in a test, and fails the test if there are errors, or if
// the launch does not fit a kernel. If l is nil, the launch is derived from the kernel. Findings
// are at the Go lines that emitted the instructions, if m is a *dsl.Module.
func Kernel(t testing.TB, m Source, l *Launch) []Result {
	t.Helper()
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	name := "module.ptx"
	if n, ok := m.(interface{ Name() string }); ok {
		name = n.Name()
	}
	results, err := File(name, text, Options{Launch: l})
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := m.(placedSource); ok {
		locate(results, p.Places(text))
	}
	for _, r := range results {
		for _, d := range r.Findings {
			if d.Severity == diag.Error {
				t.Errorf("kernel %s: %s", r.Kernel, Text(d))
			}
		}
		for _, why := range r.Incomplete {
			t.Logf("kernel %s: not checked: %s", r.Kernel, why)
		}
	}
	return results
}

// Text formats a finding with its related places.
func Text(d diag.Diagnostic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s %s: %s", d.Place.File, d.Place.Line, d.Severity, d.Rule, d.Message)
	for _, r := range d.Related {
		fmt.Fprintf(&b, "\n\t%s:%d: %s", r.Place.File, r.Place.Line, r.Message)
	}
	return b.String()
}

// schedules returns the seeds to run, with the completion policy of each.
func (k *kernel) schedules() []seeding {
	if k.options.Seed != nil {
		return []seeding{scheduleOf(*k.options.Seed)}
	}
	n := k.options.Seeds
	if n == 0 {
		n = 3
	}
	var list []seeding
	for i := range n {
		list = append(list, scheduleOf(uint64(i)))
	}
	return list
}

// A seeding is a seed of the emulator with the policy by which asynchronous operations complete.
type seeding struct {
	seed       uint64
	completion emu.Completion
	impatient  bool // mbarrier.try_wait may time out at once
}

// scheduleOf returns the schedule for a seed. The seeds 0, 1 and 2 complete operations as late as
// possible, at random times, and as early as possible. Larger seeds repeat these policies.
func scheduleOf(seed uint64) seeding {
	return seeding{seed, []emu.Completion{emu.Late, emu.Random, emu.Eager}[seed%3], seed%3 == 1}
}

// A kernel holds a kernel that is checked, its derived launch, and the options of the next
// launches.
type kernel struct {
	name, text string
	module     *ir.Module
	program    *emu.Program // the program of the module
	functions  []*ir.Func   // the kernel and the functions that it may call
	endless    *int         // number of launches of this file's kernels that reached their limit
	fn         *ir.Func
	options    Options
	shape      Launch
	params     []*param
	leaves     []*param          // the parameters, with the fields of structures instead of these
	bases      map[*ir.Reg]field // the registers that hold addresses of parameters
	watch      []emu.Observer    // observers of the next launches, besides the detector
	limit      int64             // limit of instructions; 0 means maxWork
	pool       pool              // arrays that the kernels of a stream share

	// the file does not fix the block size, or the size of dynamic shared memory
	guessedBlock, guessedShared bool
	// a structure, parts of which check assumed to be zero; or ""
	structure string
	// a structure has an integer of unknown meaning, such as the factor of a fast division
	inStructure  bool
	guessedBox   bool // the box shape of a tensor map is unknown
	guessedBytes bool // the number of bytes of a box is unknown
	element      int  // assumed bytes of the elements of tensor maps; 0 means 1
	oneBlock     bool // the kernel never uses its block index
	// a launch with the block that .maxntid declares, if it accesses memory past shared memory
	tooLarge *run
	// the kernel never reads the index of a thread, and the block size is guessed
	oneThread bool
	waits     bool // the kernel polls arrays to which it never stores

	// options of the next launches
	inputs bool // arrays that the kernel only reads are filled with small numbers instead of zeros
	values bool // a use of a value that was never written is a fault
	// lanes do not reconverge by themselves, and elect.sync elects the last lane
	scattered bool

	// a launch reached its limit of instructions, so later launches get a lower limit
	slow      bool
	fragments bool // registers of wgmma and tcgen05.ld are watched

	sharedOptIn int // shared memory that a block of the target can have
}
