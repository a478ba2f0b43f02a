// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package trace follows the paths of threads through a kernel and records their memory
// accesses and synchronization. Threads that diverge at a branch on the thread index are
// followed separately, so a trace describes a class of threads. Both sides of an undecided
// branch are followed, unless earlier branches exclude one. Loops without relevant
// instructions are skipped; others are followed for a few iterations, or more for a long ring
// of stages. Nothing is executed: addresses, counts and parities are values of package value.
package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// An Event is an instruction that a class of threads executes. A Touch stands for several
// instructions, see Touched.
type Event struct {
	Kind    Kind
	run     int32 // index of a Touch, see Touched
	In      *ir.Instr
	Block   int
	Threads *value.Set // threads of the class for which the guard is true; not to be modified
	Guard   *value.Value
	// Vals holds the operands: a register's value, or the address in brackets, or nil for others.
	Vals []*value.Value
	// Done is the predicate that a wait returns, or the state that an arrival returns.
	Done *value.Value
	// Parted holds the open branches at which lanes of one warp may have diverged.
	Parted []Choice
}

// A Choice is a branch, taken or not taken.
type Choice struct {
	In    *ir.Instr
	Block int
	Cond  *value.Value // true if the branch is taken
	Taken bool
	// Splits reports whether lanes of one warp certainly diverge here, and Away holds the threads
	// that take the other branch. Maybe reports whether it is unknown.
	Splits, Maybe bool
	Away          value.Set
	// At is the number of events before the branch.
	At int
	// Soft reports whether only memory reads and writes depend on the branch.
	Soft bool
}

// A Trace is one path through the kernel.
type Trace struct {
	Threads value.Set // threads that take it
	Rank    int       // rank of their block in the cluster, if ranks are followed separately
	Events  []Event
	Choices []Choice // on unknown conditions, or on the thread index
	Stopped string   // why it ends before the threads exit; "" if they exit
	Facts   *Facts

	granted []bool // see grants
	asked   bool
}

// Of returns an event of t with its threads restricted to those of t. Before these diverged from
// others, they executed the event together.
func (t *Trace) Of(e *Event) *Event {
	if (e.Threads.Minus(t.Threads) == value.Set{}) {
		return e
	}
	one := e.Within(t.Threads)
	return &one
}

// Within returns e with its threads restricted to those of s.
func (e *Event) Within(s value.Set) Event {
	one := *e
	both := e.Threads.And(s)
	one.Threads = &both
	return one
}

// A Kernel is a kernel with its traces. If it calls functions with relevant instructions, Func
// is a copy in which they are inlined.
type Kernel struct {
	Module *ir.Module
	Func   *ir.Func
	Flow   *ir.Flow
	Pool   *value.Pool
	Post   *graph.Tree
	Traces []*Trace
	// Uses specifies which kinds of instructions the kernel has.
	Uses [Touch + 1]bool
	// Shares reports whether the kernel stores to shared memory. Generic reports whether shared
	// addresses become generic ones, through which it may store.
	Shares, Generic bool
	// Missed says why the traces are incomplete. Iterations is the largest number of loop
	// iterations that were followed.
	Missed     []string
	Iterations int
	// Loops reports whether some iterations of a loop were not followed.
	Loops bool
	// Cluster is the number of blocks in a cluster: 0 if unknown, 1 if there is no cluster.
	Cluster int
	// Grid is the number of blocks along each axis, or zeros if it is unknown.
	Grid [3]int
	// Ranks is the number of blocks of a cluster that are followed separately, or 1 if all are
	// assumed to behave alike.
	Ranks int
	// Callers holds, for an instruction of a device function, the calls through which it is
	// reached, innermost first.
	Callers map[*ir.Instr]*Caller
	// Cases is the number of inputs for which several constants were substituted in turn.
	Cases int
	// Tried lists, for each such input, the values that were followed to the end: "n = 0 to 7, 9".
	Tried []string
	// Most reports whether the block size is assumed to be the maximum that .maxntid allows.
	Most bool
	// Guessed reports whether there is no .maxntid either, and the block size is inferred from
	// arrays in shared memory.
	Guessed bool

	// Unseen is a synchronizing or asynchronous instruction that no followed path reaches, if
	// there is one.
	Unseen *ir.Instr

	// Untaken is a branch in a loop on which synchronization depends and that goes the same way in
	// all followed iterations, although not all iterations were followed. It is nil if there is
	// none.
	Untaken *ir.Instr

	// Spent is how much of Limits.Work was used; analyzers that do much work add to it.
	Spent int

	// Extent of a cluster in blocks along x, y and z; zeros if it is unknown.
	extent   [3]int
	together scenes                  // see Scenes
	loops    []*graph.Loop           // innermost loop of each block
	work     int                     // limit on Spent, or 0
	touched  [][]*ir.Instr           // the instructions of each Touch
	writers  map[*ir.Reg][]*ir.Instr // see DependsOnInput
	quits    map[branchOutcome]bool  // see LeavesKernel
}

// Within returns how much of the given work, in steps, is still allowed.
func (k *Kernel) Within(most int) int {
	if k.work == 0 {
		return most
	}
	return max(0, min(most, k.work-k.Spent))
}

// rest returns the part of Limits.Work that is not spent.
func (k *Kernel) rest() int {
	if k.work == 0 {
		return 0
	}
	return max(1, k.work-k.Spent)
}

// Touched returns the instructions that a Touch stands for: consecutive accesses without
// another relevant instruction in between.
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

// Limits bounds the work on one kernel.
type Limits struct {
	Steps  int // instructions
	Traces int
	// Work is the total limit in steps, including repeated passes over the kernel and the analysis
	// of its traces. Zero means no limit.
	Work int
	// Grid is the number of blocks along each axis, or zeros if it is unknown.
	Grid [3]int
}

// Default returns limits that suffice for kernels written by people and compilers.
func Default() Limits { return Limits{Steps: 200_000, Traces: 160} }
