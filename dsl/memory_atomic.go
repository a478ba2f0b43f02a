// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl/internal/constant"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Atomic combines x with element i atomically and returns the previous value. The operation is add,
// min, max, and, or, xor, exch, inc or dec. The defaults are relaxed order and GPU scope, or CTA
// scope for shared memory.
func (a Array[T]) Atomic(how Mod, i Reg[U32], x Reg[T], mods ...Mod) Reg[T] {
	k := a.at.k
	if k == nil {
		return x
	}
	d := fresh[T](k)
	if a.combines("Atomic", how) {
		at := a.At(i).at
		if how.typed() == isa.ModExch {
			k.accesses(at, size(TypeOf[T]()), true, nil)
		} else {
			k.combines(at, size(TypeOf[T]()))
		}
		k.ins(a.atomic("atom", how, mods), d.in(k), at.in(k), combinable(x, k))
	}
	return d
}

// Reduce combines x with element i atomically without returning the previous value, which is faster
// than Atomic.
func (a Array[T]) Reduce(how Mod, i Reg[U32], x Reg[T], mods ...Mod) {
	if k := a.at.k; k != nil && a.combines("Reduce", how) {
		at := a.At(i).at
		k.combines(at, size(TypeOf[T]()))
		k.ins(a.atomic("red", how, mods), at.in(k), combinable(x, k))
	}
}

// AtomicVec is Atomic for adjacent elements that start at element i, in one access of at most 16
// bytes (sm_90, global memory). Each element is combined separately. F32 elements can be added;
// half-precision elements, and pairs of them, can be added or compared. The address must be aligned
// to the size of the vector.
func (a Array[T]) AtomicVec(how Mod, i Reg[U32], x []Reg[T], mods ...Mod) []Reg[T] {
	k := a.at.k
	if k == nil {
		return x
	}
	out := make([]Reg[T], len(x))
	regs := make([]ir.Operand, len(x))
	for n := range out {
		out[n] = fresh[T](k)
		regs[n] = out[n].in(k)
	}
	a.vectorAtomic("atom", how, i, x, mods, k.list(ir.Vector, regs))
	return out
}

// ReduceVec is like AtomicVec, but returns no result, which is faster.
func (a Array[T]) ReduceVec(how Mod, i Reg[U32], x []Reg[T], mods ...Mod) {
	if a.at.k != nil {
		a.vectorAtomic("red", how, i, x, mods)
	}
}

func (a Array[T]) vectorAtomic(head string, how Mod, i Reg[U32], x []Reg[T], mods []Mod,
	out ...ir.Operand) {
	k, t := a.at.k, TypeOf[T]()
	if n := len(x); n < 2 || n > 8 || n&(n-1) != 0 || int64(n)*size(t) > 16 {
		k.fault(&ruleMemory,
			"%s is called on a vector of %d x %s, expected 2, 4 or 8 elements and at most 16 bytes",
			head, n, t)
		return
	}
	if !k.m.Has(90) {
		instead := "use one atomic per element"
		if t == isa.F16 || t == isa.Bf16 {
			instead = fmt.Sprintf("use pairs: dsl.As[dsl.%sx2]", strings.ToUpper(t.String()[1:]))
		}
		k.fault(&ruleLacks, "%s does not support vector atomics, which need sm_90; %s",
			k.m.Target(), instead)
		return
	}
	if m := how.typed(); t.Class() == isa.Half && (m == isa.ModMin || m == isa.ModMax) {
		how += ".noftz"
	}
	// The type is the last modifier; the vector modifier precedes it.
	op := strings.TrimSuffix(a.atomic(head, how, mods), t.String()) + fmt.Sprintf(".v%d", len(x)) +
		t.String()
	in := make([]ir.Operand, len(x))
	for n, v := range x {
		in[n] = v.register().in(k)
	}
	at := a.At(i).at
	k.ins(op, append(out, at.in(k), k.list(ir.Vector, in))...)
}

// CompareAndSwap writes x to element i if it equals expected, and returns the previous value.
func (a Array[T]) CompareAndSwap(i Reg[U32], expected, x Reg[T], mods ...Mod) Reg[T] {
	k := a.at.k
	if k == nil {
		return x
	}
	d := fresh[T](k)
	if a.combines("CompareAndSwap", "cas") {
		at := a.At(i).at
		k.combines(at, size(TypeOf[T]()))
		k.ins(a.atomic("atom", "cas", mods), d.in(k), at.in(k), combinable(expected, k),
			combinable(x, k))
	}
	return d
}

// combinable returns x as the operand of an atomic operation. Constants are immediates, except
// floats in instructions with an untyped operand.
func combinable[T Scalar](x Reg[T], k *Kernel) ir.Operand {
	if x.IsConstant() && constant.KindOf(x.Type()) != ir.Int {
		x = x.register()
	}
	return x.in(k)
}

// combines reports whether an atomic operation exists for T in the array's state space.
func (a Array[T]) combines(call string, how Mod) bool {
	k, t := a.at.k, TypeOf[T]()
	switch a.at.space {
	case isa.Local, isa.Const, isa.Param:
		k.fault(&ruleMemory, "%s %q accesses %s memory, expected global or shared memory", call,
			string(how), a.at.space)
		return false
	}
	wrong := ""
	if slices.Contains(atomics(call), how) {
		wrong = uncombinable(how.typed(), t)
	} else {
		wrong = "expected one of " + strings.Join(spelled(atomics(call)), ", ") + instead(how)
	}
	if wrong != "" {
		k.fault(&ruleOperand, "%s %q is not available for %s: %s", call, string(how), t, wrong)
	}
	return wrong == ""
}

// instead returns the call to use for an operation that the current call does not support.
func instead(how Mod) string {
	switch {
	case isa.KindOf(string(how)) == isa.KindSub:
		return "; to subtract, add the Neg of the value"
	case how.typed() == isa.ModCAS:
		return "; use CompareAndSwap"
	case how.typed() == isa.ModExch:
		return "; use Atomic"
	}
	return ""
}

// uncombinable describes the types that an atomic operation supports, or returns "" if it supports
// t.
func uncombinable(how isa.Mod, t isa.Type) string {
	width := t.Bits()
	word := width == 32 || width == 64
	whole := integer(t) && word
	half := t.Class() == isa.Half
	switch how {
	case isa.ModExch, isa.ModCAS:
		return unexchangeable(how, width)
	case isa.ModAdd:
		switch {
		case whole, t == isa.F32, t == isa.F64, half && t != isa.Tf32:
			return ""
		case !word && !half:
			return "expected a type of 32 or 64 bits, or F16 or BF16"
		}
		return "expected an integer or floating-point type; reinterpret the array with dsl.As"
	}
	if !word {
		return "expected a type of 32 or 64 bits"
	}
	switch how {
	case isa.ModAnd, isa.ModOr, isa.ModXor:
		if !integer(t) && t != isa.B32 && t != isa.B64 {
			return fmt.Sprintf(
				"expected an integer type; reinterpret the array with dsl.As[dsl.U%d]", width)
		}
	case isa.ModInc, isa.ModDec:
		if t != isa.U32 {
			return "expected U32, since it counts up to a bound; use \"add\" to count without one"
		}
	default: // min, max
		if !whole {
			return "expected an integer of 32 or 64 bits; for floats use a loop with CompareAndSwap, or dsl.As of U32 or U64 if no element is negative"
		}
	}
	return ""
}

// unexchangeable describes the widths that an exchange or compare-and-swap supports, or returns ""
// if it supports the given width.
func unexchangeable(how isa.Mod, width int) string {
	switch {
	case width == 32, width == 64, width == 128, width == 16 && how == isa.ModCAS:
		return ""
	case how == isa.ModCAS:
		return "expected 16, 32, 64 or 128 bits"
	}
	return "expected 32, 64 or 128 bits"
}

// atomics returns the operations that a call supports.
func atomics(call string) []Mod {
	list := []Mod{"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch"}
	switch call {
	case "CompareAndSwap":
		return []Mod{"cas"}
	case "Reduce":
		return list[:8]
	}
	return list
}

func spelled(list []Mod) []string {
	words := make([]string, len(list))
	for i, m := range list {
		words[i] = string(m)
	}
	return words
}

func (a Array[T]) atomic(head string, how Mod, mods []Mod) string {
	t := TypeOf[T]()
	switch how.typed() {
	case isa.ModAnd, isa.ModOr, isa.ModXor, isa.ModExch, isa.ModCAS:
		t = bits(t.Bits())
	case isa.ModAdd:
		if t.Class() == isa.Half {
			how = "add.noftz"
		}
		if t == isa.S64 {
			t = isa.U64 // the same bits as an unsigned type
		}
	}
	if len(mods) == 0 {
		mods = []Mod{Relaxed, ScopeGPU}
		if a.at.space == isa.Shared {
			mods[1] = ScopeCTA
		}
	}
	op := head
	for _, m := range mods {
		op += "." + string(m)
	}
	if a.at.space != isa.Generic {
		op += a.at.space.String()
	}
	return op + "." + string(how) + t.String()
}
