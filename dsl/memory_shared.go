// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl/internal/limits"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// sharedMemory describes the shared variables of a kernel. If they fit the static limit of 48 KB,
// they are declared one by one. Otherwise all are placed in one dynamic array, whose size the
// launch must specify.
type sharedMemory struct {
	vars    []*ir.Var
	bytes   int64       // dynamic shared memory that the launch must provide, known after Build
	dynamic *ir.Var     // the array of unknown size that DynamicShared declares
	users   []*ir.Instr // instructions that name variables of any state space
	uses    []*sharedUsage
}

// Shared declares a variable in the shared memory of the block with the given dimensions, in
// row-major order.
func Shared[T Scalar](k *Kernel, name string, dims ...int) Array[T] {
	k = k.sound()
	k.checkStorable(name, TypeOf[T]())
	v := k.newShared(name, memory(TypeOf[T]()), 16, dims)
	return Array[T]{
		at:   Addr{k: k, space: isa.Shared, v: v, align: v.Align, use: k.newSharedUsage(v)},
		dims: dims}
}

// DynamicShared declares a shared variable whose size the launch chooses: the dynamic shared
// memory beyond what [Kernel.DynamicShared] returns. The number of elements is not known to the
// kernel and must be passed to it, for example as a parameter. A kernel can declare one such
// variable.
func DynamicShared[T Scalar](k *Kernel, name string) Array[T] {
	k = k.sound()
	k.checkStorable(name, TypeOf[T]())
	if k.shared.dynamic != nil {
		k.fault(&ruleMemory,
			"%s is the second variable of dynamic size, but both would have the same address", name)
	}
	if !identifier(name) || k.names[name] {
		k.fault(&ruleKernel, "%q is not a valid variable name, or already declared", name)
		name = unique("dynamic", k.names)
	}
	k.names[name] = true
	v := &ir.Var{Name: name, Linkage: ".extern", Space: isa.Shared, Type: memory(TypeOf[T]()),
		Align: 16, Dims: []int64{ir.Unsized}, Pos: k.m.calls.Here()}
	k.shared.dynamic = v
	return Array[T]{at: Addr{k: k, space: isa.Shared, v: v, align: v.Align}}
}

// powerOfTwo returns the smallest alignment that is not below n, or the largest alignment.
func powerOfTwo(n int) int {
	p := 1
	for p < n && p < 1<<15 {
		p *= 2
	}
	return p
}

// SharedBytes declares the given number of bytes of shared memory with the given alignment.
func (k *Kernel) SharedBytes(name string, bytes, align int) Addr {
	k = k.sound()
	if align < 1 || align&(align-1) != 0 || align > 1<<15 {
		k.fault(&ruleMemory, "alignment is %d, expected a power of two", align).
			withFix(source.ReplaceInt(int64(align), int64(powerOfTwo(align))))
		align = 16
	}
	v := k.newShared(name, isa.B8, align, []int{bytes})
	return Addr{k: k, space: isa.Shared, v: v, align: align}
}

func (k *Kernel) newShared(name string, t isa.Type, align int, dims []int) *ir.Var {
	total := size(t)
	for _, d := range dims {
		if d < 1 {
			k.fault(&ruleMemory, "%s has a dimension of %d, expected a positive number", name, d)
			d = 1
		}
		if total *= int64(d); total > 1<<31 || d > 1<<31 {
			k.fault(&ruleSize, "%s is larger than 2^31 bytes", name)
			total = size(t)
			break
		}
	}
	switch {
	case !identifier(name):
		k.fault(&ruleKernel, "%q is not a valid variable name", name)
		name = unique("shared", k.names)
	case k.names[name]:
		k.fault(&ruleKernel, "%s is already a variable of %s", name, k.Name())
		name = unique(name, k.names)
	}
	k.names[name] = true
	if limit := limits.Shared(k.m.ir.Target.Info().Number); total > limit {
		k.fault(&ruleSize,
			"shared memory limit exceeded: %s has %d bytes, but a block of %s has %d", name, total,
			k.m.Target(), limit)
		total = 1
	}
	v := &ir.Var{Name: name, Space: isa.Shared, Type: t, Align: max(align, int(size(t))),
		Dims: []int64{total / size(t)}, Pos: k.m.calls.Here()}
	k.shared.vars = append(k.shared.vars, v)
	return v
}

// Local declares a variable in the local memory of each thread, with the given dimensions.
func Local[T Scalar](k *Kernel, name string, dims ...int) Array[T] {
	k = k.sound()
	k.checkStorable(name, TypeOf[T]())
	n := int64(1)
	const most = 512 << 10 // maximum bytes per thread
	for _, d := range dims {
		if d < 1 {
			k.fault(&ruleMemory, "%s has a dimension of %d, expected a positive number", name, d)
			d = 1
		}
		if d > most || n*int64(d)*size(TypeOf[T]()) > most {
			k.fault(&ruleSize, "%s is larger than 512 KB, the local memory of a thread", name)
			break
		}
		n *= int64(d)
	}
	if !identifier(name) || k.names[name] {
		k.fault(&ruleKernel, "%q is not a valid variable name, or already declared", name)
		name = unique("local", k.names)
	}
	k.names[name] = true
	v := &ir.Var{Name: name, Space: isa.Local, Type: memory(TypeOf[T]()), Align: 16,
		Dims: []int64{n}, Pos: k.m.calls.Here()}
	k.f.Vars = append(k.f.Vars, v)
	return Array[T]{at: Addr{k: k, space: isa.Local, v: v, align: 16}, dims: dims}
}

// sharedTotal returns the size in bytes of all shared variables, with the padding between them.
func (k *Kernel) sharedTotal() int64 {
	var total int64
	for _, v := range k.shared.vars {
		a := int64(v.Align)
		total = (total+a-1)/a*a + v.Size()
	}
	return total
}

// checkShared reports shared variables that exceed the limit of a block.
func (k *Kernel) checkShared() {
	limit := limits.Shared(k.m.ir.Target.Info().Number)
	if total := k.sharedTotal(); total > limit {
		last := k.shared.vars[len(k.shared.vars)-1]
		k.m.faultAt(last.Pos, &ruleSize,
			"shared memory limit exceeded: the variables of %s have %d bytes in all, but a block of %s has %d",
			k.Name(), total, k.m.Target(), limit)
	}
}

// placeShared declares the shared variables when all are known: each separately, or all in one
// dynamic array if they exceed the static limit.
func (k *Kernel) placeShared() {
	if k.sharedTotal() <= limits.StaticShared {
		k.f.Vars = append(k.shared.vars[:len(k.shared.vars):len(k.shared.vars)], k.f.Vars...)
		if v := k.shared.dynamic; v != nil {
			v.Name = k.m.uniqueName(k.Name() + "_" + v.Name)
			k.m.ir.Decls = append([]ir.Decl{v}, k.m.ir.Decls...)
		}
		return
	}
	k.placeDynamic()
}

// placeDynamic places all shared variables in one dynamic array, by decreasing alignment so that
// there is no padding between them.
func (k *Kernel) placeDynamic() {
	all := &ir.Var{Name: k.m.uniqueName(k.Name() + "_shared"), Linkage: ".extern",
		Space: isa.Shared,
		Type:  isa.B8, Dims: []int64{ir.Unsized}, Align: 16}
	offset := make(map[*ir.Var]int64)
	var placed []ir.Placed
	var end int64
	for align := 1 << 15; align > 0; align /= 2 {
		for _, v := range k.shared.vars {
			if v.Align == align {
				all.Align = max(all.Align, align)
				offset[v] = end
				placed = append(placed, ir.Placed{Var: v, Offset: end})
				end += v.Size()
				all.Doc = append(all.Doc, layoutLine(v, offset[v]))
				end = (end + 15) &^ 15
			}
		}
	}
	k.shared.bytes = end
	if v := k.shared.dynamic; v != nil {
		offset[v] = end
		placed = append(placed, ir.Placed{Var: v, Offset: end})
		all.Doc = append(all.Doc, fmt.Sprintf("// %d: %s, the rest", end, v.Name))
	}
	k.m.ir.Decls = append([]ir.Decl{all}, k.m.ir.Decls...)
	k.notes.Layout = ir.Layout{Array: all, Placed: placed}
	for _, in := range k.shared.users {
		rewriteShared(in.Args, offset, all)
	}
}

// rewriteShared changes operands that name variables to offsets in the array.
func rewriteShared(list []ir.Operand, offset map[*ir.Var]int64, array *ir.Var) {
	for i := range list {
		o := &list[i]
		if v := o.Var(); v != nil {
			if off, ok := offset[v]; ok {
				o.Refer(array)
				o.Value += off
			}
		}
		rewriteShared(o.Args(), offset, array)
	}
}

// DynamicShared returns the bytes of dynamic shared memory that a launch of k must provide. The
// result is valid after [Module.Build]. Memory beyond these bytes belongs to the variable that
// the function [DynamicShared] declares.
func (k *Kernel) DynamicShared() int { return int(k.sound().shared.bytes) }
