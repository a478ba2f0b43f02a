// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package value is what registers hold, as far as it can be told without running: sums of constants and
// of atoms, which are addresses of variables, special registers, parameters, and results of instructions
// that fold no further. Equal values are one pointer, however they were computed. A value that rests on
// the number of the thread alone is known for every thread of a block.
//
// Sums wrap at their width. Widening keeps a sum as it is: indices are taken not to overflow.
package value

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// A Level says over which threads a value is the same for certain.
type Level uint8

// Levels, from the same everywhere to different in each lane.
const (
	Constant Level = iota
	Block          // the same in all threads of a block
	Warp           // the same in all lanes of a warp
	Lane
)

// A Value is a sum: K and, for each term, its factor times its atom.
type Value struct {
	ID    int
	Width int // bits; 1 for a predicate
	K     int64
	Terms []Term

	where *Set   // the threads in which it holds, once asked for
	bare  *Value // without its constant, once asked for
	// patterns holds a few patterns of the value; see Pool.Pattern.
	patterns []*Pattern
	latest   int    // the one that was asked for last
	next     *Value // with the same hash
}

// A Term is one summand.
type Term struct {
	Factor int64
	Atom   *Atom
}

// An Atom is something that folds no further.
type Atom struct {
	ID    int
	Op    string
	Name  string
	Args  []*Value
	Ref   any // what it stands for: a variable, an instruction
	Level Level
	Tid   bool // rests on the number of the thread alone
	// Repeats says that each warp has the same, lane by lane, of what is not made of Args alone; see Pool.Alike.
	Repeats bool
	Zeros   int // low bits known to be zero
	// Sources are what it rests on.
	Sources Sources
	// Nested is how many atoms a predicate is made of, where those that several are made of count for each; not above Deep.
	Nested int
	// Known bounds, unsigned.
	Bounded   bool
	Low, High int64

	each  []int64 // for every thread, once asked for
	alike answer  // see Pool.Alike
	next  *Atom   // with the same hash
}

// A Pool makes values. It is not safe for concurrent use.
type Pool struct {
	// Shape is the threads of a block along x, y and z; Threads is their number. Exact says that it is
	// laid down, and not the most that there may be.
	Shape   [3]int
	Threads int
	Exact   bool

	seed   maphash.Seed
	values map[uint64]*Value
	atoms  map[uint64]*Atom
	made   struct{ values, atoms int }
	all    Set
	folded map[step]*Value
	points map[points]*Pattern
}

// points are what a value is in some threads.
type points struct {
	v *Value
	s Set
}

// A step is one fold that was made.
type step struct {
	op      string
	a, b, c *Value
}

// NewPool is a pool for a block of the given shape; zero stands for not laid down.
func NewPool(x, y, z int, exact bool) *Pool {
	p := &Pool{Exact: exact, seed: maphash.MakeSeed(), values: make(map[uint64]*Value), atoms: make(map[uint64]*Atom), folded: make(map[step]*Value),
		points: make(map[points]*Pattern)}
	p.Shape = [3]int{max(1, x), max(1, y), max(1, z)}
	p.Threads = min(MaxThreads, p.Shape[0]*p.Shape[1]*p.Shape[2])
	p.all = First(p.Threads)
	return p
}

// All is the set of all threads of the block.
func (p *Pool) All() Set { return p.all }

// Const is a constant of a width.
func (p *Pool) Const(width int, k int64) *Value { return p.sum(width, k, nil) }

// Bool is a constant predicate.
func (p *Pool) Bool(b bool) *Value {
	if b {
		return p.Const(1, 1)
	}
	return p.Const(1, 0)
}

// wrap is k as a signed number of so many bits.
func wrap(width int, k int64) int64 {
	switch {
	case width == 32:
		return int64(int32(k))
	case width == 16:
		return int64(int16(k))
	case width == 8:
		return int64(int8(k))
	}
	return k
}

// sum makes a value of terms that are sorted by their atoms and have no zero among their factors.
func (p *Pool) sum(width int, k int64, terms []Term) *Value {
	k = wrap(width, k)
	h := mix(uint64(width), uint64(k))
	for _, t := range terms {
		h = mix(mix(h, uint64(t.Atom.ID)), uint64(t.Factor))
	}
	first := p.values[h]
	for v := first; v != nil; v = v.next {
		if v.Width == width && v.K == k && slices.Equal(v.Terms, terms) {
			return v
		}
	}
	p.made.values++
	v := &Value{ID: p.made.values, Width: width, K: k, Terms: slices.Clone(terms), next: first}
	p.values[h] = v
	return v
}

// Atom is the value that is one atom: what op makes of args, for the thing ref, which distinguishes atoms
// by its name.
func (p *Pool) Atom(width int, op, name string, ref any, level Level, args ...*Value) *Value {
	h := mix(maphash.String(p.seed, op), maphash.String(p.seed, name))
	for _, a := range args {
		h = mix(h, uint64(a.ID))
	}
	a := p.atoms[h]
	for first := a; ; a = a.next {
		if a == nil {
			p.made.atoms++
			a = &Atom{ID: p.made.atoms, Op: op, Name: name, Args: slices.Clone(args), Ref: ref, Level: level, Tid: len(args) > 0 && known(op), next: first}
			a.Sources = sources(op, name)
			for _, arg := range args {
				a.Tid = a.Tid && arg.Tid()
				if op != "shfl" && op != "vote" {
					a.Level = max(a.Level, arg.Level())
				}
				for _, t := range arg.Terms {
					a.Sources |= inherited(op, t.Atom.Sources)
					if arg.Width == 1 {
						a.Nested += t.Atom.Nested + 1
					}
				}
			}
			a.Nested = min(a.Nested, Deep)
			p.atoms[h] = a
			break
		}
		if a.Op == op && a.Name == name && slices.Equal(a.Args, args) {
			break
		}
	}
	return p.sum(width, 0, []Term{{1, a}})
}

// mix is a hash of a hash and one word more.
func mix(h, word uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	high, low := bits.Mul64(h^word, odd^h>>32)
	return high ^ low + odd
}

// Const reports whether v is a constant.
func (v *Value) Const() bool { return v != nil && len(v.Terms) == 0 }

// Is reports whether v is the constant k.
func (v *Value) Is(k int64) bool { return v.Const() && v.K == wrap(v.Width, k) }

// Tid reports whether v rests on constants and the number of the thread alone.
func (v *Value) Tid() bool {
	for _, t := range v.Terms {
		if !t.Atom.Tid {
			return false
		}
	}
	return true
}

// Level is over which threads v is the same.
func (v *Value) Level() Level {
	l := Constant
	for _, t := range v.Terms {
		l = max(l, t.Atom.Level)
	}
	return l
}

// Single is the atom that v is alone, with nothing added, or nil.
func (v *Value) Single() *Atom {
	if v == nil || len(v.Terms) != 1 || v.K != 0 || v.Terms[0].Factor != 1 {
		return nil
	}
	return v.Terms[0].Atom
}

// Condition is the atom of a predicate that is not constant, and whether v is its opposite.
func (v *Value) Condition() (a *Atom, not bool) {
	if v == nil || len(v.Terms) != 1 {
		return nil, false
	}
	return v.Terms[0].Atom, v.Terms[0].Factor < 0
}

// Zeros is the number of low bits that are zero for certain.
func (v *Value) Zeros() int {
	n := 62
	if v.K != 0 {
		n = bits.TrailingZeros64(uint64(v.K))
	}
	for _, t := range v.Terms {
		n = min(n, t.Atom.Zeros+bits.TrailingZeros64(uint64(t.Factor)))
	}
	return n
}

// Bounds are the least and the greatest that v can be, as an unsigned number.
func (v *Value) Bounds() (low, high int64, ok bool) {
	low, high, ok = v.Spread()
	if !ok || low < 0 || v.Width == 32 && high > 1<<32-1 {
		return 0, 0, false
	}
	return low, high, true
}

// Spread is the least and the greatest that v can be, as a signed number.
func (v *Value) Spread() (low, high int64, ok bool) {
	low, high = v.K, v.K
	for _, t := range v.Terms {
		if !t.Atom.Bounded || t.Factor > 1<<31 || t.Factor < -1<<31 {
			return 0, 0, false
		}
		l, h := t.Factor*t.Atom.Low, t.Factor*t.Atom.High
		low, high = low+min(l, h), high+max(l, h)
	}
	return low, high, true
}

// limit notes bounds of the one atom of v.
func limit(v *Value, low, high int64) *Value {
	if a := v.Single(); a != nil && !a.Bounded {
		a.Bounded, a.Low, a.High = true, low, high
	}
	return v
}
