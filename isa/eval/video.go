// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// Parts holds what the operands of a video instruction specify besides registers.
type Parts struct {
	// selected part of d, a, b and c: "b0", "h1", "h10", "b3210"; "" for the default
	Select [4]string
	Minus  [4]bool // minus sign before a, b or c
}

// A videoKind describes the video instructions of a kind.
type videoKind struct {
	elements int // number of elements that the instruction computes
	compute  func(s *spec) func(a, b int64) int64
}

// videoKinds describes the video instructions by kind. Except for vmad, each of them computes a
// function of two elements.
var videoKinds = map[isa.Kind]videoKind{
	isa.KindVadd: {1, videoAdd}, isa.KindVadd2: {2, videoAdd}, isa.KindVadd4: {4, videoAdd},
	isa.KindVsub: {1, videoSub}, isa.KindVsub2: {2, videoSub}, isa.KindVsub4: {4, videoSub},
	isa.KindVmin: {1, videoMin}, isa.KindVmin2: {2, videoMin}, isa.KindVmin4: {4, videoMin},
	isa.KindVmax: {1, videoMax}, isa.KindVmax2: {2, videoMax}, isa.KindVmax4: {4, videoMax},
	isa.KindVset: {1, videoSet}, isa.KindVset2: {2, videoSet}, isa.KindVset4: {4, videoSet},
	isa.KindVabsdiff:  {1, videoDifference},
	isa.KindVabsdiff2: {2, videoDifference},
	isa.KindVabsdiff4: {4, videoDifference},
	isa.KindVavrg2:    {2, videoAverage}, isa.KindVavrg4: {4, videoAverage},
	isa.KindVshl: {1, videoShift}, isa.KindVshr: {1, videoShift},
	isa.KindVmad: {1, nil},
}

// videoOf returns the operation of a video instruction.
func videoOf(s *spec, p Parts) *Op {
	kind, ok := videoKinds[s.kind]
	if !ok {
		return nil
	}
	for _, t := range s.types {
		if t != isa.U32 && t != isa.S32 {
			return nil
		}
	}
	switch kind.elements {
	case 2:
		return videoPacked(s, kind, p, "h", '3')
	case 4:
		return videoPacked(s, kind, p, "b", '7')
	}
	for _, name := range p.Select {
		if !selector(name, "bh", 1, map[byte]byte{'b': '3', 'h': '1'}) {
			return nil
		}
	}
	if s.kind == isa.KindVmad {
		return videoProduct(s, p)
	}
	return videoScalar(s, kind, p)
}

// videoTypes returns the types of d, a and b. ok is false if the instruction does not have three
// types. The result of vset has no type and is unsigned.
func (s *spec) videoTypes() (d, a, b isa.Type, ok bool) {
	t := s.types
	switch s.kind {
	case isa.KindVset, isa.KindVset2, isa.KindVset4:
		if len(t) == 2 {
			return isa.U32, t[0], t[1], true
		}
	}
	if len(t) != 3 {
		return 0, 0, 0, false
	}
	return t[0], t[1], t[2], true
}

// selector reports whether name is empty or a valid selector: one of the given letters followed
// by at most most digits, each within the letter's range.
func selector(name, letters string, most int, highest map[byte]byte) bool {
	name = strings.TrimPrefix(name, ".")
	if name == "" {
		return true
	}
	if len(name) < 2 || len(name) > most+1 || !strings.Contains(letters, name[:1]) {
		return false
	}
	for i := 1; i < len(name); i++ {
		if name[i] < '0' || name[i] > highest[name[0]] {
			return false
		}
	}
	return true
}

// portion returns the part of register x that a selector names, extended according to type t.
func portion(t isa.Type, x uint64, name string) int64 {
	wide, at := 32, 0
	name = strings.TrimPrefix(name, ".")
	if len(name) == 2 {
		wide = 16
		if name[0] == 'b' {
			wide = 8
		}
		at = int(name[1]-'0') * wide
	}
	x = x >> at & (1<<wide - 1)
	if isSigned(t) {
		return signed(x, wide)
	}
	return int64(x)
}

// videoWord returns the selected part of a word as portion does, but for vmad, which treats whole
// words as signed.
func videoWord(t isa.Type, x uint64, name string) int64 {
	if partWidth(name) == 32 {
		return signed(x, 32)
	}
	return portion(t, x, name)
}

// partWidth returns the width in bits of the part that a selector such as b0 or h1 names, or 32.
func partWidth(name string) int {
	switch name = strings.TrimPrefix(name, "."); {
	case name == "":
		return 32
	case name[0] == 'b':
		return 8
	}
	return 16
}

// clampBits clamps to a signed or unsigned integer of the given width.
func clampBits(x int64, bits int, isSigned bool) int64 {
	if isSigned {
		return min(max(x, -1<<(bits-1)), 1<<(bits-1)-1)
	}
	return min(max(x, 0), 1<<bits-1)
}

// videoScalar returns the operation of vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr or vset.
func videoScalar(s *spec, kind videoKind, p Parts) *Op {
	d, ta, tb, ok := s.videoTypes()
	if !ok {
		return nil
	}
	f, sat := kind.compute(s), s.has(isa.ModSat)
	second, combines := choose(s, videoSeconds)
	merge := p.Select[0] != ""
	in := []isa.Type{ta, tb}
	if combines || merge {
		in = append(in, d)
	}
	wide := partWidth(p.Select[0])
	compare := s.types[0] // for vset, the type of a
	return many(d, in, func(x *[8]uint64) uint64 {
		r := f(portion(ta, x[0], p.Select[1]), portion(tb, x[1], p.Select[2]))
		r = videoSaturate(s.kind, r, d, wide, sat)
		c := extend(compare, x[2])
		switch {
		case merge:
			name := strings.TrimPrefix(p.Select[0], ".")
			at := int(name[1]-'0') * wide
			m := uint64(1)<<wide - 1
			return x[2]&^(m<<at) | uint64(r)&m<<at
		case !combines:
			return uint64(r)
		}
		return second(r, c, isSigned(compare))
	})
}

// videoSeconds holds the second operations of video instructions: on the result r of the first
// operation and the addend c.
var videoSeconds = map[isa.Mod]func(r, c int64, signed bool) uint64{
	isa.ModAdd: func(r, c int64, _ bool) uint64 { return uint64(r + c) },
	isa.ModMin: func(r, c int64, signed bool) uint64 {
		if videoBelow(r, c, signed) {
			return uint64(r)
		}
		return uint64(c)
	},
	isa.ModMax: func(r, c int64, signed bool) uint64 {
		if videoBelow(r, c, signed) {
			return uint64(c)
		}
		return uint64(r)
	},
}

func videoBelow(r, c int64, signed bool) bool {
	if signed {
		return r < c
	}
	return uint64(r) < uint64(c)
}

// videoSaturate clamps the result of a scalar video instruction, and returns the value that the
// second operation uses. On Hopper ptxas replaces these instructions, with results that differ from
// the manual. Unsigned words are clamped only from below, except results of shifts. Shifts are
// clamped to a word even if only a part of it is written, and vshl keeps 34 bits before that. Sums
// and clamped shifts are compared as signed words.
func videoSaturate(kind isa.Kind, r int64, d isa.Type, wide int, sat bool) int64 {
	shift := kind == isa.KindVshl || kind == isa.KindVshr
	if sat {
		if kind == isa.KindVshl {
			r = signed(uint64(r), 34)
		}
		switch {
		case shift:
			r = clampBits(r, 32, isSigned(d))
		case wide < 32 || isSigned(d):
			r = clampBits(r, wide, isSigned(d))
		default:
			r = max(r, 0)
		}
	}
	if kind == isa.KindVadd || kind == isa.KindVsub || shift && sat {
		r = signed(uint64(r), 32)
	}
	return r
}

func videoAdd(*spec) func(a, b int64) int64 { return func(a, b int64) int64 { return a + b } }

func videoSub(*spec) func(a, b int64) int64 { return func(a, b int64) int64 { return a - b } }

func videoMin(*spec) func(a, b int64) int64 { return func(a, b int64) int64 { return min(a, b) } }

func videoMax(*spec) func(a, b int64) int64 { return func(a, b int64) int64 { return max(a, b) } }

func videoDifference(*spec) func(a, b int64) int64 {
	return func(a, b int64) int64 { return max(a-b, b-a) }
}

func videoAverage(*spec) func(a, b int64) int64 {
	return func(a, b int64) int64 {
		if a+b >= 0 {
			return (a + b + 1) >> 1
		}
		return (a + b) >> 1
	}
}

func videoSet(s *spec) func(a, b int64) int64 {
	want := s.comparison()
	return func(a, b int64) int64 { return int64(bit(orderOf(a, b)&want != 0)) }
}

func videoShift(s *spec) func(a, b int64) int64 {
	wrap, left := s.has(isa.ModWrap), s.kind == isa.KindVshl
	return func(a, b int64) int64 {
		n := min(uint64(b), 32)
		if wrap {
			n = uint64(b) & 31
		}
		if left {
			return a << n
		}
		return a >> n
	}
}

// videoProduct returns the operation of vmad. If a or b is unsigned and the result is scaled or
// clamped, Hopper still treats whole words as signed; narrower parts are extended according to
// their types.
func videoProduct(s *spec, p Parts) *Op {
	if len(s.types) != 3 {
		return nil
	}
	d, ta, tb := s.types[0], s.types[1], s.types[2]
	negate, negateC := p.Minus[1] != p.Minus[2], p.Minus[3]
	final := isSigned(ta) || isSigned(tb) || negate || negateC
	shift, _ := choose(s, map[isa.Mod]uint{isa.ModShr7: 7, isa.ModShr15: 15})
	plus, sat := s.has(isa.ModPo), s.has(isa.ModSat)
	return many(d, []isa.Type{ta, tb, d}, func(x *[8]uint64) uint64 {
		a, b := videoWord(ta, x[0], p.Select[1]), videoWord(tb, x[1], p.Select[2])
		r, c := a*b, signed(x[2], 32)
		switch {
		case plus:
			r++
		case negate:
			r = -r
		case negateC:
			c = -c
		}
		r += c
		if final {
			r >>= shift
		} else {
			r = int64(uint64(r) >> shift)
		}
		if sat {
			return uint64(clampBits(r, 32, final))
		}
		return uint64(r)
	})
}

// selection returns the elements that a selector names, the lowest first.
func selection(name, standard string) []int {
	name = strings.TrimPrefix(name, ".")
	if name == "" {
		name = standard
	}
	var list []int
	for i := len(name) - 1; i > 0; i-- {
		list = append(list, int(name[i]-'0'))
	}
	return list
}

// packedSelectors reports whether the selectors of an instruction on n elements are valid.
func packedSelectors(p Parts, letter string, n int, highest byte) bool {
	for i, name := range p.Select {
		top := highest
		if i == 0 {
			top = '0' + byte(n) - 1 // the result has one register
		}
		if !selector(name, letter, n, map[byte]byte{letter[0]: top}) {
			return false
		}
	}
	return true
}

// videoPacked returns the operation of a video instruction on two halves or four bytes.
func videoPacked(s *spec, kind videoKind, p Parts, letter string, highest byte) *Op {
	n := kind.elements
	d, ta, tb, ok := s.videoTypes()
	if !ok || !packedSelectors(p, letter, n, highest) {
		return nil
	}
	f, add, sat := kind.compute(s), s.has(isa.ModAdd), s.has(isa.ModSat)
	all, upper := "h10", "h32"
	if n == 4 {
		all, upper = "b3210", "b7654"
	}
	wide := 32 / n
	pickA, pickB := selection(p.Select[1], all), selection(p.Select[2], upper)
	if len(pickA) != n || len(pickB) != n {
		return nil
	}
	var written uint64
	for _, i := range selection(p.Select[0], all) {
		written |= 1 << i
	}
	take := func(t isa.Type, x uint64, i int) int64 {
		x = x >> (i * wide) & (1<<wide - 1)
		if isSigned(t) {
			return signed(x, wide)
		}
		return int64(x)
	}
	return ternary(d, isa.B32, isa.B32, d, func(a, b, c uint64) (r uint64) {
		both := b<<32 | a
		if add {
			r = c
		}
		for i := range n {
			v := f(take(ta, both, pickA[i]), take(tb, both, pickB[i]))
			if sat {
				v = clampBits(v, wide, isSigned(d))
			}
			switch {
			case add && written>>i&1 != 0:
				r += uint64(v)
			case add:
			case written>>i&1 != 0:
				r |= uint64(v) & (1<<wide - 1) << (i * wide)
			default:
				r |= c & ((1<<wide - 1) << (i * wide))
			}
		}
		return r
	})
}
