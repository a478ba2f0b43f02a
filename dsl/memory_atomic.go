// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/dsl/internal/constant"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
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
	if a.checkAtomic("Atomic", how) {
		at := a.At(i).at
		if how.isaMod() == isa.ModExch {
			k.annotateAccess(at, size(TypeOf[T]()), true, nil)
		} else {
			k.annotateAtomic(at, size(TypeOf[T]()))
		}
		k.ins(a.atomicOpcode("atom", how, mods), d.in(k), at.in(k), combinable(x, k))
	}
	return d
}

// Reduce combines x with element i atomically, as Atomic does, but returns no value, which is
// faster.
func (a Array[T]) Reduce(how Mod, i Reg[U32], x Reg[T], mods ...Mod) {
	if k := a.at.k; k != nil && a.checkAtomic("Reduce", how) {
		at := a.At(i).at
		k.annotateAtomic(at, size(TypeOf[T]()))
		k.ins(a.atomicOpcode("red", how, mods), at.in(k), combinable(x, k))
	}
}

// AtomicVec combines adjacent elements that start at element i, as Atomic does, in one access of
// at most 16 bytes (sm_90, global memory). Each element is combined separately. F32 elements can
// be added. Half-precision elements, and pairs of them, can be added or combined with min and
// max. The address must be aligned to the size of the vector. The result holds the previous
// values.
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

// ReduceVec combines adjacent elements as AtomicVec does, but returns no values, which is faster.
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
	if m := how.isaMod(); t.Class() == isa.Half && (m == isa.ModMin || m == isa.ModMax) {
		how += ".noftz"
	}
	// The type is the last modifier; the vector modifier precedes it.
	op := strings.TrimSuffix(a.atomicOpcode(head, how, mods), t.String()) +
		fmt.Sprintf(".v%d", len(x)) +
		t.String()
	in := make([]ir.Operand, len(x))
	for n, v := range x {
		in[n] = v.register().in(k)
	}
	at := a.At(i).at
	k.ins(op, append(out, at.in(k), k.list(ir.Vector, in))...)
}

// CompareAndSwap atomically writes x to element i if the element equals expected, and returns the
// previous value.
func (a Array[T]) CompareAndSwap(i Reg[U32], expected, x Reg[T], mods ...Mod) Reg[T] {
	k := a.at.k
	if k == nil {
		return x
	}
	d := fresh[T](k)
	if a.checkAtomic("CompareAndSwap", "cas") {
		at := a.At(i).at
		k.annotateAtomic(at, size(TypeOf[T]()))
		k.ins(a.atomicOpcode("atom", "cas", mods), d.in(k), at.in(k), combinable(expected, k),
			combinable(x, k))
	}
	return d
}

// combinable returns x as the operand of an atomic operation. A constant becomes an immediate
// operand, but a floating-point constant is moved into a register, because some of the
// instructions have untyped operands.
func combinable[T Scalar](x Reg[T], k *Kernel) ir.Operand {
	if x.IsConstant() && constant.KindOf(x.Type()) != ir.Int {
		x = x.register()
	}
	return x.in(k)
}

// checkAtomic reports whether the atomic operation exists for T in the array's state space, and
// records a finding if not.
func (a Array[T]) checkAtomic(call string, how Mod) bool {
	k, t := a.at.k, TypeOf[T]()
	switch a.at.space {
	case isa.Local, isa.Const, isa.Param:
		k.fault(&ruleMemory, "%s %q accesses %s memory, expected global or shared memory", call,
			string(how), a.at.space)
		return false
	}
	wrong := ""
	var fix source.Edit
	if slices.Contains(atomicOperations(call), how) {
		wrong = unsupportedAtomic(how.isaMod(), t)
	} else {
		hint, edit := suggestAtomicCall(how)
		wrong = "expected one of " + strings.Join(modStrings(atomicOperations(call)), ", ") + hint
		fix = edit
	}
	if wrong != "" {
		k.fault(&ruleOperand, "%s %q is not available for %s: %s", call, string(how), t, wrong).
			withFix(fix)
	}
	return wrong == ""
}

// suggestAtomicCall returns the end of a message that names the call to use for an operation that
// the current call does not support, and the edit to that call, or nil if its arguments differ.
func suggestAtomicCall(how Mod) (hint string, edit source.Edit) {
	switch {
	case isa.KindOf(string(how)) == isa.KindSub:
		return "; to subtract, add the Neg of the value", nil
	case how.isaMod() == isa.ModCAS:
		return "; use CompareAndSwap", nil
	case how.isaMod() == isa.ModExch:
		return "; use Atomic", source.Rename("Reduce", "Atomic")
	}
	return "", nil
}

// unsupportedAtomic returns "" if the atomic operation supports type t, and otherwise a
// description of the types that it supports.
func unsupportedAtomic(how isa.Mod, t isa.Type) string {
	width := t.Bits()
	word := width == 32 || width == 64
	whole := isInteger(t) && word
	half := t.Class() == isa.Half
	switch how {
	case isa.ModExch, isa.ModCAS:
		return unsupportedExchange(how, width)
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
		if !isInteger(t) && t != isa.B32 && t != isa.B64 {
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

// unsupportedExchange returns "" if an exchange or compare-and-swap supports the width, and
// otherwise a description of the widths that it supports.
func unsupportedExchange(how isa.Mod, width int) string {
	switch {
	case width == 32, width == 64, width == 128, width == 16 && how == isa.ModCAS:
		return ""
	case how == isa.ModCAS:
		return "expected 16, 32, 64 or 128 bits"
	}
	return "expected 32, 64 or 128 bits"
}

// atomicOperations returns the operations that the named call supports.
func atomicOperations(call string) []Mod {
	list := []Mod{"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch"}
	switch call {
	case "CompareAndSwap":
		return []Mod{"cas"}
	case "Reduce":
		return list[:8]
	}
	return list
}

func modStrings(list []Mod) []string {
	words := make([]string, len(list))
	for i, m := range list {
		words[i] = string(m)
	}
	return words
}

func (a Array[T]) atomicOpcode(head string, how Mod, mods []Mod) string {
	t := TypeOf[T]()
	switch how.isaMod() {
	case isa.ModAnd, isa.ModOr, isa.ModXor, isa.ModExch, isa.ModCAS:
		t = bits(t.Bits())
	case isa.ModAdd:
		if t.Class() == isa.Half {
			how = "add.noftz"
		}
		if t == isa.S64 {
			t = isa.U64 // the encoding of the sum is the same as for unsigned integers
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
