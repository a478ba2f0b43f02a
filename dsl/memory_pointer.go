// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Global declares a kernel parameter that points to global memory. In a device function it
// declares an argument, for which Call takes an array in global memory.
//
// The pointer must be aligned for the widest access that the kernel makes relative to it: to the
// element size if all accesses are scalar, and to the vector size for vector accesses and
// asynchronous copies. Build declares that alignment with .ptr .align. A launch with a pointer
// that is aligned less, such as a slice of a larger buffer, is an error.
func Global[T Scalar](k *Kernel, name string) Array[T] {
	k = k.sound()
	k.checkStorable(name, TypeOf[T]())
	return Array[T]{at: k.pointer(name, TypeOf[T]())}
}

// pointer declares a parameter that points to elements of type t in global memory.
func (k *Kernel) pointer(name string, t isa.Type) Addr {
	v := k.param(name, isa.U64, 0)
	align := 0
	if k.f.Kernel {
		align = 16
		v.Ptr = &ir.Ptr{Space: isa.Global, Align: int(size(t))}
	}
	if k.elements == nil {
		k.elements = make(map[string]isa.Type)
	}
	k.elements[v.Name] = t
	was, guard := k.toHead()
	at := k.loadPointer(k.address(v))
	k.restoreBlock(was, guard)
	at.reg.Name, at.scope, at.align, at.root = k.regName(name), 0, align, v
	return at
}

// requireAlignment records an access of the given number of bytes at a. If the address is derived
// from a pointer parameter, the parameter is declared with that alignment, or with the largest
// alignment of all its accesses.
func (a Addr) requireAlignment(bytes int64) {
	if a.root != nil && a.root.Ptr != nil {
		a.root.Ptr.Align = max(a.root.Ptr.Align, int(bytes))
	}
}

// loadPointer reads a generic address from parameter memory and converts it to a global address.
func (k *Kernel) loadPointer(from ir.Operand) Addr {
	generic, p := fresh[U64](k), fresh[U64](k)
	k.ins("ld.param.u64", generic.in(k), from)
	k.ins("cvta.to.global.u64", p.in(k), generic.in(k))
	return Addr{k: k, space: isa.Global, reg: p.r, scope: p.scope}
}

// Pointer returns the memory at an address that the kernel computed or loaded. Addresses in
// global memory and in the generic address space (isa.Generic) have 64 bits, those in shared and
// local memory have 32 bits.
func Pointer[T, A Scalar](address Reg[A], space isa.Space) Array[T] {
	k := address.k
	if k == nil {
		return Array[T]{}
	}
	want := isa.U32
	switch space {
	case isa.Global, isa.Generic:
		want = isa.U64
	case isa.Shared, isa.SharedCTA, isa.SharedCluster, isa.Local:
	default:
		k.fault(&ruleMemory,
			"pointer points into %s memory, expected generic, global, shared or local", space)
		space, want = isa.Generic, isa.U64
	}
	if t := TypeOf[A](); !isIntegerOrBits(t) || t.Bits() != want.Bits() {
		k.fault(&ruleMemory, "address in a register of type %s points into %s, expected %d bits", t,
			describeSpace(space), want.Bits())
		return Array[T]{}
	}
	x := address.register().snapshot()
	return Array[T]{at: Addr{k: k, space: space, reg: x.r, scope: x.scope}}
}

func describeSpace(s isa.Space) string {
	if s == isa.Generic {
		return "the generic address space"
	}
	return s.String() + " memory"
}

// operand returns the operand for the array's first element, for instructions written with Ins.
func (a Array[T]) operand(k *Kernel) (ir.Operand, bool) { return a.at.operand(k) }

// A pointer is an argument that is passed to a device function as a generic address.
type pointer interface {
	generic(k *Kernel) Reg[U64]
}

// generic returns the generic address of an array in global memory, which is what device
// functions expect.
func (a Array[T]) generic(k *Kernel) Reg[U64] {
	p := fresh[U64](k)
	switch {
	case a.at.k == nil:
		k.fault(&ruleValue, "array is a zero value, not created by a builder call")
	case a.at.k != k:
		k.fault(&ruleForeign, "array of kernel %s is used in %s", a.at.k.Name(), k.Name())
	case a.at.space == isa.Generic:
		return a.at.Value64()
	case a.at.space != isa.Global:
		k.fault(&ruleFunction, "array in %s is passed as an argument, expected global memory",
			describeSpace(a.at.space))
	default:
		k.ins("cvta.global.u64", p.in(k), a.at.Value64().in(k))
	}
	return p
}

// wideOffset returns i times n as a 64-bit value. If one of the last instructions of the block
// computed it and its result is unchanged, wideOffset returns that result.
func (k *Kernel) wideOffset(i Reg[U32], n int64) Reg[U64] {
	if n == 1 {
		return To[U64](i)
	}
	o := i.in(k)
	if k.cur != nil {
		few := 16
		for in := range k.order.Backward(k.cur) {
			if few--; few < 0 || in.Form == nil || writesRegister(in, o.Reg) {
				break
			}
			if in.Is(isa.KindMulWide, isa.ModU32) && in.Guard.Reg == nil &&
				in.Args[1].Reg == o.Reg && in.Args[2].Kind == ir.Int && in.Args[2].Value == n &&
				!in.Args[0].Reg.Varies {
				return Reg[U64]{k: k, r: in.Args[0].Reg, scope: k.scope()}
			}
		}
	}
	d := fresh[U64](k)
	k.ins("mul.wide.u32", d.in(k), o, number(n))
	return d
}

// writesRegister reports whether an instruction writes register r.
func writesRegister(in *ir.Instr, r *ir.Reg) (found bool) {
	in.Registers(func(x *ir.Reg, a isa.Access) { found = found || x == r && a != isa.Read })
	return found
}
