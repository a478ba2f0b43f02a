// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package value represents register contents symbolically, as far as they are known without
// running the kernel. A value is a sum of a constant and of atoms: addresses of variables,
// special registers, parameters, and results that cannot be simplified. Equal values are the same
// pointer, however they were computed. If a value depends only on the thread index, it can be
// evaluated for every thread of a block.
//
// Sums wrap at their width. Widening does not change a sum, because indices are assumed not to
// overflow.
package value

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/slab"
)

// A Level is the group of threads over which a value is certainly the same.
type Level uint8

// The levels are ordered from values that are the same everywhere to values that may differ in
// each lane.
const (
	Constant Level = iota
	Block          // the same in all threads of a block
	Warp           // the same in all lanes of a warp
	Lane
)

// A Value is the sum of K and, for each term, its factor times its atom.
type Value struct {
	ID    int
	Width int // in bits; 1 for a predicate
	K     int64
	Terms []Term

	where *Set   // cache of Where
	bare  *Value // cache: v without its constant
	// patterns holds the last Pattern of the value for each lowest warp of a thread set; see
	// Pool.Pattern.
	patterns []*Pattern
	next     *Value // next value with the same hash, or the same atom with another width
}

// A Term is one summand of a Value.
type Term struct {
	Factor int64
	Atom   *Atom
}

// An Atom is a part of a value that cannot be simplified.
type Atom struct {
	ID    int
	Op    Op
	Name  string
	Args  []*Value
	Ref   any // what the atom represents, such as a variable or an instruction
	Level Level
	Tid   bool // depends only on the thread index
	// Repeats is set if the atom, apart from Args, is the same in equal lanes of all warps; see
	// Pool.Alike.
	Repeats bool
	Zeros   int // number of low bits that are certainly zero
	// Sources lists what the atom depends on.
	Sources Sources
	// Nested is the number of atoms in a predicate, where shared atoms count once per use. It is
	// at most MaxNested.
	Nested int
	// bounds as an unsigned number, if Bounded is set
	Bounded   bool
	Low, High int64

	own   *Value  // the values that consist of only this atom, one for each width
	each  []int64 // cache: the value in every thread
	alike answer  // see Pool.Alike
	next  *Atom   // next atom with the same hash
}

// A Pool creates values. It must not be used concurrently.
type Pool struct {
	// Shape is the block size along x, y and z, and Threads is their product. Exact is set if the
	// block size is declared. Otherwise Shape is an upper bound.
	Shape   [3]int
	Threads int
	Exact   bool

	seed    maphash.Seed
	values  map[uint64]*Value
	atoms   map[uint64]*Atom
	created struct{ values, atoms int }
	space   struct {
		values slab.Of[Value]
		atoms  slab.Of[Atom]
		terms  slab.Of[Term]
	}
	all    Set
	folded map[step]*Value
	points map[points]*Pattern
	terms  []Term // buffer for a sum under construction
}

// points is the key of a Pattern: a value and a set of threads.
type points struct {
	v *Value
	s Set
}

// A step is the key of a cached simplification.
type step struct {
	op      Op
	a, b, c *Value
}

// NewPool returns a pool for a block of the given shape. A size of zero means that the size is
// not declared.
func NewPool(x, y, z int, exact bool) *Pool {
	p := &Pool{Exact: exact, seed: maphash.MakeSeed(), values: make(map[uint64]*Value),
		atoms: make(map[uint64]*Atom), folded: make(map[step]*Value),
		points: make(map[points]*Pattern)}
	p.Shape = [3]int{max(1, x), max(1, y), max(1, z)}
	p.Threads = min(MaxThreads, p.Shape[0]*p.Shape[1]*p.Shape[2])
	p.all = First(p.Threads)
	return p
}

// All returns the set of all threads of the block.
func (p *Pool) All() Set { return p.all }

// Const returns the constant k with the given width in bits.
func (p *Pool) Const(width int, k int64) *Value { return p.sum(width, k, nil) }

// Bool returns a constant predicate.
func (p *Pool) Bool(b bool) *Value {
	if b {
		return p.Const(1, 1)
	}
	return p.Const(1, 0)
}

// wrap returns the low width bits of k, sign-extended.
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

// sum returns the value with the given terms. The terms must be sorted by atom and have nonzero
// factors.
func (p *Pool) sum(width int, k int64, terms []Term) *Value {
	k = wrap(width, k)
	if k == 0 && len(terms) == 1 && terms[0].Factor == 1 {
		return p.alone(width, terms[0].Atom)
	}
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
	p.created.values++
	v := slab.One(&p.space.values)
	*v = Value{ID: p.created.values, Width: width, K: k, Terms: slab.Copy(&p.space.terms, terms),
		next: first}
	p.values[h] = v
	return v
}

// alone returns the value that consists of one atom, with the given width in bits.
func (p *Pool) alone(width int, a *Atom) *Value {
	for v := a.own; v != nil; v = v.next {
		if v.Width == width {
			return v
		}
	}
	p.created.values++
	terms := slab.Many(&p.space.terms, 1)
	terms[0] = Term{1, a}
	v := slab.One(&p.space.values)
	*v = Value{ID: p.created.values, Width: width, Terms: terms, next: a.own}
	a.own = v
	return v
}

// Atom returns the value that consists of one atom: the result of op on args. Atoms with equal op
// and args are distinguished by name and ref.
func (p *Pool) Atom(width int, op Op, name string, ref any, level Level, args ...*Value) *Value {
	h := mix(uint64(op), maphash.String(p.seed, name))
	for _, a := range args {
		h = mix(h, uint64(a.ID))
	}
	a := p.atoms[h]
	for first := a; ; a = a.next {
		if a == nil {
			p.created.atoms++
			a = slab.One(&p.space.atoms)
			*a = Atom{ID: p.created.atoms, Op: op, Name: name, Args: slices.Clone(args), Ref: ref,
				Level: level, Tid: len(args) > 0 && isEvaluated(op), next: first}
			a.Sources = ownSources(op, ref)
			for _, arg := range args {
				a.Tid = a.Tid && arg.Tid()
				if op != OpShfl && op != OpVote {
					a.Level = max(a.Level, arg.Level())
				}
				for _, t := range arg.Terms {
					a.Sources |= inheritedSources(op, t.Atom.Sources)
					if arg.Width == 1 {
						a.Nested += t.Atom.Nested + 1
					}
				}
			}
			a.Nested = min(a.Nested, MaxNested)
			p.atoms[h] = a
			break
		}
		if a.Op == op && a.Name == name && slices.Equal(a.Args, args) {
			break
		}
	}
	return p.alone(width, a)
}

// mix adds a word to a hash.
func mix(h, word uint64) uint64 {
	const odd = 0x9e3779b97f4a7c15
	high, low := bits.Mul64(h^word, odd^h>>32)
	return high ^ low + odd
}

// Const reports whether v is a constant.
func (v *Value) Const() bool { return v != nil && len(v.Terms) == 0 }

// Is reports whether v is the constant k.
func (v *Value) Is(k int64) bool { return v.Const() && v.K == wrap(v.Width, k) }

// Tid reports whether v depends only on constants and the thread index.
func (v *Value) Tid() bool {
	for _, t := range v.Terms {
		if !t.Atom.Tid {
			return false
		}
	}
	return true
}

// Level returns the group of threads over which v is the same.
func (v *Value) Level() Level {
	l := Constant
	for _, t := range v.Terms {
		l = max(l, t.Atom.Level)
	}
	return l
}

// Single returns the atom if v consists of exactly one atom, or else nil.
func (v *Value) Single() *Atom {
	if v == nil || len(v.Terms) != 1 || v.K != 0 || v.Terms[0].Factor != 1 {
		return nil
	}
	return v.Terms[0].Atom
}

// Condition returns the atom of a predicate, and whether the predicate is the atom's negation. It
// returns nil if v is nil or constant.
func (v *Value) Condition() (a *Atom, not bool) {
	if v == nil || len(v.Terms) != 1 {
		return nil, false
	}
	return v.Terms[0].Atom, v.Terms[0].Factor < 0
}

// Zeros returns the number of low bits that are certainly zero, at most 62.
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

// Bounds returns the minimum and maximum of v as an unsigned number. ok is false if they are
// unknown.
func (v *Value) Bounds() (low, high int64, ok bool) {
	low, high, ok = v.Spread()
	if !ok || low < 0 || v.Width == 32 && high > 1<<32-1 {
		return 0, 0, false
	}
	return low, high, true
}

// Spread returns the minimum and maximum of v as a signed number. ok is false if they are
// unknown.
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

// setBounds records bounds of v if v consists of one atom, and returns v.
func setBounds(v *Value, low, high int64) *Value {
	if a := v.Single(); a != nil && !a.Bounded {
		a.Bounded, a.Low, a.High = true, low, high
	}
	return v
}
