// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

import "slices"

// isEvaluated reports whether At can evaluate an operation.
func isEvaluated(op Op) bool {
	switch op {
	case OpMul, OpShl, OpShr, OpSar, OpAnd, OpOr, OpXor, OpDiv, OpRem, OpSDiv, OpSRem, OpMin, OpMax,
		OpSMin, OpSMax,
		OpEq, OpLt, OpSelect, OpShfl, OpCvt, OpSCvt:
		return true
	}
	return false
}

// Special returns the value of a special register that distinguishes threads, or nil for any
// other register.
func (p *Pool) Special(name string, width int) *Value {
	tid := func(level Level, high int) *Value {
		v := p.Atom(width, OpSpecial, name, nil, level)
		a := v.Single()
		a.Tid = true
		return setBounds(v, 0, int64(high))
	}
	switch name {
	case "%tid.x":
		return p.threadIndex(width, 0, tid, Lane)
	case "%tid.y":
		return p.threadIndex(width, 1, tid, Lane)
	case "%tid.z":
		return p.threadIndex(width, 2, tid, Lane)
	case "%laneid":
		return tid(Lane, 31)
	case "%warpid":
		return tid(Warp, (p.Threads-1)/32)
	case "%ntid.x", "%ntid.y", "%ntid.z":
		if p.Exact {
			return p.Const(width, int64(p.Shape[name[6]-'x']))
		}
	}
	return nil
}

// threadIndex returns the thread index along an axis, which is zero if the extent is one.
func (p *Pool) threadIndex(width, axis int, tid func(Level, int) *Value, level Level) *Value {
	if p.Shape[axis] == 1 {
		return p.Const(width, 0)
	}
	return tid(level, p.Shape[axis]-1)
}

// Elected returns the predicate that is true in one lane of each warp. PTX does not define which
// lane is elected, only that equal masks elect the same lane. The lowest lane represents it.
func (p *Pool) Elected() *Value {
	v := p.Atom(1, OpElect, "", nil, Lane)
	v.Single().Tid = true
	return v
}

// At returns the value of v in thread t. v must depend only on the thread index.
func (p *Pool) At(v *Value, t int) int64 {
	n := v.K
	for _, term := range v.Terms {
		n += term.Factor * p.atomAt(term.Atom, t)
	}
	return wrap(v.Width, n)
}

func (p *Pool) atomAt(a *Atom, t int) int64 { return p.column(a)[t] }

// column returns the value of an atom in every thread. The result is cached.
func (p *Pool) column(a *Atom) []int64 {
	if a.each != nil {
		return a.each
	}
	a.each = make([]int64, p.Threads)
	switch a.Op {
	case OpSpecial:
		for t := range a.each {
			a.each[t] = p.specialAt(a.Name, t)
		}
		return a.each
	case OpElect:
		for t := range a.each {
			a.each[t] = boolValue(t%32 == 0)
		}
		return a.each
	}
	var args [3]func(t int) int64
	for i, v := range a.Args {
		args[i] = p.reader(v)
	}
	two := constants(a)
	for t := range a.each {
		if two != nil {
			a.each[t] = two(args[0](t), args[1](t))
		} else {
			a.each[t] = p.compute(a, t, &args)
		}
	}
	return a.each
}

// reader returns a function that evaluates v in a thread as At does, but looks up the atoms only
// once.
func (p *Pool) reader(v *Value) func(t int) int64 {
	switch len(v.Terms) {
	case 0:
		return func(int) int64 { return v.K }
	case 1:
		one := v.Terms[0]
		column := p.column(one.Atom)
		return func(t int) int64 { return wrap(v.Width, v.K+one.Factor*column[t]) }
	}
	columns := make([][]int64, len(v.Terms))
	for i, term := range v.Terms {
		columns[i] = p.column(term.Atom)
	}
	return func(t int) int64 {
		n := v.K
		for i := range columns {
			n += v.Terms[i].Factor * columns[i][t]
		}
		return wrap(v.Width, n)
	}
}

// compute returns the value in thread t of an atom that moves values between threads or widths,
// or 0 for other atoms.
func (p *Pool) compute(a *Atom, t int, args *[3]func(t int) int64) int64 {
	switch a.Op {
	case OpSelect:
		if args[0](t) != 0 {
			return args[1](t)
		}
		return args[2](t)
	case OpShfl:
		from := t&^31 + int(args[1](t))&31
		return args[0](min(from, p.Threads-1))
	case OpCvt:
		return args[0](t) & (1<<min(62, a.Args[0].Width) - 1)
	case OpSCvt:
		return args[0](t)
	}
	return 0
}

// specialAt returns the value of a special register in thread t.
func (p *Pool) specialAt(name string, t int) int64 {
	switch name {
	case "%tid.x":
		return int64(t % p.Shape[0])
	case "%tid.y":
		return int64(t / p.Shape[0] % p.Shape[1])
	case "%tid.z":
		return int64(t / (p.Shape[0] * p.Shape[1]))
	case "%laneid":
		return int64(t % 32)
	}
	return int64(t / 32)
}

func boolValue(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Where returns the threads of s in which a predicate is true. The predicate must depend only on
// the thread index.
func (p *Pool) Where(v *Value, s Set) Set {
	if v.where == nil {
		v.where = new(Set)
		at := p.reader(v)
		for t := range p.Threads {
			if at(t)&1 != 0 {
				v.where.Add(t)
			}
		}
	}
	return v.where.And(s)
}

// RangeOver returns the minimum and maximum of v over the threads of s. ok is false if s is empty,
// or if a term that depends on more than the thread index has no bounds.
func (p *Pool) RangeOver(v *Value, s Set) (low, high int64, ok bool) {
	rest := Value{Width: v.Width}
	own := Value{Width: 64, K: v.K}
	for _, t := range v.Terms {
		if t.Atom.Tid {
			own.Terms = append(own.Terms, t)
		} else {
			rest.Terms = append(rest.Terms, t)
		}
	}
	rl, rh, ok := rest.Bounds()
	if !ok {
		return 0, 0, false
	}
	first := true
	s.Each(func(t int) {
		if t >= p.Threads {
			return
		}
		n := p.At(&own, t)
		if first || n < low {
			low = n
		}
		if first || n > high {
			high = n
		}
		first = false
	})
	return low + rl, high + rh, !first
}

// A Pattern holds the values of a sum without its constant in a set of threads.
type Pattern struct {
	Threads Set
	At      []int64 // sorted, without duplicates
	pool    *Pool
	of      *Value
}

// Pattern returns the values of v without its constant in the threads of s. Terms that depend on
// more than the thread index count as zero.
func (p *Pool) Pattern(v *Value, s *Set) *Pattern {
	if v.K != 0 {
		if v.bare == nil {
			v.bare = p.sum(v.Width, 0, v.Terms)
		}
		v = v.bare
	}
	// Most queries are for one warp after another, or repeat the same set.
	first := s.Least()
	if first < 0 {
		return &Pattern{pool: p, of: &Value{Width: 64}}
	}
	if v.patterns == nil {
		v.patterns = make([]*Pattern, (p.Threads+31)/32)
	}
	var latest **Pattern
	if n := first / 32; n < len(v.patterns) {
		latest = &v.patterns[n]
	} else {
		latest = new(*Pattern)
	}
	if *latest != nil && (*latest).Threads == *s {
		return *latest
	}
	key := points{v, *s}
	if list, ok := p.points[key]; ok {
		*latest = list
		return list
	}
	own := Value{Width: 64}
	for _, t := range v.Terms {
		if t.Atom.Tid {
			own.Terms = append(own.Terms, t)
		}
	}
	list := &Pattern{Threads: *s, pool: p, of: &own}
	s.Each(func(t int) {
		if t < p.Threads {
			list.At = append(list.At, list.In(t))
		}
	})
	slices.Sort(list.At)
	list.At = slices.Compact(list.At)
	if was := *latest; was != nil {
		p.points[points{v, was.Threads}] = was
		p.points[key] = list
	}
	*latest = list
	return list
}

// In returns the value in thread t.
func (l *Pattern) In(t int) int64 { return l.pool.At(l.of, t) }

// Sample returns the threads of s that certainly exist: all if the block size is declared, or
// else the lowest warp of s.
func (p *Pool) Sample(s *Set) *Set {
	if p.Exact {
		return s
	}
	w := s.Least() / 32
	var one Set
	if s.Least() >= 0 {
		one[w/2] = 0xffffffff << (w % 2 * 32)
	}
	one = one.And(*s)
	return &one
}
