// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package walk

import (
	mathbits "math/bits"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// execute updates the registers for an instruction that does not branch.
func (p *Path) execute(in *ir.Instr) {
	if in.Form == nil || len(in.Form.Args) == 0 || len(in.Args) == 0 {
		p.blur(in, Value{})
		return
	}
	switch in.Kind() {
	case isa.KindLd:
		p.load(in)
		return
	case isa.KindElect:
		p.blur(in, Value{})
		if o := &in.Args[0]; o.Kind == ir.Pair && o.Args()[1].Kind == ir.Register {
			p.set(o.Args()[1].Reg, known(int64(b2i(p.Thread%32 == 0))))
		}
		return
	case isa.KindSetp:
		if p.setp(in) {
			return
		}
	}
	o := &in.Args[0]
	simple := o.Kind == ir.Register && o.Text() == "" && in.Form.Args[0].Access == isa.Write &&
		in.Has(isa.EffectPure) && len(in.Args) <= 4 &&
		in.Form.Args[min(1, len(in.Form.Args)-1)].Access == isa.Read
	if !simple {
		p.blur(in, Value{})
		return
	}
	var x [3]Value
	for i := 1; i < len(in.Args); i++ {
		x[i-1] = p.Operand(&in.Args[i])
	}
	p.set(o.Reg, p.compute(in, x[:len(in.Args)-1]))
}

// setp sets the results of a comparison that has two results, or that is combined with a known
// predicate by and. It returns whether it did.
func (p *Path) setp(in *ir.Instr) bool {
	to := []ir.Operand{in.Args[0]}
	if to[0].Kind == ir.Pair {
		to = to[0].Args()
	}
	if len(to) == 1 && len(in.Args) == 3 || len(in.Args) > 4 {
		return false
	}
	both := known(1)
	if len(in.Args) == 4 {
		if both = p.Operand(&in.Args[3]); both.Kind != Known || !in.HasMod(isa.ModAnd) {
			return false
		}
	}
	v := known(0)
	if both.N != 0 {
		v = p.compare(in, p.Operand(&in.Args[1]), p.Operand(&in.Args[2]))
	}
	for i := range to {
		if to[i].Kind == ir.Register {
			p.set(to[i].Reg, v)
		}
		if v = v.negated(); both.N == 0 {
			v = known(0)
		}
	}
	return true
}

// compare returns the predicate that compares a with b, without other predicates of the
// instruction.
func (p *Path) compare(in *ir.Instr, a, b Value) Value {
	o := origin{op: p.walk.values.opcode(in.Op), a: a, b: b}
	switch {
	case a.Kind == Undefined:
		return a
	case b.Kind == Undefined:
		return b
	case a.Kind == Known && b.Kind == Known:
		for _, m := range in.Mods() {
			if swapped[m] == isa.NoMod {
				continue
			}
			if f := eval.Compare(m, typeOf(in)); f != nil {
				return known(int64(f(uint64(a.N), uint64(b.N), 0, 0)))
			}
		}
	}
	return p.walk.values.of(in, o, max(a.From, b.From))
}

// load sets the results of a load. A parameter has the same value each time that it is loaded.
func (p *Path) load(in *ir.Instr) {
	p.blur(in, Value{})
	o := &in.Args[0]
	if o.Kind != ir.Register || len(in.Args) < 2 {
		return
	}
	at := p.AddressOf(in)
	v := p.walk.values.fresh(Data)
	switch space := in.Space().Base(); {
	case at.Kind == Address && at.Span == 0 && at.ID == 0 &&
		(space == isa.Const || space == isa.Param && p.isParam(at.Var)):
		v = p.walk.values.of(nil, origin{op: p.walk.values.opcode(in.Op), a: at}, Launch)
	case space == isa.Global && at.From < Data && !in.HasMod(isa.ModVolatile, isa.ModRelaxed,
		isa.ModAcquire, isa.ModMMIO):
		// without a race, all threads that load from one address load the same value
		v = p.walk.values.of(nil, origin{op: p.walk.values.opcode(in.Op), a: at}, Data)
	}
	if bits := loadedBits(in); bits > 0 && bits <= 16 {
		v.Span = 1<<bits - 1
	}
	p.set(o.Reg, v)
}

// loadedBits returns the width of an unsigned integer that an instruction loads, or 0.
func loadedBits(in *ir.Instr) (bits int) {
	for _, m := range in.Mods() {
		switch t := m.Type(); t.Class() {
		case isa.Unsigned, isa.Bits:
			bits = t.Bits()
		}
	}
	return bits
}

// isParam reports whether a variable is a parameter of the kernel.
func (p *Path) isParam(v *ir.Var) bool {
	for _, x := range p.walk.flow.Func.Params {
		if x == v {
			return true
		}
	}
	return false
}

// AddressOf returns the address of the memory operand of a load, a store or an atomic operation.
// Its kind is Undefined if it depends on an undefined register.
func (p *Path) AddressOf(in *ir.Instr) Value {
	for i := range in.Args {
		if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args()) > 0 {
			base := o.Args()[0]
			if base.Kind == ir.Register {
				return p.Reg(base.Reg).plus(base.Value)
			}
			return p.Operand(&base)
		}
	}
	return p.walk.values.fresh(Data)
}

// Operand returns the value of a source operand.
func (p *Path) Operand(o *ir.Operand) Value {
	switch o.Kind {
	case ir.Register:
		switch v := p.Reg(o.Reg); {
		case o.Text() != "" || o.Minus:
			return p.walk.values.fresh(max(v.From, Data))
		case o.Not:
			return v.negated()
		default:
			return v
		}
	case ir.Int, ir.Single, ir.Double:
		return known(o.Value)
	case ir.Variable:
		if v := o.Var(); v != nil {
			return Value{Kind: Address, Var: v, N: o.Value}
		}
	case ir.Special:
		return p.special(o.Text())
	}
	return p.walk.values.fresh(Data)
}

// special returns the value of a special register. The thread is in the first block.
func (p *Path) special(name string) Value {
	stem, axis, _ := strings.Cut(name, ".")
	i := strings.Index("xyz", axis)
	size := p.walk.block
	if size == [3]int{} {
		size = [3]int{1 << 10, 1, 1} // a block along x, as its thread index is assumed
	}
	switch stem {
	case "%tid":
		if i >= 0 && axis != "" {
			return known(int64([3]int{p.Thread % size[0], p.Thread / size[0] % size[1],
				p.Thread / size[0] / size[1]}[i]))
		}
	case "%ntid":
		if i >= 0 && axis != "" && p.walk.block[0] > 0 {
			return known(int64(p.walk.block[i]))
		}
	case "%laneid":
		return known(int64(p.Thread % 32))
	case "%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank":
		return known(0)
	case "WARP_SZ":
		return known(32)
	case "%clock", "%clock64", "%clock_hi", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi":
		return p.walk.values.fresh(Data)
	case "%nctaid", "%nclusterid", "%cluster_nctaid", "%cluster_nctarank":
		return p.walk.values.of(nil, origin{op: p.walk.values.opcode(name)}, Launch)
	}
	return p.walk.values.of(nil, origin{op: p.walk.values.opcode(name)}, Data)
}

// compute returns the result of an arithmetic instruction.
func (p *Path) compute(in *ir.Instr, x []Value) Value {
	from := Launch
	all, undefined := true, (*ir.Reg)(nil)
	for _, v := range x {
		all = all && v.Kind == Known
		if v.Kind == Undefined {
			undefined = v.Reg
		} else if v.Kind != Known {
			from = max(from, v.From)
		}
	}
	switch k := in.Kind(); {
	case k == isa.KindMov, k == isa.KindCvta, k == isa.KindCvtaTo:
		return moved(in, x[0])
	case len(x) == 2 && (k == isa.KindXor || k == isa.KindSub) && sameRegister(in):
		return known(0)
	case k == isa.KindSelp && len(x) == 3:
		if c := x[2]; c.Kind == Known {
			return x[b2i(c.N == 0)]
		}
	case k == isa.KindNot && isPredicate(in):
		return x[0].negated()
	case !all && (k == isa.KindAnd || k == isa.KindOr) && isPredicate(in):
		for i, v := range x {
			if v.Kind == Known && (v.N != 0) == (k == isa.KindOr) {
				return v // decides the result
			} else if v.Kind == Known {
				return x[1-i]
			}
		}
	case all:
		if n, ok := constant(in, x); ok {
			return known(n)
		}
	}
	switch {
	case undefined != nil && mayMask(in.Kind()):
		return p.walk.values.fresh(Data)
	case undefined != nil:
		return Value{Kind: Undefined, Reg: undefined}
	case isFloat(in):
		return p.walk.values.fresh(from) // neither an address nor a predicate
	}
	return p.computed(in, x, from)
}

// computed returns the unknown result of an operation whose operands are defined. from is their
// origin.
func (p *Path) computed(in *ir.Instr, x []Value, from Origin) Value {
	if v, ok := p.linear(in, x); ok {
		return v
	}
	o := origin{op: p.walk.values.opcode(in.Op)}
	for i, to := range []*Value{&o.a, &o.b, &o.c}[:len(x)] {
		*to = x[i]
	}
	v := p.walk.values.of(in, o, from)
	v.Span = spanOf(in, x)
	return v
}

// isFloat reports whether the result of an instruction is a number that addresses and predicates
// are not computed from.
func isFloat(in *ir.Instr) bool {
	switch in.Args[0].Reg.Type {
	case isa.F16, isa.F16x2, isa.F32, isa.F64:
		return true
	}
	return false
}

// moved returns the result of a move or of an address conversion.
func moved(in *ir.Instr, v Value) Value {
	if v.Kind == Address {
		switch in.Kind() {
		case isa.KindCvta:
			v.Generic = true
		case isa.KindCvtaTo:
			v.Generic = false
		}
	}
	return v
}

// sameRegister reports whether both sources of an instruction are the same register.
func sameRegister(in *ir.Instr) bool {
	a, b := &in.Args[1], &in.Args[2]
	return a.Kind == ir.Register && b.Kind == ir.Register && a.Reg == b.Reg
}

// mayMask reports whether the result of an operation may not depend on one of its operands.
func mayMask(k isa.Kind) bool {
	switch k {
	case isa.KindAnd, isa.KindOr, isa.KindXor, isa.KindLop3, isa.KindPrmt, isa.KindBfi, isa.KindBfe,
		isa.KindShfL, isa.KindShfR, isa.KindSelp, isa.KindSlct:
		return true
	}
	return false
}

// constant evaluates an instruction whose operands are known.
func constant(in *ir.Instr, x []Value) (int64, bool) {
	var bits [4]uint64
	for i, v := range x {
		bits[i] = uint64(v.N)
	}
	n, ok := eval.Constant(in.Kind(), in.Mods(), bits[:len(x)]...)
	return int64(n), ok
}

// typeOf returns the last type of an instruction.
func typeOf(in *ir.Instr) (t isa.Type) {
	for _, m := range in.Mods() {
		if x := m.Type(); x != 0 {
			t = x
		}
	}
	return t
}

// extend returns the low bits of n as a number of a type.
func extend(t isa.Type, n int64) int64 { return eval.Extend(t, uint64(n)) }

// signed returns the low bits of n as a signed number with the width of a type.
func signed(t isa.Type, n int64) int64 {
	if shift := 64 - t.Bits(); shift > 0 && shift < 64 {
		return n << shift >> shift
	}
	return n
}

// linear evaluates sums and products of which one operand is known. Addresses and unknown numbers
// keep their identity if a known number is added.
func (p *Path) linear(in *ir.Instr, x []Value) (Value, bool) {
	t := typeOf(in)
	switch t.Class() {
	case isa.Unsigned, isa.Signed, isa.Bits:
	default:
		return Value{}, false
	}
	switch in.Kind() {
	case isa.KindAdd:
		return sum(t, x[0], x[1])
	case isa.KindSub:
		if x[1].Kind == Known {
			return x[0].plus(-signed(t, x[1].N)), true
		}
	case isa.KindMulLo, isa.KindMulWide:
		return p.product(x[0], x[1])
	case isa.KindShl:
		if x[1].Kind == Known && x[1].N >= 0 && x[1].N < 31 {
			return p.product(x[0], known(1<<x[1].N))
		}
	case isa.KindMadLo, isa.KindMadWide:
		if v, ok := p.product(x[0], x[1]); ok {
			return sum(t, v, x[2])
		} else if x[0].Kind == Known && x[1].Kind == Known {
			return x[2].plus(extend(t, x[0].N) * extend(t, x[1].N)), true
		}
	case isa.KindCvt:
		if x[0].Kind == Address || x[0].Kind == Unknown && x[0].Span > 0 && x[0].N >= 0 {
			return x[0], true
		}
	}
	return Value{}, false
}

// sum returns a + b if one of them is known, or if one is an address and the range of the other is
// known.
func sum(t isa.Type, a, b Value) (Value, bool) {
	switch {
	case b.Kind == Known:
		return a.plus(signed(t, b.N)), true
	case a.Kind == Known:
		return b.plus(signed(t, a.N)), true
	case b.Kind == Address:
		a, b = b, a
	}
	if a.Kind == Address && a.ID == 0 && b.Kind == Unknown {
		a.N, a.ID, a.From, a.Span = a.N+b.N, b.ID, b.From, b.Span
		return a, true
	}
	return Value{}, false
}

// product returns a*b if one of them is known and the range of the other is known.
func (p *Path) product(a, b Value) (Value, bool) {
	if a.Kind == Known {
		a, b = b, a
	}
	if a.Kind != Unknown || b.Kind != Known || a.Span == 0 || a.N < 0 || b.N <= 0 ||
		b.N > 1<<20 || a.Span > 1<<32 || a.N > 1<<32 {
		return Value{}, false
	}
	v := p.walk.values.of(nil, origin{op: p.walk.values.opcode("*"), a: a, b: b}, a.From)
	v.N, v.Span = a.N*b.N, a.Span*b.N
	return v, true
}

// spanOf returns the range of the result of an operation, or 0.
func spanOf(in *ir.Instr, x []Value) int64 {
	if len(x) != 2 || x[1].Kind != Known {
		return 0
	}
	n := x[1].N
	switch in.Kind() {
	case isa.KindAnd:
		if n > 0 && n < 1<<31 && mathbits.OnesCount64(uint64(n)) == mathbits.Len64(uint64(n)) {
			return n
		}
	case isa.KindRem:
		if typeOf(in).Class() == isa.Unsigned && n > 1 && n < 1<<31 {
			return n - 1
		}
	case isa.KindShr:
		if x[0].Kind == Unknown && x[0].N == 0 && n > 0 && n < 31 {
			return x[0].Span >> n
		}
	}
	return 0
}
