// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An opcode is an opcode without its modifiers.
type opcode struct {
	head  string
	space isa.Space // state space of a memory access
	count uint8     // vector length; 0 or 1 for a scalar
	typ   isa.Type
	from  isa.Type // source type of a conversion, or 0
}

// A cachedOpcode is an opcode with its modifiers, and the resulting text, which is "" until it is
// needed.
type cachedOpcode struct {
	opcode
	mods []Mod
	text string
	next *cachedOpcode // next in the list of opcodes with the same hash
}

// A verb is an arithmetic operation, or mov, on values of one type.
type verb uint8

// The verbs, named after the instructions.
const (
	doMove verb = iota
	doAdd
	doSub
	doMul
	doMulHi
	doMad
	doFMA
	doDiv
	doRem
	doMin
	doMax
	doAnd
	doOr
	doXor
	doNot
	doShl
	doShr
	doReverse
	doNeg
	doAbs
	doSqrt
	doRcp
	doRsqrt
	doExp2
	doLog2
	doSin
	doCos
	doTanh
)

// verbs holds the instruction name of each verb, without types and modifiers.
var verbs = [...]string{
	doMove: "mov", doAdd: "add", doSub: "sub", doMul: "mul", doMulHi: "mul.hi", doMad: "mad",
	doFMA: "fma", doDiv: "div", doRem: "rem",
	doMin: "min", doMax: "max", doAnd: "and", doOr: "or", doXor: "xor", doNot: "not", doShl: "shl",
	doShr: "shr", doReverse: "brev",
	doNeg: "neg", doAbs: "abs", doSqrt: "sqrt", doRcp: "rcp", doRsqrt: "rsqrt", doExp2: "ex2",
	doLog2: "lg2", doSin: "sin", doCos: "cos", doTanh: "tanh",
}

// A spelling is the opcode of a verb for a type and modifiers of the author.
type spelling struct {
	typ   isa.Type
	mods  []Mod
	text  string
	forms [2]cachedForm // the two forms that were used last
	next  *spelling     // next in the list of spellings of the same verb
}

// spellings caches opcodes, because a kernel uses the same opcodes many times.
type spellings struct {
	verbs     [len(verbs)]*spelling
	verbSlab  slab.Of[spelling]
	others    [64]*cachedOpcode // hashed by their fields
	otherSlab slab.Of[cachedOpcode]
}

// lookup returns the cached opcode with the parts o and the given modifiers. It adds the opcode
// to the cache if needed.
func (s *spellings) lookup(o opcode, mods []Mod) *cachedOpcode {
	h := uint(len(o.head)) + uint(o.head[0])<<1 + uint(o.head[len(o.head)-1])<<3 + uint(o.typ)*5 +
		uint(o.from)*11 + uint(o.count)*17
	for _, m := range mods {
		if m != "" {
			h = h*3 + uint(m[0]) + uint(m[len(m)-1])
		}
	}
	first := &s.others[h%uint(len(s.others))]
	for known := *first; known != nil; known = known.next {
		if known.opcode == o && slices.Equal(known.mods, mods) {
			return known
		}
	}
	fresh := slab.One(&s.otherSlab)
	*fresh = cachedOpcode{opcode: o, mods: slices.Clone(mods), next: *first}
	*first = fresh
	return fresh
}

// op joins an instruction name, modifiers and a type: "add", RN and F32 give "add.rn.f32".
func (k *Kernel) op(head string, t isa.Type, mods ...Mod) string {
	o := k.m.spellings.lookup(opcode{head: head, typ: t}, mods)
	if o.text == "" {
		text := head + dotMods(mods)
		if t != 0 {
			text += t.String()
		}
		o.text = k.m.binder.Shared(text)
	}
	return o.text
}

// conversion joins an instruction name, modifiers and two types: "cvt", RN, F32 and F64 give
// "cvt.rn.f32.f64".
func (k *Kernel) conversion(head string, to, from isa.Type, mods []Mod) string {
	s := k.m.spellings.lookup(opcode{head: head, typ: to, from: from}, mods)
	if s.text == "" {
		s.text = k.m.binder.Shared(head + dotMods(mods) + to.String() + from.String())
	}
	return s.text
}

// access returns the opcode of a load or store of n elements of type t, with its modifiers in the
// order that PTX requires.
func (k *Kernel) access(head string, space isa.Space, mods []Mod, n int, t isa.Type) string {
	s := k.m.spellings.lookup(opcode{head: head, space: space, count: uint8(n), typ: t}, mods)
	if s.text != "" {
		return s.text
	}
	early, late := "", ""
	for _, m := range mods {
		switch m {
		case Weak, Volatile, Relaxed, Acquire, Release, ScopeCTA, ScopeCluster, ScopeGPU, ScopeSys:
			early += "." + string(m)
		default:
			late += "." + string(m)
		}
	}
	text := head + early
	if space != isa.Generic {
		text += space.String()
	}
	text += late
	if n > 1 {
		text += ".v" + strconv.Itoa(n)
	}
	s.text = k.m.binder.Shared(text + t.String())
	return s.text
}

// needRounding lists the floating-point operations that require a rounding modifier.
var needRounding = []verb{doDiv, doSqrt, doRcp, doFMA}

// approximate lists the approximate operations, which require .approx for F32.
var approximate = []verb{doRsqrt, doExp2, doLog2, doSin, doCos, doTanh}

// opcodeFor returns the opcode of operation v on values of type t. If PTX has none, it reports
// that and returns nil.
func (k *Kernel) opcodeFor(v verb, t isa.Type, mods []Mod) *spelling {
	first := &k.m.spellings.verbs[v]
	for s := *first; s != nil; s = s.next {
		if s.typ == t && slices.Equal(s.mods, mods) {
			return s
		}
	}
	if !k.hasArithmetic(verbs[v], t) {
		return nil
	}
	s := slab.One(&k.m.spellings.verbSlab)
	*s = spelling{typ: t, mods: slices.Clone(mods), text: k.spell(v, t, mods), next: *first}
	*first = s
	return s
}

// spell returns the text of an opcode. It adds the modifiers that the operation requires and the
// author omitted: the half of a product, the rounding, and .approx.
func (k *Kernel) spell(v verb, t isa.Type, mods []Mod) string {
	var room [4]Mod
	head := verbs[v]
	switch {
	case v == doMove:
		t = movType(t)
	case isInteger(t):
		switch v {
		case doMul, doMad:
			head += ".lo"
		case doAnd, doOr, doXor, doNot, doShl, doReverse:
			t = bits(t.Bits())
		}
	case t.Class() == isa.Pred && (v == doAnd || v == doOr || v == doXor || v == doNot):
	case t.Class() == isa.Bits:
	case slices.Contains(needRounding, v):
		written := slices.ContainsFunc(mods, func(m Mod) bool {
			return m == RN || m == RZ || m == RM || m == RP || m == Approx || m == Full
		})
		if !written {
			mods = append(append(room[:0], RN), mods...)
		}
	case slices.Contains(approximate, v) && !slices.Contains(mods, Approx):
		list := append(room[:0], Approx)
		if (t == isa.Bf16 || t == isa.Bf16x2) && v == doExp2 && !slices.Contains(mods, FTZ) {
			list = append(list, FTZ) // PTX has no other form
		}
		mods = append(list, mods...)
	}
	return k.op(head, t, mods...)
}

// dotMods returns the modifiers as they appear in an opcode, each preceded by a dot.
func dotMods(mods []Mod) string {
	var b strings.Builder
	for _, m := range mods {
		if m != "" {
			b.WriteByte('.')
			b.WriteString(string(m))
		}
	}
	return b.String()
}
