// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package trace follows the ways that threads can take through a kernel and keeps what they do on each
// to memory and to one another. Threads that part at a branch on their number are followed apart, so a
// trace is of a class of threads. A branch on what is not known is followed both ways, and not against
// what earlier branches say. Loops that do nothing of interest are passed over; others are followed for
// a few turns, more where a ring of stages is long. Nothing runs: addresses, counts and parities are
// values of package value.
package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// An Event is one instruction that a class of threads executes; of a Touch, the first of several: see Touched.
type Event struct {
	Kind    Kind
	run     int32 // of a Touch, its place among those of the kernel
	In      *ir.Instr
	Block   int
	Threads value.Set // of the class, those for which the guard holds
	Guard   *value.Value
	// Vals is what the operands hold: a register's value, the address in brackets; nil for others.
	Vals []*value.Value
	// Done is the predicate that a wait gives, or the state that an arrival does.
	Done *value.Value
	// Parted are the branches not joined again at which lanes of one warp may have gone apart.
	Parted []Choice
}

// A Choice is a branch that was taken or not.
type Choice struct {
	In    *ir.Instr
	Block int
	Cond  *value.Value // holds where the branch is taken
	Taken bool
	// Splits says that lanes of one warp do part here, Away which threads go the other way then; Maybe that
	// it is not known.
	Splits, Maybe bool
	Away          value.Set
	// At is how many events came before.
	At int
	// Soft says that nothing but reads and writes of memory hangs on the branch.
	Soft bool
}

// A Trace is one way through the kernel.
type Trace struct {
	Threads value.Set // that take it
	Rank    int       // of their block in the cluster, where ranks are followed apart
	Events  []Event
	Choices []Choice // on what is not known, or on the number of the thread
	Stopped string   // why it ends before the threads leave; "" where they leave
	Facts   *Facts

	granted []bool // see grants
	asked   bool
}

// Of is an event of t for its own threads: before they parted from others, they did it together.
func (t *Trace) Of(e *Event) *Event {
	if (e.Threads.Minus(t.Threads) == value.Set{}) {
		return e
	}
	one := *e
	one.Threads = e.Threads.And(t.Threads)
	return &one
}

// A Kernel is a kernel with its traces. Where it calls functions that take part, Func is a copy in which they stand in
// place of their calls.
type Kernel struct {
	Module *ir.Module
	Func   *ir.Func
	Flow   *ir.Flow
	Pool   *value.Pool
	Post   *graph.Tree
	Traces []*Trace
	// Uses says which kinds of instruction the kernel has.
	Uses [Touch + 1]bool
	// Shares says that it stores to shared memory, Generic that addresses there become generic ones, through which it may.
	Shares, Generic bool
	// Missed is why the traces are not all there is, in words; Turns is the most turns of a loop that
	// were followed.
	Missed []string
	Turns  int
	// Loops says that the turns of some loop were not all followed.
	Loops bool
	// Cluster is the number of blocks in a cluster: 0 not known, 1 none.
	Cluster int
	// Ranks is how many blocks of a cluster are followed apart, each on traces of its own; 1 where all are taken to do alike.
	Ranks int
	// Callers are, of an instruction of a device function, the calls through which it is reached, innermost first.
	Callers map[*ir.Instr]*Caller
	// Cases is for how many parameters and the like numbers were put in, several one after the other.
	Cases int
	// Tried lists, of each of them, the values that were followed to the end, as "n = 0 to 7, 9".
	Tried []string
	// Most says that blocks are taken to be as large as .maxntid allows, since nothing lays their size down.
	Most bool
	// Guessed says that neither does .maxntid, and that they are taken to be as large as arrays in shared memory have room for.
	Guessed bool

	// Unseen is an instruction that no way which was followed comes to, where there is one that has to do with other threads
	// or with work in the background.
	Unseen *ir.Instr

	// Untaken is a branch in a loop that goes the same way in all iterations that were followed, while
	// not all were, and on which synchronization depends; nil if there is none.
	Untaken *ir.Instr

	// Spent is what was spent of Limits.Work, which analyzers that do much work add to.
	Spent int

	extent   [3]int                  // of a cluster, in blocks along x, y and z; zeros where it is not known
	together scenes                  // see Scenes
	loops    []*graph.Loop           // innermost of each block
	work     int                     // that may be spent, or 0
	touched  [][]*ir.Instr           // the instructions of each Touch
	writers  map[*ir.Reg][]*ir.Instr // see Given
	quits    map[turning]bool        // see Quits
}

// Within is how much of some work, in steps, may still be done.
func (k *Kernel) Within(most int) int {
	if k.work == 0 {
		return most
	}
	return max(0, min(most, k.work-k.Spent))
}

// rest is Limits.Work for what is still to be done.
func (k *Kernel) rest() int {
	if k.work == 0 {
		return 0
	}
	return max(1, k.work-k.Spent)
}

// Touched is the instructions that a Touch stands for: those that follow one another with nothing else of interest between.
func (k *Kernel) Touched(e *Event) []*ir.Instr { return k.touched[e.run] }

// Needs reports whether any of the kinds is used.
func (k *Kernel) Needs(kinds ...Kind) bool {
	for _, kind := range kinds {
		if k.Uses[kind] {
			return true
		}
	}
	return false
}

// Limits bound the work on one kernel.
type Limits struct {
	Steps  int // instructions
	Traces int
	// Work is what may be spent in all, in steps: also where the kernel is followed several times, and on what is done with its
	// traces. Zero is no bound.
	Work int
}

// Default is enough for the kernels that people and compilers write.
func Default() Limits { return Limits{Steps: 200_000, Traces: 160} }
