// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A field is a scalar parameter, or a member of a structure parameter at an offset in bytes.
type field struct {
	v  *ir.Var
	at int64
}

// isStructure reports whether a parameter is an array of bytes, as compilers declare structures.
func isStructure(v *ir.Var) bool { return len(v.Dims) > 0 || v.Size() > 8 }

// A fieldLoad is a load of a field into a register.
type fieldLoad struct {
	to    *ir.Reg
	field field
	typ   isa.Type
}

// fieldLoads returns the fields that an instruction loads.
func (k *kernel) fieldLoads(in *ir.Instr) (list []fieldLoad) {
	if in.Kind() != isa.KindLd || len(in.Args) < 2 {
		return nil
	}
	base, ok := k.fieldAt(&in.Args[1])
	if !ok {
		return nil
	}
	op := in.Form.Operation()
	for i, r := range registers(&in.Args[0], nil) {
		f := base
		if isStructure(f.v) {
			f.at += int64(i * op.Type().Bits() / 8)
		}
		list = append(list, fieldLoad{r, f, op.Type()})
	}
	return list
}

// fieldAt returns the field at an address operand, if it is in a parameter of the kernel at a
// constant offset.
func (k *kernel) fieldAt(o *ir.Operand) (field, bool) {
	parts := o.Args()
	if o.Kind != ir.Address || len(parts) == 0 {
		return field{}, false
	}
	f, ok := k.baseOf(&parts[0])
	if ok && !isStructure(f.v) {
		f.at = 0
	}
	return f, ok
}

// baseOf returns the field whose address an operand is, if that is known.
func (k *kernel) baseOf(o *ir.Operand) (field, bool) {
	if v := o.Var(); v != nil && v.Space.Base() == isa.Param {
		return field{v, o.Value}, true
	}
	f, ok := k.bases[o.Reg]
	f.at += o.Value
	return f, ok && f.v != nil
}

// findBases finds the registers that hold the address of a field. A register that may hold two of
// them has the base of a nil variable.
func (k *kernel) findBases() {
	k.bases = make(map[*ir.Reg]field)
	for grew := true; grew; {
		grew = false
		k.instructions(func(in *ir.Instr) {
			if len(in.Args) < 2 || in.Args[0].Reg == nil {
				return
			}
			f, ok := field{}, false
			switch in.Kind() {
			case isa.KindMov, isa.KindCvta, isa.KindCvtaTo:
				f, ok = k.baseOf(&in.Args[1])
			case isa.KindAdd:
				for i := range 2 {
					if x, y := &in.Args[1+i], &in.Args[2-i]; y.Kind == ir.Int {
						f, ok = k.baseOf(x)
						f.at += y.Value
						break
					}
				}
			}
			if !ok {
				return
			}
			to := in.Args[0].Reg
			switch known, has := k.bases[to]; {
			case !has:
				k.bases[to], grew = f, true
			case known != f && known.v != nil:
				k.bases[to], grew = field{}, true
			}
		})
	}
}

// parameter returns the field that an instruction copies to its result, or false. copies holds the
// fields of the registers that are known to be copies.
func (k *kernel) parameter(in *ir.Instr, copies map[*ir.Reg]field) (f field, ok bool) {
	switch in.Kind() {
	case isa.KindLd:
		if list := k.fieldLoads(in); len(list) == 1 {
			return list[0].field, true
		}
	case isa.KindMov, isa.KindCvt:
		f, ok = copies[in.Args[1].Reg]
	}
	return f, ok
}

// copies returns the registers that hold the value of a field.
func (k *kernel) copies() map[*ir.Reg]field {
	all := make(map[*ir.Reg]field)
	for grew := true; grew; {
		grew = false
		k.instructions(func(in *ir.Instr) {
			add := func(to *ir.Reg, f field) {
				if _, known := all[to]; !known && to != nil {
					all[to], grew = f, true
				}
			}
			if loads := k.fieldLoads(in); len(loads) > 0 {
				for _, x := range loads {
					add(x.to, x.field)
				}
			} else if len(in.Args) > 1 {
				if f, ok := k.parameter(in, all); ok {
					add(in.Args[0].Reg, f)
				}
			}
		})
	}
	return all
}

// A fieldUses tells how a kernel uses its fields.
type fieldUses struct {
	pointers map[field]bool // fields that are used as addresses
	written  map[field]bool // fields that point to arrays that the kernel may write
	guards   map[field]bool // fields that are compared with the index of a thread or a block
	floats   map[field]bool // fields that are operands of floating-point arithmetic
	strides  map[field]stride
	steps    map[field]uint64
	used     map[*ir.Var]bool // parameters that an instruction names
}

// fieldUses returns how the kernel uses its fields.
func (k *kernel) fieldUses() *fieldUses {
	k.findBases()
	pointers, from := k.pointers()
	k.waits = k.onlyPolls(from)
	copies := k.copies()
	return &fieldUses{pointers: pointers, written: k.written(from), guards: k.compared(copies),
		floats: k.floats(copies), strides: k.strides(copies), steps: k.steps(copies),
		used: k.namedParameters()}
}

// scalar returns the parameter for a field of a type.
func (k *kernel) scalar(f field, t isa.Type, uses *fieldUses) *param {
	p := &param{v: f.v, field: f, size: int64(t.Bits() / 8), typ: t, input: !uses.written[f],
		guarded: uses.guards[f], unused: !uses.used[f.v]}
	switch {
	case t == isa.F32 || t == isa.F64 || t == isa.F16 || t == isa.Bf16:
		p.kind = paramFloat
	case uses.floats[f] && t.Bits() == 32:
		p.kind, p.typ = paramFloat, isa.F32
	case uses.floats[f] && t.Bits() == 64:
		p.kind, p.typ = paramFloat, isa.F64
	case p.size == 8 && (uses.pointers[f] || f.v.Ptr != nil):
		p.kind = paramPointer
	}
	if s, ok := uses.strides[f]; ok && p.kind == paramCount {
		p.stride = &s
	}
	if !p.guarded {
		p.step = uses.steps[f]
	}
	return p
}

// steps returns the fields to which loops count, with the largest step of each, if the kernel has
// matrix products.
func (k *kernel) steps(copies map[*ir.Reg]field) map[field]uint64 {
	found, step := make(map[field]uint64), make(map[*ir.Reg]uint64)
	if !k.uses(isa.KindMma, isa.KindWgmmaMmaAsync, isa.KindTcgen05Mma) {
		return found
	}
	moves := make(map[[2]*ir.Reg]bool) // from the first register to the second
	k.instructions(func(in *ir.Instr) {
		if in.Kind() == isa.KindMov && in.Args[1].Reg != nil {
			moves[[2]*ir.Reg{in.Args[1].Reg, in.Args[0].Reg}] = true
		}
	})
	k.instructions(func(in *ir.Instr) {
		if in.Kind() != isa.KindAdd || in.Args[2].Kind != ir.Int || in.Args[2].Value <= 0 {
			return
		}
		to, from := in.Args[0].Reg, in.Args[1].Reg
		if from != nil && (to == from || moves[[2]*ir.Reg{to, from}]) {
			step[to], step[from] = uint64(in.Args[2].Value), uint64(in.Args[2].Value)
		}
	})
	k.instructions(func(in *ir.Instr) {
		if in.Kind() != isa.KindSetp {
			return
		}
		for i := range in.Args {
			f, ok := copies[in.Args[i].Reg]
			for j := range in.Args {
				if n := step[in.Args[j].Reg]; ok && n > 0 {
					found[f] = max(found[f], n)
				}
			}
		}
	})
	return found
}

// floats returns the fields that are operands of floating-point arithmetic.
func (k *kernel) floats(copies map[*ir.Reg]field) map[field]bool {
	found := make(map[field]bool)
	k.instructions(func(in *ir.Instr) {
		switch in.Kind() {
		case isa.KindAdd, isa.KindSub, isa.KindMul, isa.KindFma, isa.KindDiv:
		default:
			return
		}
		op := in.Form.Operation()
		if t := op.Type(); t != isa.F32 && t != isa.F64 {
			return
		}
		for i := range in.Args[1:] {
			if f, ok := copies[in.Args[1+i].Reg]; ok {
				found[f] = true
			}
		}
	})
	return found
}

// members returns the fields of a structure parameter that the kernel uses, in order, and whether
// it uses only these. offset is that of the structure in the parameters of the kernel.
func (k *kernel) members(v *ir.Var, offset int, uses *fieldUses) (list []*param, only bool) {
	only = true
	add := func(p *param) {
		p.offset = offset + int(p.field.at)
		if p.field.at < 0 || p.field.at+p.size > v.Size() {
			return // the kernel reads outside of the structure
		}
		list = append(list, p)
	}
	k.instructions(func(in *ir.Instr) {
		loads := k.fieldLoads(in)
		for _, x := range loads {
			if x.field.v == v {
				add(k.scalar(x.field, x.typ, uses))
			}
		}
		if len(loads) > 0 {
			return
		}
		for i := range in.Args {
			o := &in.Args[i]
			switch f, ok := k.fieldAt(o); {
			case ok && f.v == v && readsTensorMap(in):
				add(&param{v: v, field: f, size: 128, kind: paramMap})
			case k.mayRead(in, o, v):
				only = false
			}
		}
	})
	slices.SortStableFunc(list, func(a, b *param) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(b.size, a.size),
			cmp.Compare(b.kind, a.kind))
	})
	end := offset
	list = slices.DeleteFunc(list, func(p *param) bool { // parts of fields
		if p.offset < end {
			return true
		}
		end = p.offset + int(p.size)
		return false
	})
	return list, only
}

// mayRead reports whether an instruction may read a structure through an operand in a way that
// members does not understand: at an offset that varies, or in another function.
func (k *kernel) mayRead(in *ir.Instr, o *ir.Operand, v *ir.Var) (yes bool) {
	switch in.Kind() {
	case isa.KindMov, isa.KindCvta, isa.KindCvtaTo:
		return false
	case isa.KindAdd:
		if in.Args[1].Kind == ir.Int || in.Args[2].Kind == ir.Int {
			return false
		}
	}
	o.Walk(func(part *ir.Operand) {
		f, ok := k.baseOf(part)
		yes = yes || ok && f.v == v
	})
	return yes
}

// readsTensorMap reports whether an instruction reads a tensor map at an address.
func readsTensorMap(in *ir.Instr) bool {
	switch in.Kind() {
	case isa.KindCpAsyncBulkTensor, isa.KindCpReduceAsyncBulkTensor,
		isa.KindCpAsyncBulkPrefetchTensor:
		return true
	}
	return in.HasMod(isa.ModTensormap)
}
