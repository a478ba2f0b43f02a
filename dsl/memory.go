// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An Addr is an address in a state space: a register or a variable, plus a constant offset in
// bytes.
type Addr struct {
	k     *Kernel
	space isa.Space
	reg   *ir.Reg
	v     *ir.Var
	off   int64
	align int // known alignment of base and offset in bytes, or 0 if unknown
	scope int
	use   *sharedUsage // accesses to the shared variable, or nil
	root  *ir.Var      // pointer parameter from which the address is derived, or nil
}

// At returns the address x plus offset, in bytes. The instruction that uses it determines the
// state space. If x is a variable, the address uses the value of x at that instruction.
func At[T Scalar](x Reg[T], offset int64) Addr {
	x = x.register()
	return Addr{k: x.k, reg: x.r, off: offset, scope: x.scope}
}

// Plus returns the address n bytes after a.
func (a Addr) Plus(n int64) Addr {
	a.off += n
	if a.align != 0 {
		a.align = alignment(n, a.align)
	}
	return a
}

// Space returns the state space of a, which is Generic if the instruction determines it.
func (a Addr) Space() isa.Space { return a.space }

// Value returns a in a 32-bit register, for addresses in shared and local memory.
func (a Addr) Value() Reg[U32] {
	if a.k != nil && (a.space == isa.Global || a.space == isa.Generic) {
		a.k.fault(&ruleMemory,
			"Value is called on an address in %s, which has 64 bits; use Value64",
			describeSpace(a.space)).withFix(source.Rename("Value", "Value64"))
		return a.k.U32(0)
	}
	return addressValue[U32](a)
}

// Value64 returns a in a 64-bit register, for global and generic addresses.
func (a Addr) Value64() Reg[U64] {
	if a.reg != nil && a.reg.Type.Bits() == 32 {
		return To[U64](addressValue[U32](a))
	}
	return addressValue[U64](a)
}

func addressValue[T Scalar](a Addr) Reg[T] {
	if a.k == nil {
		return Reg[T]{}
	}
	k := a.k
	a.use.name()
	if a.v == nil {
		x := Reg[T]{k: k, r: a.reg, scope: a.scope}
		if a.off == 0 {
			return x.snapshot()
		}
		return x.Add(Const[T](k, a.off))
	}
	d := fresh[T](k)
	k.ins(k.op("mov", TypeOf[T]()), d.in(k), k.naming(ir.Variable, a.v, a.off))
	return d
}

// start returns the 32-bit address of a variable. It is computed once, at the start of the
// kernel.
func (k *Kernel) start(v *ir.Var) Reg[U32] {
	if r := k.starts[v]; r != nil {
		return Reg[U32]{k: k, r: r}
	}
	d := fresh[U32](k)
	d.scope = 0
	k.starts[v] = d.r
	was, guard := k.toHead()
	k.ins("mov.u32", d.in(k), k.naming(ir.Variable, v, 0))
	k.restoreBlock(was, guard)
	d.r.Name = k.regName(v.Name)
	return d
}

// add returns the address n bytes after a.
func (a Addr) add(n Reg[U32]) Addr { return Array[B8]{at: a}.At(n).at }

// operand returns the operand [a].
func (a Addr) operand(k *Kernel) (ir.Operand, bool) {
	o, ok := a.inner(k)
	return k.bracket(o), ok
}

// in returns a as an operand of an instruction of k.
func (a Addr) in(k *Kernel) ir.Operand {
	o, _ := a.operand(k)
	return o
}

// inner returns the operand inside the brackets of [a].
func (a Addr) inner(k *Kernel) (ir.Operand, bool) {
	a.use.name()
	switch {
	case a.k == nil:
		k.fault(&ruleValue, "address is a zero value, not created by a builder call")
		return ir.Operand{}, false
	case a.k != k:
		k.reportForeignKernel("address", a.k)
		return ir.Operand{}, false
	case a.v != nil:
		return k.naming(ir.Variable, a.v, a.off), true
	case a.reg == nil:
		k.fault(&ruleValue,
			"address is in a register that is a zero value, not created by a builder call")
		return ir.Operand{}, false
	case !k.isInScope(a.scope):
		k.outOfScope("address", a.scope)
	}
	return ir.Operand{Kind: ir.Register, Reg: a.reg, Value: a.off}, true
}

// alignment returns the largest power of two that divides both n and align, which is a power of
// two.
func alignment(n int64, align int) int {
	for align > 1 && n%int64(align) != 0 {
		align /= 2
	}
	return align
}

// An Array is a sequence of elements of one type in memory: a pointer parameter of a kernel, or a
// variable in shared, local or constant memory. Indices are in elements.
type Array[T Scalar] struct {
	at   Addr
	dims []int // dimensions of a variable, or nil if unknown
}

// Param declares a scalar kernel parameter.
func Param[T Scalar](k *Kernel, name string) Reg[T] {
	k = k.sound()
	t := TypeOf[T]()
	k.checkStorable(name, t)
	v := k.param(name, t, 0)
	d := fresh[T](k)
	was, guard := k.toHead()
	k.ins(k.op("ld.param", memory(t)), d.in(k), k.address(v))
	k.restoreBlock(was, guard)
	d.r.Name, d.scope = k.regName(name), 0
	return d
}

// toHead redirects new instructions to the start of the kernel, until restoreBlock is called with
// the results.
func (k *Kernel) toHead() (*ir.Block, ir.Guard) {
	was, guard := k.cur, k.guard
	k.cur, k.guard = k.head, ir.Guard{}
	return was, guard
}

func (k *Kernel) restoreBlock(was *ir.Block, guard ir.Guard) { k.cur, k.guard = was, guard }

// regName returns a register name that is derived from a parameter name, or "" if the name cannot
// be used.
func (k *Kernel) regName(name string) string {
	if !identifier(name) {
		return ""
	}
	r := "%" + name
	if _, special := isa.SpecialRegister(r); special || k.names[r] {
		return ""
	}
	k.names[r] = true
	return r
}

// checkStorable reports a type whose values cannot be stored in memory.
func (k *Kernel) checkStorable(name string, t isa.Type) {
	if t == isa.Predicate {
		k.fault(&ruleMemory,
			"%s holds predicates, which cannot be stored in memory; store a U8 or U32 (Select, To) and convert back with NEI(0)",
			name)
	}
}

// param declares a parameter of the function. bytes is the size of an array parameter, or 0.
func (k *Kernel) param(name string, t isa.Type, bytes int64) *ir.Var {
	switch {
	case !identifier(name):
		k.fault(&ruleKernel, "%q is not a valid parameter name", name)
		name = unique("param", k.names)
	case bytes > 0 && !k.f.Kernel:
		k.fault(&ruleFunction,
			"parameter %s of device function %s must be a value or a pointer; only kernels take structs and tensor maps",
			name, k.Name())
	case k.names[name]:
		k.fault(&ruleKernel, "%s is already a parameter or variable of %s", name, k.Name())
		name = unique(name, k.names)
	}
	k.names[name] = true
	v := &ir.Var{Name: name, Space: isa.Param, Type: memory(t), Pos: k.m.calls.Here()}
	if bytes > 0 {
		v.Dims = []int64{bytes}
	}
	k.f.Params = append(k.f.Params, v)
	if !k.f.Kernel {
		k.arguments = append(k.arguments, t)
	}
	return v
}

// address returns the operand [v].
func (k *Kernel) address(v *ir.Var) ir.Operand {
	return k.bracket(k.naming(ir.Variable, v, 0))
}

// bracket returns the operand [parts]. It copies the list.
func (k *Kernel) bracket(parts ...ir.Operand) ir.Operand {
	return k.list(ir.Address, slab.Copy(&k.args, parts))
}

// memory returns the type that ld and st use for values of type t.
func memory(t isa.Type) isa.Type {
	switch {
	case t.Bits() == 8 && !isInteger(t):
		return isa.B8
	case t.Class() == isa.Half || t.Class() == isa.Packed || t.Class() == isa.Lanes ||
		t == isa.Tf32:
		return bits(t.Bits())
	}
	return t
}

// size returns the size in bytes of an element in memory.
func size(t isa.Type) int64 { return int64(max(8, t.Bits()) / 8) }

// Addr returns the address of the first element.
func (a Array[T]) Addr() Addr { return a.at }

// At returns the part of the array that starts at element i.
func (a Array[T]) At(i Reg[U32]) Array[T] {
	k := a.at.k
	if k == nil {
		return a
	}
	n := size(TypeOf[T]())
	if i.IsConstant() {
		return a.AtI(i.bits)
	}
	if i.k != k {
		i.in(k) // reports i if it is invalid
		return a
	}
	base := a.at
	if a.at.space == isa.Global || a.at.space == isa.Generic {
		o := ir.Operand{Kind: ir.Register, Reg: base.reg}
		if !k.isInScope(base.scope) {
			base.inner(k)
		}
		// Not mad.wide: ptxas generates better code from two instructions, which it fuses.
		offset := k.wideOffset(i, n)
		d := fresh[U64](k)
		k.ins("add.u64", d.in(k), o, offset.in(k))
		a.at.reg, a.at.scope = d.r, d.scope
	} else {
		start := Reg[U32]{k: k, r: base.reg, scope: base.scope}
		if base.v != nil {
			start = k.start(base.v)
		}
		d := i.MadI(n, start)
		a.at.v, a.at.reg, a.at.scope = nil, d.r, d.scope
	}
	a.at.align = min(a.at.align, int(n))
	a.dims = nil
	return a
}

// At64 returns the part of the array that starts at element i, as At does, for arrays in global
// memory of more than 2^32 elements.
func (a Array[T]) At64(i Reg[U64]) Array[T] {
	k := a.at.k
	if k == nil {
		return a
	}
	n := size(TypeOf[T]())
	base := Reg[U64]{k: k, r: a.at.reg, scope: a.at.scope}
	if a.at.space != isa.Global && a.at.space != isa.Generic {
		k.fault(&ruleMemory, "64-bit index is used in a memory space with 32-bit addresses")
		return a
	}
	if i.k != k {
		i.in(k)
		return a
	}
	d := i.MadI(n, base)
	a.at.reg, a.at.scope, a.dims = d.r, d.scope, nil
	a.at.align = min(a.at.align, int(n))
	return a
}

// AtI returns the part of the array that starts at element n.
func (a Array[T]) AtI(n int64) Array[T] {
	if a.at.k == nil {
		return a
	}
	if len(a.dims) > 0 {
		total := int64(1)
		for _, d := range a.dims {
			total *= int64(d)
		}
		if n < 0 || n >= total {
			a.at.k.fault(&ruleMemory, "index %d is out of bounds: the array has %d elements", n,
				total)
			return a
		}
	}
	a.at = a.at.Plus(n * size(TypeOf[T]()))
	if n != 0 {
		a.dims = nil
	}
	return a
}

// Index returns the index of an element from its coordinates in a variable with several
// dimensions: t.Index(row, column).
func (a Array[T]) Index(at ...Reg[U32]) Reg[U32] {
	k := a.at.k
	if k == nil || len(at) == 0 {
		return Reg[U32]{}
	}
	if len(at) != len(a.dims) {
		k.fault(&ruleMemory, "%d indices are given for an array of %d dimensions", len(at),
			len(a.dims))
		return at[0]
	}
	for d, x := range at {
		if x.IsConstant() && (x.bits < 0 || x.bits >= int64(a.dims[d])) {
			k.fault(&ruleMemory, "index %d is out of bounds: dimension %d has %d elements", x.bits,
				d, a.dims[d])
			return at[0]
		}
	}
	i := at[0]
	for d, x := range at[1:] {
		i = i.MadI(int64(a.dims[d+1]), x)
	}
	return i
}

// Load returns element i, which ld reads.
func (a Array[T]) Load(i Reg[U32], mods ...Mod) Reg[T] { return a.At(i).LoadFirst(mods...) }

// LoadI returns element n, which ld reads.
func (a Array[T]) LoadI(n int64, mods ...Mod) Reg[T] { return a.AtI(n).LoadFirst(mods...) }

// Store writes x to element i.
func (a Array[T]) Store(i Reg[U32], x Reg[T], mods ...Mod) { a.At(i).StoreFirst(x, mods...) }

// StoreI writes x to element n.
func (a Array[T]) StoreI(n int64, x Reg[T], mods ...Mod) { a.AtI(n).StoreFirst(x, mods...) }

// LoadFirst returns the first element.
func (a Array[T]) LoadFirst(mods ...Mod) Reg[T] {
	k := a.at.k
	if k == nil {
		return Reg[T]{}
	}
	d := fresh[T](k)
	k.annotateAccess(a.at, size(TypeOf[T]()), false, mods)
	k.ins(k.access("ld", a.at.space, mods, 1, memory(TypeOf[T]())), d.in(k), a.at.in(k))
	return d
}

// StoreFirst writes the first element.
func (a Array[T]) StoreFirst(x Reg[T], mods ...Mod) {
	k := a.at.k
	if k == nil {
		if x.k != nil {
			x.k.fault(&ruleValue, "array in Store is a zero value, not created by a builder call")
		}
		return
	}
	if a.at.space == isa.Const || a.at.space == isa.Param {
		k.fault(&ruleMemory, "store writes %s memory, which is read-only", a.at.space)
		return
	}
	if isFloat(TypeOf[T]()) && TypeOf[T]().Class() == isa.Half {
		x = x.register()
	}
	k.annotateAccess(a.at, size(TypeOf[T]()), true, nil)
	k.ins(k.access("st", a.at.space, mods, 1, memory(TypeOf[T]())), a.at.in(k), x.in(k))
}

// As returns the memory of an array reinterpreted as elements of another type, such as pairs of
// BF16 for BF16. Indices are in elements of the new type.
func As[D, S Scalar](a Array[S]) Array[D] { return Array[D]{at: a.at} }
