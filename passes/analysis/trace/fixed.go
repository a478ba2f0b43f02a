// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import "github.com/ptxdsl/ptxdsl/passes/analysis/value"

// A evaluationKey is the key of a cached result of evaluateFor.
type evaluationKey struct {
	v *value.Value
	s value.Set
}

// evaluateFor evaluates a predicate for a set of threads: it replaces terms that are equal in all
// these threads by constants. If the threads of one warpgroup decide by their warpgroup index and
// by block-uniform values, the result is block-uniform.
func (w *walk) evaluateFor(v *value.Value, s value.Set) *value.Value {
	if v.Level() <= value.Block {
		return v
	}
	k := evaluationKey{v, s}
	out, seen := w.evaluations[k]
	if !seen {
		out = w.fix(v, s)
		w.evaluations[k] = out
	}
	return out
}

func (w *walk) fix(v *value.Value, s value.Set) *value.Value {
	p := w.pool
	out := p.Const(v.Width, v.K)
	for _, t := range v.Terms {
		one, a := p.Alone(t.Atom), t.Atom
		switch {
		case a.Level <= value.Block || a.Nested >= value.MaxNested:
		case a.Tid:
			if at := p.Pattern(one, &s).At; len(at) == 1 {
				one = p.Const(64, at[0])
			}
		case a.Op == value.OpLt || a.Op == value.OpEq:
			one = p.Compare(a.Op, a.Name == "s", w.evaluateFor(a.Args[0], s),
				w.evaluateFor(a.Args[1], s))
		case a.Op == value.OpSelect:
			one = p.Select(w.evaluateFor(a.Args[0], s), w.evaluateFor(a.Args[1], s),
				w.evaluateFor(a.Args[2], s))
		case canFold(a.Op):
			one = p.Binary(a.Op, a.Args[0].Width, w.evaluateFor(a.Args[0], s),
				w.evaluateFor(a.Args[1], s))
		}
		out = p.Add(v.Width, out, p.Scale(v.Width, one, t.Factor))
	}
	return out
}

// canFold reports whether an operation has two operands and can be simplified.
func canFold(op value.Op) bool {
	switch op {
	case value.OpMul, value.OpAnd, value.OpOr, value.OpXor, value.OpMin, value.OpMax, value.OpSMin,
		value.OpSMax,
		value.OpShl, value.OpShr, value.OpSar, value.OpDiv, value.OpRem, value.OpSDiv, value.OpSRem:
		return true
	}
	return false
}

// uniformGroups groups threads, in whole warps, by the values of the thread-dependent parts of a
// predicate. It returns nil if there is only one group, if there are too many, or if lanes of a
// warp differ.
func (w *walk) uniformGroups(v *value.Value, s value.Set) []value.Set {
	const most = 4
	if v.Level() != value.Warp || v.Tid() {
		return nil
	}
	list := []value.Set{s}
	ok := w.threadAtoms(v, make(map[*value.Atom]bool), func(a *value.Atom) bool {
		var next []value.Set
		for _, c := range list {
			next = append(next, w.groupByValue(a, c, most+1)...)
		}
		list = next
		return len(list) <= most
	})
	if !ok || len(list) < 2 {
		return nil
	}
	for _, c := range list {
		if c.Warp(w.pool.All()).And(s) != c {
			return nil
		}
	}
	return list
}

// groupByValue groups threads by the value of an atom. It returns at most most groups.
func (w *walk) groupByValue(a *value.Atom, s value.Set, most int) []value.Set {
	at := make(map[int64]int)
	var list []value.Set
	one := w.pool.Alone(a)
	s.Each(func(t int) {
		n := w.pool.At(one, t)
		i, seen := at[n]
		if !seen {
			if len(list) == most {
				return
			}
			i = len(list)
			at[n] = i
			list = append(list, value.Set{})
		}
		list[i].Add(t)
	})
	return list
}

// threadAtoms calls visit for the atoms of a value that depend only on the thread index, until
// visit returns false. It returns false if visit did, or if a part of the value depends on other
// inputs of single threads.
func (w *walk) threadAtoms(v *value.Value, seen map[*value.Atom]bool,
	visit func(*value.Atom) bool) bool {
	for _, t := range v.Terms {
		a := t.Atom
		if seen[a] || a.Level <= value.Block {
			continue
		}
		seen[a] = true
		if a.Tid {
			if !visit(a) {
				return false
			}
			continue
		}
		for _, arg := range a.Args {
			if !w.threadAtoms(arg, seen, visit) {
				return false
			}
		}
	}
	return true
}
