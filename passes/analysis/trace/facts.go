// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// Facts holds the conditions that the branches of a trace imply.
type Facts struct {
	// With describes the constants that were substituted for inputs, or the first of them if
	// there are many. It is "" if there are none.
	With string

	pool    *value.Pool
	set     int    // index of the set of constants, or 0
	empty   bool   // one of the constants is zero
	few     string // describes an input whose constant is at most one, or ""
	decided decisions
	ranges  []bounds
}

func newFacts(p *value.Pool, set int) *Facts { return &Facts{pool: p, set: set} }

// ConstantSet returns the index of the set of substituted constants. Indices start at 1; the
// result is 0 if no constants were substituted.
func (f *Facts) ConstantSet() int { return f.set }

func (f *Facts) clone() *Facts {
	g := *f
	g.decided.latest = slices.Clip(f.decided.latest)
	g.ranges = slices.Clone(f.ranges)
	return &g
}

// Decided returns the outcome of a predicate for the threads of s. known is false if the outcome
// is not decided.
func (f *Facts) Decided(v *value.Value, s value.Set) (holds, known bool) {
	if v.Const() {
		return v.K != 0, true
	}
	a, not := v.Condition()
	if a == nil {
		return false, false
	}
	holds, known = f.decideAtom(a, s)
	return holds != not, known
}

func (f *Facts) decideAtom(a *value.Atom, s value.Set) (holds, known bool) {
	if holds, known = f.decided.lookup(a); known {
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
	if a.Nested >= value.MaxNested {
		return false, false
	}
	switch a.Op {
	case value.OpAnd, value.OpOr, value.OpXor:
		return f.decideCombination(a, s)
	case value.OpSelect:
		if c, known := f.Decided(a.Args[0], s); known && c {
			return f.Decided(a.Args[1], s)
		} else if known {
			return f.Decided(a.Args[2], s)
		}
	case value.OpLt, value.OpEq:
		return f.decideComparison(a)
	}
	return false, false
}

// decideCombination decides an and, or or xor of two predicates. One known operand may suffice.
func (f *Facts) decideCombination(a *value.Atom, s value.Set) (holds, known bool) {
	l, left := f.Decided(a.Args[0], s)
	r, right := f.Decided(a.Args[1], s)
	switch a.Op {
	case value.OpAnd:
		if left && !l || right && !r {
			return false, true
		}
	case value.OpOr:
		if left && l || right && r {
			return true, true
		}
	default:
		return l != r, left && right
	}
	return a.Op == value.OpAnd, left && right
}

// decideComparison decides a comparison from the known range of the difference of its operands.
func (f *Facts) decideComparison(a *value.Atom) (holds, known bool) {
	key, k, less, ok := f.normalize(a)
	if !ok {
		return false, false
	}
	r, ok := f.sumRange(key)
	if !ok {
		return false, false
	}
	// The predicate is base < k, base > k or base = k.
	switch {
	case a.Op == value.OpEq && (k < r.low || k > r.high):
		return false, true
	case a.Op == value.OpEq:
		return true, r.low == r.high
	case less:
		return r.high < k, r.high < k || r.low >= k
	}
	return r.low > k, r.low > k || r.high <= k
}

// assume records the outcome of a predicate for the threads of s.
func (f *Facts) assume(v *value.Value, holds bool, s value.Set) {
	a, not := v.Condition()
	if a == nil {
		return
	}
	holds = holds != not
	f.decided.record(a, holds)
	switch {
	case a.Nested >= value.MaxNested:
	case a.Op == value.OpAnd && holds, a.Op == value.OpOr && !holds:
		f.assume(a.Args[0], holds, s)
		f.assume(a.Args[1], holds, s)
	case a.Op == value.OpAnd || a.Op == value.OpOr:
		// If one of two alternatives is false, the other is true.
		for i := range 2 {
			if other, known := f.Decided(a.Args[1-i], s); known && other != holds {
				f.assume(a.Args[i], holds, s)
			}
		}
	case (a.Op == value.OpLt || a.Op == value.OpEq) && !a.Tid:
		f.updateRange(a, holds)
	}
}

// Empty reports whether a kernel input is zero or negative. A kernel without work may never be
// launched.
func (f *Facts) Empty() bool {
	if f.empty {
		return true
	}
	for _, r := range f.ranges {
		if a := r.of.Single(); a != nil && (a.Op == value.OpParameter || a.Op == value.OpLoad) &&
			r.high <= 0 {
			return true
		}
	}
	for a, holds := range f.decided.all() {
		if one := a.Op == value.OpEq && holds && a.Args[1].Is(0); one &&
			a.Args[0].Single() != nil && a.Args[0].Single().Op == value.OpParameter {
			return true
		}
	}
	return false
}

// Few describes a kernel input that is at most one on the path, or returns "" if there is no such
// input. A loop over the input runs at most once.
func (f *Facts) Few() string {
	if f.few != "" {
		return f.few
	}
	for _, r := range f.ranges {
		a := r.of.Single()
		if a == nil || r.high > 1 || r.high < -noBound || !isInput(a) || a.Op == value.OpRegister {
			continue
		}
		name := inputNameOf(a, "")
		if name == "" {
			name = "a value in memory"
		}
		if r.low == r.high {
			return name + " is " + strconv.FormatInt(r.high, 10)
		}
		return name + " is at most " + strconv.FormatInt(r.high, 10)
	}
	return ""
}

// Agree reports whether threads of one block can take two paths in the same launch: no
// block-uniform condition has different outcomes on the two.
func (f *Facts) Agree(g *Facts) bool {
	if f.set != g.set {
		return false
	}
	for a, b := range f.decided.all() {
		if c, ok := g.decided.lookup(a); ok && c != b && a.Level <= value.Block && !a.Tid {
			return false
		}
	}
	return f.hasCompatibleRanges(g) && g.hasCompatibleRanges(f)
}
