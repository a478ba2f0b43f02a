// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"math"
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A stride is the role of an integer field that the kernel only multiplies by indexes to
// compute addresses. If the strides of an array had the same value, or zero, different elements
// would have the same address, and check would report races that no real launch has.
type stride struct {
	smaller    int    // number of smaller strides of the array
	dimensions int    // number of the array's dimensions
	unit       uint64 // the smallest stride of the array
}

// maxStrideBytes limits the distance of the last elements of an array with derived strides.
const maxStrideBytes = maxArray / 4

// value returns the value of the parameter in a launch in which each index is below extent.
// Elements with different indexes get different addresses, unless an outer index exceeds a limit
// that keeps the array small.
func (s stride) value(extent uint64) uint64 {
	n := s.unit
	for i := range s.smaller {
		e := extent
		if i > 0 {
			rest := float64(maxStrideBytes) / float64(s.unit*extent)
			e = min(e, uint64(math.Pow(max(1, rest), 1/float64(s.dimensions-1))))
		}
		n *= e
	}
	return n
}

// A product is a field, times an index, times a constant.
type product struct {
	constant uint64
	index    indexKind
}

// An indexKind is the fastest of the special registers from which an index is computed.
type indexKind uint8

const (
	indexX indexKind = iota // %tid.x or %laneid
	indexY
	indexZ
	indexOther // a block index or the counter of a loop
)

// sums maps a register to the products that its value is the sum of, by the field of each.
type sums map[*ir.Reg]map[field]product

// strides returns the parameters that are strides of arrays.
func (k *kernel) strides(copies map[*ir.Reg]field) map[field]stride {
	all := k.products(copies)
	group := make(map[field][]field)     // the strides of an array, by each of them
	fastest := make(map[field]indexKind) // index that each field multiplies
	unit := make(map[field]uint64)       // the size of the largest access, in units of the stride
	k.instructions(func(in *ir.Instr) {
		bytes := uint64(accessBytes(in))
		for i := range in.Args {
			o := &in.Args[i]
			if o.Kind != ir.Address || in.Space().Base() == isa.Shared || bytes == 0 {
				continue
			}
			for _, r := range registers(o, nil) {
				for f, p := range all[r] {
					if _, seen := fastest[f]; !seen || p.index < fastest[f] {
						fastest[f] = p.index
					}
					unit[f] = max(unit[f], bytes/p.constant, 1)
					for g := range all[r] {
						if !slices.Contains(group[f], g) {
							group[f] = append(group[f], g)
						}
					}
				}
			}
		}
	})
	found := make(map[field]stride)
	sizes := k.sizes(copies)
	for f, list := range group {
		if sizes[f] {
			continue
		}
		s := stride{dimensions: len(list)}
		for _, g := range list {
			// without other evidence, the last parameter is the smallest stride
			if cmp.Or(cmp.Compare(fastest[g], fastest[f]),
				cmp.Compare(k.position(f), k.position(g))) < 0 {
				s.smaller++
			}
			s.unit = max(s.unit, unit[g])
		}
		if len(list) == 1 { // another index may have no stride
			s.smaller, s.dimensions = 1, 2
		}
		found[f] = s
	}
	return found
}

// sizes returns the fields that the kernel compares with anything.
func (k *kernel) sizes(copies map[*ir.Reg]field) map[field]bool {
	found := make(map[field]bool)
	k.instructions(func(in *ir.Instr) {
		switch in.Kind() {
		case isa.KindSetp, isa.KindSet, isa.KindMin, isa.KindMax:
			for i := range in.Args {
				if f, ok := copies[in.Args[i].Reg]; ok {
					found[f] = true
				}
			}
		}
	})
	return found
}

// position returns the place of a field in the parameters of the kernel, for comparisons.
func (k *kernel) position(f field) int64 {
	return int64(slices.Index(k.fn.Params, f.v))<<32 + f.at
}

// accessBytes returns the number of bytes that an instruction accesses in global memory, or 0.
func accessBytes(in *ir.Instr) int {
	op := in.Form.Operation()
	switch op.Kind {
	case isa.KindLd, isa.KindSt, isa.KindAtom, isa.KindRed:
		if n := len(op.Types); n > 0 {
			return op.Types[n-1].Bits() / 8 * op.Vec
		}
	case isa.KindCpAsync:
		return 16
	}
	return 0
}

// products returns the products of fields and indexes in all registers.
func (k *kernel) products(copies map[*ir.Reg]field) sums {
	all := make(sums)
	indexes := k.indexes()
	grew := true
	add := func(to *ir.Reg, f field, p product) {
		if all[to] == nil {
			all[to] = make(map[field]product)
		}
		if _, known := all[to][f]; !known {
			all[to][f], grew = p, true
		}
	}
	for grew {
		grew = false
		k.instructions(func(in *ir.Instr) {
			if len(in.Args) < 2 || in.Args[0].Reg == nil {
				return
			}
			to, args := in.Args[0].Reg, in.Args[1:]
			merge := func(o *ir.Operand, constant uint64) {
				for f, p := range all[o.Reg] {
					add(to, f, product{p.constant * constant, p.index})
				}
			}
			switch in.Kind() {
			case isa.KindMov, isa.KindCvt, isa.KindCvtaTo, isa.KindCvta:
				merge(&args[0], 1)
			case isa.KindAdd, isa.KindSub:
				merge(&args[0], 1)
				merge(&args[1], 1)
			case isa.KindShl:
				if o := &args[1]; o.Kind == ir.Int && o.Value >= 0 && o.Value < 8 {
					merge(&args[0], 1<<o.Value)
				}
			case isa.KindMulLo, isa.KindMulWide, isa.KindMadLo, isa.KindMadWide:
				for i := range 2 {
					a, b := &args[i], &args[1-i]
					f, isCopy := copies[a.Reg]
					_, both := copies[b.Reg]
					switch {
					case b.Kind == ir.Int && b.Value > 0 && b.Value < 1<<8:
						merge(a, uint64(b.Value))
					case isCopy && b.Reg != nil && !both && all[b.Reg] == nil:
						add(to, f, product{1, indexes.kind(b.Reg)})
					}
				}
				if len(args) > 2 {
					merge(&args[2], 1)
				}
			}
		})
	}
	return all
}

// indexKinds maps the registers that are computed from special registers to the fastest of these.
type indexKinds map[*ir.Reg]indexKind

// kind returns the kind of the index in a register.
func (x indexKinds) kind(r *ir.Reg) indexKind {
	if kind, ok := x[r]; ok {
		return kind
	}
	return indexOther
}

// indexes returns the kinds of the indexes in all registers.
func (k *kernel) indexes() indexKinds {
	all := make(indexKinds)
	for grew := true; grew; {
		grew = false
		k.instructions(func(in *ir.Instr) {
			if len(in.Args) < 2 || in.Args[0].Reg == nil || !in.Has(isa.EffectPure) &&
				in.Kind() != isa.KindMov {
				return
			}
			to, kind := in.Args[0].Reg, indexOther
			for i := range in.Args[1:] {
				in.Args[1+i].Walk(func(o *ir.Operand) {
					switch {
					case o.Kind == ir.Special:
						kind = min(kind, specialIndex(o.Text()))
					case o.Reg != nil:
						kind = min(kind, all.kind(o.Reg))
					}
				})
			}
			if kind < all.kind(to) {
				all[to], grew = kind, true
			}
		})
	}
	return all
}

// specialIndex returns the kind of index that a special register is.
func specialIndex(name string) indexKind {
	switch name {
	case "%tid.x", "%laneid":
		return indexX
	case "%tid.y":
		return indexY
	case "%tid.z":
		return indexZ
	}
	return indexOther
}
