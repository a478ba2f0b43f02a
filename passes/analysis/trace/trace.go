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

// An Event is one instruction that a class of threads executes.
type Event struct {
	Kind    Kind
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
	// Shares says that it stores to shared memory.
	Shares bool
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
	// Callers are, of an instruction of a device function, the calls through which it is reached.
	Callers map[*ir.Instr][]*ir.Instr
	// Cases is for how many parameters and the like numbers were put in, several one after the other.
	Cases int
	// Most says that blocks are taken to be as large as .maxntid allows, since nothing lays their size down.
	Most bool
}

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
}

// Default is enough for the kernels that people and compilers write.
func Default() Limits { return Limits{Steps: 200_000, Traces: 160} }

// Facts are what the choices on a trace say of values.
type Facts struct {
	// With says which numbers were put in for parameters; "" where none were.
	With string

	pool    *value.Pool
	turn    int  // which of several choices of numbers
	empty   bool // one of them is zero
	decided map[*value.Atom]bool
	ranges  map[rangeKey]span
}

// A rangeKey is a sum without its constant, compared as signed or unsigned.
type rangeKey struct {
	of     *value.Value
	signed bool
}

type span struct{ low, high int64 }

func newFacts(p *value.Pool, turn int) *Facts {
	return &Facts{pool: p, turn: turn, decided: make(map[*value.Atom]bool), ranges: make(map[rangeKey]span)}
}

func (f *Facts) clone() *Facts {
	g := newFacts(f.pool, f.turn)
	g.With, g.empty = f.With, f.empty
	for a, b := range f.decided {
		g.decided[a] = b
	}
	for k, s := range f.ranges {
		g.ranges[k] = s
	}
	return g
}

// Decided is what is known of a predicate for the threads of s.
func (f *Facts) Decided(v *value.Value, s value.Set) (holds, known bool) {
	if v.Const() {
		return v.K != 0, true
	}
	a, not := v.Condition()
	if a == nil {
		return false, false
	}
	holds, known = f.atom(a, s)
	return holds != not, known
}

func (f *Facts) atom(a *value.Atom, s value.Set) (holds, known bool) {
	if holds, known = f.decided[a]; known {
		return holds, true
	}
	if a.Tid {
		one := f.pool.Atom(1, a.Op, a.Name, a.Ref, a.Level, a.Args...)
		in := f.pool.Where(one, s)
		switch {
		case in == s:
			return true, true
		case in.Empty():
			return false, true
		}
		return false, false
	}
	switch a.Op {
	case "and", "or", "xor":
		l, lk := f.Decided(a.Args[0], s)
		r, rk := f.Decided(a.Args[1], s)
		switch {
		case lk && rk && a.Op == "xor":
			return l != r, true
		case lk && rk:
			return l && r || a.Op == "or" && (l || r), true
		case a.Op == "and" && (lk && !l || rk && !r):
			return false, true
		case a.Op == "or" && (lk && l || rk && r):
			return true, true
		}
	case "select":
		c, ck := f.Decided(a.Args[0], s)
		if ck && c {
			return f.Decided(a.Args[1], s)
		}
		if ck {
			return f.Decided(a.Args[2], s)
		}
	case "lt", "eq":
		key, k, less, ok := f.shape(a)
		if !ok {
			return false, false
		}
		r, ok := f.between(key)
		if !ok {
			return false, false
		}
		// The claim is base < k, base > k or base = k.
		switch {
		case a.Op == "eq":
			if k < r.low || k > r.high {
				return false, true
			}
			return true, r.low == r.high
		case less:
			if r.high < k {
				return true, true
			}
			return false, r.low >= k
		default:
			if r.low > k {
				return true, true
			}
			return false, r.high <= k
		}
	}
	return false, false
}

// shape puts a comparison as a sum without constant against a constant: base < k, base > k (less is
// false), base = k.
func (f *Facts) shape(a *value.Atom) (key rangeKey, k int64, less, ok bool) {
	x, y := a.Args[0], a.Args[1]
	// Numbers that are not negative are the same either way.
	signed := a.Name == "s" || a.Op == "eq" || f.natural(x) && f.natural(y)
	if !signed && (x.K < 0 || y.K < 0) {
		return rangeKey{}, 0, false, false
	}
	diff := f.pool.Sub(64, f.pool.Resize(64, x, true), f.pool.Resize(64, y, true))
	if diff.Const() {
		return rangeKey{}, 0, false, false
	}
	base, k, sign := f.base(diff)
	return rangeKey{base, signed}, -k * sign, sign > 0, true
}

// between is the range of a sum: what is known of it, and what follows from another that it differs from by
// something bounded, as n from n - n%4.
func (f *Facts) between(key rangeKey) (span, bool) {
	r, found := f.ranges[key]
	if !found {
		r = span{-wide, wide}
	}
	if len(f.ranges) > 64 {
		return r, found
	}
	for other, o := range f.ranges {
		if other.signed != key.signed || other == key || len(other.of.Terms)+len(key.of.Terms) > 6 {
			continue
		}
		diff := f.pool.Sub(64, key.of, other.of)
		low, high, ok := diff.Spread()
		if d, narrow := f.ranges[rangeKey{diff, key.signed}]; narrow {
			low, high = max(low, d.low), min(high, d.high)
		}
		if !ok {
			continue
		}
		found = true
		if o.low > -wide {
			r.low = max(r.low, o.low+low)
		}
		if o.high < wide {
			r.high = min(r.high, o.high+high)
		}
	}
	return r, found
}

// wide stands for no bound.
const wide = int64(1) << 40

// natural reports whether a value is not negative for certain, as a signed number.
func (f *Facts) natural(v *value.Value) bool {
	if v.Const() {
		return v.K >= 0
	}
	if l, h, ok := v.Spread(); ok && l >= 0 && h < 1<<31 {
		return true
	}
	key, k, sign := f.base(v)
	r, ok := f.between(rangeKey{key, true})
	switch {
	case !ok:
		return false
	case sign < 0:
		return r.high < wide && k-r.high >= 0
	}
	return r.low > -wide && r.low+k >= 0
}

// base is a sum as something that ranges are kept of, with its sign, and a constant.
func (f *Facts) base(v *value.Value) (of *value.Value, k, sign int64) {
	v, sign = f.pool.Resize(64, v, true), 1
	k = v.K
	if v.Terms[0].Factor < 0 {
		v, sign = f.pool.Scale(64, v, -1), -1
	}
	return f.pool.Sub(64, v, f.pool.Const(64, v.K)), k, sign
}

// assume takes note that a predicate holds, or does not, for the threads of s.
func (f *Facts) assume(v *value.Value, holds bool, s value.Set) {
	a, not := v.Condition()
	if a == nil {
		return
	}
	holds = holds != not
	f.decided[a] = holds
	switch {
	case a.Op == "and" && holds, a.Op == "or" && !holds:
		f.assume(a.Args[0], holds, s)
		f.assume(a.Args[1], holds, s)
	case a.Op == "and" || a.Op == "or":
		// One of two: where the other is known not to be it, this one is.
		for i := range 2 {
			if other, known := f.Decided(a.Args[1-i], s); known && other != holds {
				f.assume(a.Args[i], holds, s)
			}
		}
	case (a.Op == "lt" || a.Op == "eq") && !a.Tid:
		f.narrow(a, holds)
	}
}

func (f *Facts) narrow(a *value.Atom, holds bool) {
	key, k, less, ok := f.shape(a)
	if !ok {
		return
	}
	keys := []rangeKey{key}
	if a.Op == "eq" {
		keys = append(keys, rangeKey{key.of, false})
	}
	for _, key := range keys {
		r, ok := f.between(key)
		if !ok {
			if l, h, bounded := key.of.Bounds(); bounded {
				r = span{l, h}
			} else if !key.signed && len(key.of.Terms) == 1 && key.of.Terms[0].Factor > 0 {
				r.low = 0
			}
		}
		switch {
		case a.Op == "eq" && holds:
			r = span{k, k}
		case a.Op == "eq":
			if r.low == k {
				r.low++
			}
			if r.high == k {
				r.high--
			}
		case less && holds:
			r.high = min(r.high, k-1)
		case less:
			r.low = max(r.low, k)
		case holds:
			r.low = max(r.low, k+1)
		default:
			r.high = min(r.high, k)
		}
		f.ranges[key] = r
	}
}

// Empty reports whether a parameter, or a number that is read, is zero or less: a kernel that has nothing to do
// may not be meant to be launched.
func (f *Facts) Empty() bool {
	if f.empty {
		return true
	}
	for k, r := range f.ranges {
		if a := k.of.Single(); a != nil && (a.Op == "parameter" || a.Op == "load") && r.high <= 0 {
			return true
		}
	}
	for a, holds := range f.decided {
		if one := a.Op == "eq" && holds && a.Args[1].Is(0); one && a.Args[0].Single() != nil && a.Args[0].Single().Op == "parameter" {
			return true
		}
	}
	return false
}

// Agree reports whether two ways can be taken at the same time by threads of one block: nothing that is
// the same for all threads is decided one way here and the other way there.
func (f *Facts) Agree(g *Facts) bool {
	if f.turn != g.turn {
		return false
	}
	if len(g.decided) < len(f.decided) {
		f, g = g, f
	}
	for a, b := range f.decided {
		if c, ok := g.decided[a]; ok && c != b && a.Level <= value.Block && !a.Tid {
			return false
		}
	}
	return f.meets(g) && g.meets(f)
}

// meets reports whether the ranges in f can hold where those in g do.
func (f *Facts) meets(g *Facts) bool {
	for k, r := range f.ranges {
		if s, ok := g.between(k); ok && k.of.Level() <= value.Block && (r.high < s.low || s.high < r.low) {
			return false
		}
	}
	return true
}
