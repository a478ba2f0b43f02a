// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package trace executes the paths of threads through a kernel symbolically and records their
// memory accesses and synchronization. Threads that diverge at a branch on the thread index are
// analyzed separately, so a trace describes a set of threads. Both sides of an undecided branch
// are analyzed, unless earlier branches exclude one side. Loops without relevant instructions are
// skipped. Other loops are analyzed for a few iterations, or more if they index a long ring of
// stages. Nothing is executed: addresses, counts and parities are values of package value.
package trace

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// An Event is the execution of an instruction by a set of threads. An event of kind Touch
// represents several instructions; see Kernel.Touched.
type Event struct {
	Kind    Kind
	run     int32 // index for Kernel.Touched, if Kind is Touch
	In      *ir.Instr
	Block   int
	Threads *value.Set // threads for which the guard is true; must not be modified
	Guard   *value.Value
	// Vals holds the values of the operands: of a register, or of the address in brackets. Other
	// operands have the value nil.
	Vals []*value.Value
	// Done is the predicate that a wait returns, or the state that an arrival returns.
	Done *value.Value
	// Parted holds the earlier branches at which lanes of one warp may have diverged without
	// rejoining.
	Parted []Choice
}

// A Choice is a branch, and whether it is taken.
type Choice struct {
	In    *ir.Instr
	Block int
	Cond  *value.Value // true if the branch is taken
	Taken bool
	// Splits is set if lanes of one warp certainly diverge at the branch, and Away holds the
	// threads that take the other side. Maybe is set if it is unknown whether lanes diverge.
	Splits, Maybe bool
	Away          value.Set
	// At is the number of events before the branch.
	At int
	// Soft is set if only reads and writes of memory depend on the branch.
	Soft bool
}

// A Trace is one path through the kernel.
type Trace struct {
	Threads value.Set // threads that take the path
	Rank    int       // rank of their block in the cluster, if blocks are analyzed separately
	Events  []Event
	Choices []Choice // branches on unknown conditions, or on the thread index
	Stopped string   // why the trace ends before the threads exit; "" if they exit
	Facts   *Facts

	granted     []bool // cache of grants, valid if asked is set
	grantsKnown bool
}

// Of returns e with its threads restricted to those of t. Threads that diverged from t only later
// also executed the event.
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

// A Kernel is a kernel with its traces. If the kernel calls functions with relevant instructions,
// Func is a copy in which these functions are inlined.
type Kernel struct {
	Module *ir.Module
	Func   *ir.Func
	Flow   *ir.Flow
	Pool   *value.Pool
	Post   *graph.Tree
	Traces []*Trace
	// Uses reports, by Kind, which instructions the kernel has.
	Uses [Touch + 1]bool
	// Shares is set if the kernel stores to shared memory. Generic is set if the kernel converts
	// shared addresses to generic addresses, through which it may store.
	Shares, Generic bool
	// Missed lists the reasons why the traces are incomplete. Iterations is the largest number of
	// loop iterations that were analyzed.
	Missed     []string
	Iterations int
	// Loops is set if some iterations of a loop were not analyzed.
	Loops bool
	// Cluster is the number of blocks in a cluster: 0 if unknown, 1 without clusters.
	Cluster int
	// Grid is the number of blocks along each axis, or zeros if the grid size is unknown.
	Grid [3]int
	// Ranks is the number of cluster blocks that are analyzed separately, or 1 if all blocks are
	// assumed to behave the same.
	Ranks int
	// Callers holds, for an instruction of a device function, the calls through which it is
	// reached, innermost first.
	Callers map[*ir.Instr]*Caller
	// Cases is the number of inputs for which several constants were substituted in turn.
	Cases int
	// Tried lists, for each such input, the constants with which all paths were analyzed to their
	// end, such as "n = 0 to 7, 9".
	Tried []string
	// Most is set if the block size is assumed to be the maximum that .maxntid allows.
	Most bool
	// Guessed is set if the kernel has no .maxntid either, and the block size is inferred from
	// arrays in shared memory.
	Guessed bool

	// Unreached is a synchronizing or asynchronous instruction that no analyzed path reaches, or
	// nil.
	Unreached *ir.Instr

	// Untaken is a branch in a loop on which synchronization depends and that has the same
	// outcome in all analyzed iterations, although not all iterations were analyzed. It is nil if
	// there is no such branch.
	Untaken *ir.Instr

	// Spent is the part of Limits.Work that was used. Analyzers that do much work add to it.
	Spent int

	// extent of a cluster in blocks along x, y and z, or zeros if it is unknown
	extent   [3]int
	together scenes                  // see Scenes
	loops    []*graph.Loop           // innermost loop of each block
	work     int                     // limit of Spent, or 0 for no limit
	touched  [][]*ir.Instr           // the instructions of each Touch
	writers  map[*ir.Reg][]*ir.Instr // see DependsOnInput
	quits    map[branchOutcome]bool  // see LeavesKernel
}

// Within returns the smaller of most and the work that is still allowed, in steps.
func (k *Kernel) Within(most int) int {
	if k.work == 0 {
		return most
	}
	return max(0, min(most, k.work-k.Spent))
}

// rest returns the part of Limits.Work that is not spent, at least 1, or 0 if there is no limit.
func (k *Kernel) rest() int {
	if k.work == 0 {
		return 0
	}
	return max(1, k.work-k.Spent)
}

// Touched returns the instructions that an event of kind Touch represents: consecutive accesses
// with no other relevant instruction between them.
func (k *Kernel) Touched(e *Event) []*ir.Instr { return k.touched[e.run] }

// Needs reports whether the kernel has an instruction of any of the kinds.
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
	Steps  int // number of instructions, over all paths
	Traces int
	// Work is the total limit in steps, including repeated passes over the kernel and the
	// analysis of its traces. Zero means no limit.
	Work int
	// Grid is the number of blocks along each axis, or zeros if the grid size is unknown.
	Grid [3]int
}

// Default returns limits that suffice for kernels written by people and compilers.
func Default() Limits { return Limits{Steps: 200_000, Traces: 160} }
