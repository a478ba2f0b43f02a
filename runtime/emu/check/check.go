// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
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

	// values of integer parameters, by name; other parameters get derived values
	Integers map[string]uint64
	// skip further schedules and the search if the first launches show an error
	Stop bool
}

// A Launch describes a launch of a kernel. Fields that are zero are derived.
type Launch struct {
	Grid, Block, Cluster [3]uint32
	Shared               uint32
	Args                 []Arg // one for each parameter; nil to derive them
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
		all = append(all, k)
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

// A Source is a module: a *dsl.Module, or runtime.PTX.
type Source interface {
	Text() (string, error)
}

// Kernel checks the kernels of a module in a test, and fails the test if there are errors. If l
// is nil, the launch is derived from the kernel.
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
}

// scheduleOf returns the schedule for a seed. The seeds 0, 1 and 2 complete operations as late as
// possible, at random times, and as early as possible. Larger seeds repeat these policies.
func scheduleOf(seed uint64) seeding {
	return seeding{seed, []emu.Completion{emu.Late, emu.Random, emu.Eager}[seed%3]}
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
	limit      int64             // limit of instructions; 0 means mostWork
	pool       pool              // arrays that the kernels of a stream share

	// the file does not fix the block size, or the size of dynamic shared memory
	guessedBlock, guessedShared bool
	structure                   string // a structure, parts of which check assumed to be zero; or ""
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
