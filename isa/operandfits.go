// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// fitsSingle reports whether k accepts an operand that is not a brace vector.
func (k *WantKind) fitsSingle(access Access, a *Arg) bool {
	if a.Not && k.Word != KPred || a.Minus != k.Minus || a.Part != "" && !k.Part.Has(a.Part) {
		return false
	}
	switch k.Word {
	case KValue:
		return k.valueFits(access, a)
	case KReg:
		return a.Kind == ArgReg && registerFits(k, a)
	case KImm:
		return constantFits(k, a)
	case KPred:
		return k.predicateFits(access, a)
	case KSreg:
		return a.Kind == ArgSreg && a.Count <= 1 && k.specialFits(a.Type)
	case KSym:
		return k.symbolFits(a)
	case KTexref, KSampler, KSurfref:
		return a.handleOf(handles[k.Word]) || k.Word == KSampler && a.handleOf(Texref)
	case KMem:
		return k.addressFits(a)
	case KProto:
		return a.Kind == ArgProto || a.Kind == ArgTargets
	case KAny: // any register except a 128-bit one can be an address
		return a.Kind != ArgAddress && (a.Kind != ArgReg || a.Type.Bits() <= 64)
	}
	want := argKinds[k.Word]
	return want != ArgUnknown && a.Kind == want
}

// argKinds holds the accepted kind for the words that accept only one kind of operand.
var argKinds = [KAny + 1]ArgKind{
	KLabel: ArgLabel, KFunc: ArgFunc, KSink: ArgSink, KRets: ArgList, KArgs: ArgList,
	KTargets: ArgTargets,
}

// handles holds the types of opaque variables. A sampler operand also accepts a texture, which
// may include its sampler.
var handles = [KAny + 1]Type{KTexref: Texref, KSampler: Samplerref, KSurfref: Surfref}

// predicateFits reports whether an operand is a predicate register, or a constant if the operand
// is only read.
func (k *WantKind) predicateFits(access Access, a *Arg) bool {
	return a.Kind == ArgReg && a.Type.Class() == Pred || a.Kind == ArgInt && access == Read &&
		k.inRange(a.Value)
}

// symbolFits reports whether an operand is a variable in the required space.
func (k *WantKind) symbolFits(a *Arg) bool {
	return a.Kind == ArgSym && a.Type.Class() != Opaque &&
		(k.In == Generic || spaceFits(k.In, a.Space))
}

// valueFits reports whether an operand is a register, or a constant if the operand is only read.
func (k *WantKind) valueFits(access Access, a *Arg) bool {
	switch a.Kind {
	case ArgReg:
		return registerFits(k, a) || access == Read && k.undocumentedFits(a)
	case ArgInt, ArgFloat:
		return access == Read && constantFits(k, a)
	}
	return access == Read && k.undocumentedFits(a)
}

// undocumentedFits reports whether an operand is a value that ptxas accepts although the manual
// does not list it: a register or variable with an offset, or the name of a function. If an
// operand must be an integer of one width, the register must have that width, and a variable is
// accepted only for 32 bits.
func (k *WantKind) undocumentedFits(a *Arg) bool {
	if k.Settled.Class() == Integer {
		switch a.Kind {
		case ArgReg, ArgSreg:
			return a.Plus && a.Count <= 1 && a.Type.Whole() && a.Type.Bits() == k.Settled.Bits()
		case ArgSym:
			return a.Plus && k.Settled.Bits() == 32
		}
		return false
	}
	switch a.Kind {
	case ArgReg:
		return a.Plus && a.Type.Class() != Pred && k.Settled.Class() != Pred
	case ArgSreg:
		return a.Plus && k.Settled.Class() != Pred
	case ArgSym:
		return a.Plus && k.Settled.Whole()
	case ArgFunc:
		c := k.Settled.Class()
		return c != Pred && c != Integer && c != Packed && !k.Data
	}
	return false
}

// handleOf reports whether a names an opaque variable of type t, or is a register that may hold
// its address.
func (a *Arg) handleOf(t Type) bool {
	return a.Kind == ArgSym && a.Type == t || a.Kind == ArgReg && a.Count <= 1 && !a.Plus &&
		a.Type.Bits() == 64 && a.Type.Whole()
}

// specialFits reports whether a special register can be read as the required type: it has the
// same width, or it is wider and the instruction accepts wider registers.
func (k *WantKind) specialFits(have Type) bool {
	if k.Settled == 0 || k.Settled.Bits() == have.Bits() {
		return true
	}
	return k.Relax && have.Class() != Pred && have.Bits() > k.Settled.Bits()
}

// registerFits reports whether a register can hold a value of the required type.
func registerFits(k *WantKind, a *Arg) bool {
	if a.Count > 1 && k.Len < 0 || a.Plus {
		return false
	}
	if k.Relax {
		return relaxFits(k.Settled, a.Type)
	}
	return typeFits(k.Settled, a.Type)
}

// typeFits reports whether two types have the same width, and the same class unless one of them
// is untyped bits (PTX ISA 9.4, "Type Information for Instructions and Operands"). A register of
// .f16x2 counts as 32 untyped bits for integers, but not for other packed types.
func typeFits(want, have Type) bool {
	if want == have {
		return true
	}
	wc, hc := want.Class(), have.Class()
	if wc == Loose && hc == Pred {
		return true
	}
	if want.Bits() != have.Bits() || wc == Pred || hc == Pred {
		return false
	}
	switch wc {
	case Bits, Loose:
		return true
	case Signed, Unsigned:
		return hc == Bits || hc == Signed || hc == Unsigned || hc == Half && have.Bits() == 32
	case Integer:
		return hc == Bits || hc == Signed || hc == Unsigned
	case Lanes:
		return hc == Bits || hc == Half
	}
	return hc == Bits
}

// relaxFits reports whether a register of type have can be used for type want in instructions
// that accept wider registers: ld, st, cvt.
func relaxFits(want, have Type) bool {
	if want == have {
		return true
	}
	wc, hc := want.Class(), have.Class()
	if hc == Pred || wc == Pred || have.Bits() < want.Bits() || want.Bits() == 128 && hc != Bits {
		return false
	}
	switch wc {
	case Bits:
		return true
	case Signed, Unsigned, Integer:
		return hc != Float && (hc != Half || have.Bits() == 32)
	}
	return hc == Bits
}

// constantFits reports whether a constant can be a value of the required type. Untyped words of
// 32 and 64 bits also accept floating-point constants of their width.
func constantFits(k *WantKind, a *Arg) bool {
	switch k.Settled.Class() {
	case NoClass, Signed, Unsigned, Integer, Loose:
		return a.Kind == ArgInt && k.inRange(a.Value)
	case Bits:
		if a.Kind == ArgFloat {
			return a.Type.Bits() == k.Settled.Bits() && len(k.Range) == 0
		}
		return k.inRange(a.Value)
	case Float: // if only a constant is allowed, it has the width of the type
		return a.Kind == ArgFloat && (k.Word != KImm || a.Type.Bits() == k.Settled.Bits())
	case Pred:
		return a.Kind == ArgInt && k.inRange(a.Value)
	}
	return false
}

// inRange reports whether a constant is in the range of k. Some instructions use only its low 32
// bits.
func (k *WantKind) inRange(v int64) bool {
	if len(k.Range) == 0 {
		return true
	}
	if k.Cut {
		v = int64(uint32(v))
	}
	for _, s := range k.Range {
		if v >= s.Low && v <= s.High && (s.Step <= 1 || (v-s.Low)%s.Step == 0) {
			return true
		}
	}
	return false
}

// addressFits reports whether the base of an address is accepted: a register, a variable in the
// space, or a constant. The width of the register depends on the module's address size and is not
// checked here.
func (k *WantKind) addressFits(a *Arg) bool {
	if k.In == Tensor { // tensor memory has no variables, and 32-bit addresses
		return a.Kind == ArgReg && a.Count <= 1 && typeFits(k.Settled, a.Type) &&
			(k.Settled.Class() != Bits || a.Type == k.Settled)
	}
	switch a.Kind {
	case ArgReg, ArgSreg:
		if a.Kind == ArgSreg && k.Space.Symbols != Generic {
			return false // addresses of mbarriers
		}
		if k.Settled == Predicate { // address of a tensor map: any register
			return a.Count <= 1 && a.Kind == ArgReg
		}
		narrow := a.Type.Bits() < k.Settled.Bits() &&
			(k.Settled.Class() != Integer || k.In == Generic)
		return a.Count <= 1 && a.Type.Whole() && a.Type.Bits() <= 64 && !narrow
	case ArgSym:
		if a.Type.Class() == Opaque {
			return false
		}
		if k.Space.Symbols != Generic {
			return spaceFits(k.Space.Symbols, a.Space)
		}
		if k.In == Generic {
			return a.Space == Global || a.Space == Shared || a.Space == Local
		}
		return spaceFits(k.In, a.Space)
	case ArgInt:
		return k.In == Local
	}
	return false
}

// spaceFits reports whether a variable that is declared in space have can be accessed in space
// want. Kernel parameters and function parameters have different spaces, which the caller
// distinguishes.
func spaceFits(want, have Space) bool {
	if want.Base() != have.Base() {
		return false
	}
	return want == have || want.Base() != Param || want == Param || have == Param
}

// vectorType returns the type that ptxas gives to a brace vector. Equal element types are kept.
// Untyped bits with any type of the same width yield bits, and so do signed with unsigned
// integers. Constants take the type of their neighbors. Predicates combine only with predicates,
// although ptxas accepts them beside 32 untyped bits. ok is false if neighbors do not combine.
// The type is zero for a vector of only constants and sinks.
func vectorType(elems []Arg) (folded Type, ok bool) {
	predicates, constants := false, false
	for i := range elems {
		e := &elems[i]
		switch e.Kind {
		case ArgReg, ArgSreg:
			switch {
			case e.Count > 1 || e.Not || e.Plus:
				return 0, false
			case e.Type.Class() == Pred:
				predicates = true
			case folded == 0:
				folded = e.Type
			case folded != e.Type:
				if folded, ok = combineTypes(folded, e.Type); !ok {
					return 0, false
				}
			}
		case ArgInt, ArgFloat:
			constants = true
			if i > 0 && elems[i-1].isConstant() && elems[i-1].Kind != e.Kind {
				// ptxas compares adjacent elements, using the constants' own types
				return 0, false
			}
		case ArgSink, ArgUnknown:
		default:
			return 0, false
		}
	}
	if constants && folded != 0 {
		for i := range elems {
			if folded, ok = combineConstant(folded, &elems[i]); !ok {
				return 0, false
			}
		}
	}
	if predicates {
		if folded == 0 {
			return Predicate, true
		}
		return folded, folded.Class() == Bits && folded.Bits() == 32
	}
	return folded, true
}

// isConstant reports whether a is an integer or floating-point constant.
func (a *Arg) isConstant() bool { return a.Kind == ArgInt || a.Kind == ArgFloat }

func combineTypes(a, b Type) (Type, bool) {
	if a.Bits() != b.Bits() {
		return 0, false
	}
	if a.Class() == Bits || b.Class() == Bits || a.Whole() && b.Whole() {
		return bitsOf(a.Bits()), true
	}
	return 0, false
}

// combineConstant returns the type of a vector after a constant element: an integer among integers
// yields bits, and a floating-point constant keeps its own type.
func combineConstant(t Type, e *Arg) (Type, bool) {
	switch e.Kind {
	case ArgInt:
		return bitsOf(t.Bits()), t.Whole()
	case ArgFloat:
		switch {
		case t.Class() == Float && t.Bits() == e.Type.Bits():
			return t, true
		case t.Class() == Float || t.Class() == Bits:
			return bitsOf(t.Bits()), true
		}
		return 0, false
	}
	return t, true
}

// bitsOf returns the untyped type with the given width in bits.
func bitsOf(width int) Type {
	for i, t := range typeTable {
		if t.Class == Bits && t.Bits == width {
			return Type(i)
		}
	}
	return 0
}

// vectorFits reports whether the elements of a brace vector are accepted: registers by their
// combined type, constants and sinks one by one.
func (k *WantKind) vectorFits(access Access, elems []Arg) bool {
	folded, ok := vectorType(elems)
	if !ok {
		return false
	}
	if folded != 0 {
		reg := Arg{Kind: ArgReg, Type: folded}
		mixed := (k.Relax || k.Mixed) && k.Settled.Class() == Float && folded.Whole() &&
			folded.Bits() == k.Settled.Bits()
		if !mixed && !registerFits(k, &reg) {
			return false
		}
	}
	for i := range elems {
		switch e := &elems[i]; e.Kind {
		case ArgReg, ArgSreg:
			if k.Word == KReg && (e.Kind == ArgSreg || e.Type.Class() == Pred) {
				return false
			}
		case ArgSink:
			// Only the widest stores may skip elements; other reads may not.
			if folded == 0 || k.Word == KReg || access != Write &&
				k.Settled.Bits()*len(elems) != 256 {
				return false
			}
		case ArgInt, ArgFloat:
			if access != Read || k.Word == KReg || folded == 0 && !constantFits(k, e) {
				return false
			}
		}
	}
	return true
}
