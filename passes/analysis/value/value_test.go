// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// TestFolds checks that values computed in different ways are equal.
func TestFolds(t *testing.T) {
	p := value.NewPool(256, 1, 1, true)
	k := func(n int64) *value.Value { return p.Const(32, n) }
	x := p.Atom(32, value.OpParameter, "x", nil, value.Block)
	y := p.Atom(32, value.OpParameter, "y", nil, value.Block)
	tid := p.Special("%tid.x", 32)
	base := p.Atom(64, value.OpVariable, "s", nil, value.Block)
	base.Single().Zeros = 10
	lane := p.Binary(value.OpAnd, 32, tid, k(31))
	cond := p.Compare(value.OpLt, false, x, y)
	for _, test := range []struct {
		name      string
		got, want *value.Value
	}{
		{"sums commute", p.Add(32, x, y), p.Add(32, y, x)},
		{"constants meet", p.Add(32, p.Add(32, x, k(3)), k(4)), p.Add(32, x, k(7))},
		{"a difference of the same", p.Sub(32, p.Add(32, x, y), y), x},
		{"32 bits wrap", p.Add(32, k(1<<31-1), k(1)), k(-1 << 31)},
		{"shift is scale", p.Binary(value.OpShl, 32, x, k(3)), p.Binary(value.OpMul, 32, x, k(8))},
		{"division by a power of two", p.Binary(value.OpDiv, 32, tid, k(32)),
			p.Binary(value.OpShr, 32, tid, k(5))},
		{"remainder by a power of two", p.Binary(value.OpRem, 32, tid, k(32)), lane},
		{"a mask that takes nothing", p.Binary(value.OpAnd, 32, lane, k(63)), lane},
		{"a mask of zeros", p.Binary(value.OpAnd, 32, p.Binary(value.OpShl, 32, x, k(4)), k(15)),
			k(0)},
		{"or of bits that do not meet",
			p.Binary(value.OpOr, 32, p.Binary(value.OpShl, 32, x, k(5)), lane),
			p.Add(32, p.Scale(32, x, 32), lane)},
		{"shifted out cleanly", p.Binary(value.OpShr, 64, p.Add(64, base, p.Const(64, 48)), k(4)),
			p.Add(64, p.Binary(value.OpShr, 64, base, k(4)), p.Const(64, 3))},
		{"not less is at least", p.Not(p.Compare(value.OpLt, true, x, k(4))),
			p.Compare(value.OpGe, true, x, k(4))},
		{"known by bounds", p.Compare(value.OpLt, false, lane, k(32)), p.Bool(true)},
		{"known by what it is at least",
			p.Compare(value.OpLt, false, p.Binary(value.OpMax, 32, lane, k(4)), k(4)),
			p.Bool(false)},
		{"and at most", p.Compare(value.OpLt, false, p.Binary(value.OpMax, 32, lane, k(4)), k(32)),
			p.Bool(true)},
		{"a signed maximum", p.Compare(value.OpLt, true, p.Binary(value.OpSMax, 32, x, k(1)), k(0)),
			p.Bool(false)},
		{"same operands", p.Compare(value.OpEq, false, p.Add(32, x, k(1)), p.Add(32, x, k(1))),
			p.Bool(true)},
		{"a predicate taken apart and put together",
			p.Compare(value.OpEq, false, p.Select(cond, k(1), k(0)), k(1)), cond},
		{"and its opposite", p.Compare(value.OpEq, false, p.Select(cond, k(1), k(0)), k(0)),
			p.Not(cond)},
		{"more than nothing is not nothing", p.Compare(value.OpLt, false, k(0), x),
			p.Compare(value.OpNe, false, x, k(0))},
		{"selection by a constant", p.Select(p.Bool(false), x, y), y},
		{"both the same", p.Select(cond, x, x), x},
		{"and with true", p.Binary(value.OpAnd, 1, cond, p.Bool(true)), cond},
		{"or with true", p.Binary(value.OpOr, 1, cond, p.Bool(true)), p.Bool(true)},
		{"one thread along y", p.Special("%tid.y", 32), k(0)},
		{"the size of the block", p.Special("%ntid.x", 32), k(256)},
	} {
		if test.got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, test.got, test.want)
		}
	}
	for _, n := range []struct {
		width      int
		signed     bool
		a, b, want int64
	}{
		{32, false, 100, -1431655765, 66}, {32, false, -1, -1, -2}, {32, true, -1, 1431655766, -1},
		{32, true, -7, -7, 0}, {16, false, -1, 2, 1},
		{64, false, -1, -1, -2}, {64, true, -1, -1, 0}, {64, true, -1, 5, -1},
		{64, false, 1 << 62, 8, 2},
	} {
		at := func(k int64) *value.Value { return p.Const(n.width, k) }
		if got := p.High(n.width, at(n.a), at(n.b), n.signed); got != at(n.want) {
			t.Errorf("upper half of %d times %d in %d bits is %+v, want %d", n.a, n.b, n.width, got,
				n.want)
		}
	}
	if got := p.High(64, p.Resize(64, x, false), p.Const(64, 3), false); got != nil {
		t.Errorf("upper half of 64 bits that are not known: %+v", got)
	}
	for _, n := range []struct {
		op   value.Op
		a, b int64
		want int64
	}{{value.OpShr, -1, 28, 15}, {value.OpSar, -16, 2, -4}, {value.OpDiv, -1, 2, 1<<31 - 1},
		{value.OpSDiv, -7, 2, -3}, {value.OpSRem, -7, 2, -1}, {value.OpMin, -1, 5, 5},
		{value.OpSMin, -1, 5, -1}, {value.OpShl, 1, 32, 0}} {
		if got := p.Binary(n.op, 32, k(n.a), k(n.b)); got != k(n.want) {
			t.Errorf("%s of %d and %d is %d, want %d", n.op, n.a, n.b, got.K, n.want)
		}
	}
}

// TestThreads computes values for single threads and for sets of threads.
func TestThreads(t *testing.T) {
	p := value.NewPool(64, 2, 1, true)
	x, y := p.Special("%tid.x", 32), p.Special("%tid.y", 32)
	k := func(n int64) *value.Value { return p.Const(32, n) }
	v := p.Add(32, p.Scale(32, y, 100), p.Binary(value.OpXor, 32, x, k(5)))
	for thread, want := range map[int]int64{0: 5, 5: 0, 63: 58, 64: 105, 127: 158} {
		if got := p.At(v, thread); got != want {
			t.Errorf("in thread %d it is %d, want %d", thread, got, want)
		}
	}
	// A range test with one comparison: smaller values wrap around.
	in := p.Where(p.Compare(value.OpLt, false, p.Sub(32, x, k(8)), k(4)), p.All())
	if in.Len() != 8 || in.Least() != 8 || in.Most() != 64+11 {
		t.Errorf("%d threads from %d to %d", in.Len(), in.Least(), in.Most())
	}
	warp := p.Atom(32, value.OpShfl, "", nil, value.Warp, p.Binary(value.OpShr, 32, x, k(5)), k(0))
	if got := p.At(warp, 40); got != 1 {
		t.Errorf("the first lane's value in thread 40 is %d", got)
	}
	elected := p.Where(p.Elected(), p.All())
	if elected.Len() != 4 || elected.Warps() != 4 {
		t.Errorf("%d threads of %d warps are elected", elected.Len(), elected.Warps())
	}
	low, high, ok := p.RangeOver(p.Scale(32, x, 4), in)
	if low != 32 || high != 44 || !ok {
		t.Errorf("from %d to %d, %v", low, high, ok)
	}
}

func TestSets(t *testing.T) {
	s := value.First(40)
	if s.Len() != 40 || s.Lanes(1) != 0xff || s.Warps() != 2 || s.Has(40) {
		t.Errorf("the first forty: %v", s)
	}
	rest := s.Minus(value.First(32))
	if whole := rest.Warp(value.First(64)); whole.Len() != 32 || whole.Least() != 32 {
		t.Errorf("extended to whole warps: %v", whole)
	}
	var seen []int
	rest.Each(func(n int) { seen = append(seen, n) })
	if len(seen) != 8 || seen[0] != 32 || seen[7] != 39 {
		t.Errorf("each: %v", seen)
	}
	none := s.And(value.Set{})
	if !none.Empty() || none.Least() != -1 || none.Most() != -1 {
		t.Error("an empty set that is none")
	}
}
