// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A param is a parameter of a kernel, or a field of a structure parameter.
type param struct {
	v      *ir.Var
	field  field
	size   int64    // in bytes
	typ    isa.Type // type of a scalar
	offset int      // in the parameters of the kernel
	kind   paramKind
	fields []*param // of a structure: the fields that the kernel uses

	input   bool // the kernel only reads the array that it points to, by weak loads and copies
	guarded bool // the kernel compares a thread index with the parameter
	unused  bool // no instruction reads the parameter
	stride  *stride
	step    uint64   // by which a loop counts to the parameter, if the kernel has matrix products
	boxes   []*param // the tensor maps whose boxes have this number of bytes
	box     int64    // bytes of the box of a tensor map, from the bytes that mbarriers expect; or 0
}

// A paramKind is the assumed kind of a parameter.
type paramKind uint8

const (
	paramCount paramKind = iota
	paramFloat
	paramPointer
	paramMap
	paramBytes
)

// derive fills in the missing fields of the launch from what the kernel declares and uses.
func (k *kernel) derive() {
	if k.options.Launch != nil {
		k.shape = *k.options.Launch
	}
	s := &k.shape
	if s.Cluster[0] == 0 {
		if d, ok := k.attribute(".reqnctapercluster"); ok {
			s.Cluster = d
		} else if k.uses(isa.KindBarrierClusterArrive) {
			s.Cluster = twoBlocks
		}
	}
	if s.Block[0] == 0 {
		if d, ok := k.attribute(".reqntid"); ok {
			s.Block = d
		} else {
			s.Block = k.firstBlock()
			k.guessedBlock = true
		}
	}
	if s.Grid[0] == 0 {
		// If the kernel does not read its block index, all blocks do the same work, so one block is
		// launched.
		s.Grid = [3]uint32{1, 1, 1}
		y := k.mentions("%ctaid.y")
		if y {
			s.Grid[1] = 2
		}
		if k.mentions("%ctaid.x") || !y && (k.mentions("%ctaid") || k.mentions("%clusterid")) ||
			k.addsToGlobal() {
			s.Grid[0] = 2
		}
		if s.Cluster[0] != 0 {
			for i := range 3 {
				s.Grid[i] *= max(1, s.Cluster[i])
			}
		}
	}
	if s.Shared == 0 {
		for _, v := range k.namedVariables() {
			if v.Space.Base() == isa.Shared && v.Size() == 0 {
				s.Shared = dynamicShared
				k.guessedShared = true
			}
		}
	}
	k.classify()
	k.oneThread = k.guessedBlock && !k.readsThread()
	k.oneBlock = !k.usesBlockIndex() && (!k.betweenBlocks() || k.oneThread)
	for _, p := range k.leaves {
		if p.kind == paramMap && len(s.Args) == 0 {
			b := p.noted()
			k.guessedBox = k.guessedBox || b.Sizes == nil || b.Element == 0
			k.guessedBytes = k.guessedBytes || b.Bytes == 0
		}
	}
}

// twoBlocks is a cluster for a kernel that does not declare a size.
var twoBlocks = [3]uint32{2, 1, 1}

// dynamicShared is the size of dynamic shared memory if the launch does not specify it. If accesses
// are out of bounds, it is raised to the maximum of the target.
const dynamicShared = 40 << 10

// variables returns the variables of the module and of its functions.
func (k *kernel) variables() (list []*ir.Var) {
	for _, d := range k.module.Decls {
		if v, ok := d.(*ir.Var); ok {
			list = append(list, v)
		}
	}
	for _, f := range k.functions {
		list = append(list, f.Vars...)
	}
	return list
}

// attribute returns the dimensions that a directive of the kernel declares.
func (k *kernel) attribute(name string) (d [3]uint32, ok bool) {
	a := k.fn.Attr(name)
	if a == nil {
		return d, false
	}
	d = [3]uint32{1, 1, 1}
	for i, word := range strings.FieldsFunc(a.Text,
		func(r rune) bool { return r == ',' || r == ' ' }) {
		if n, err := strconv.ParseUint(word, 0, 32); err == nil && i < 3 {
			d[i] = uint32(n)
		}
	}
	return d, true
}

// instructions calls f for each instruction of all functions.
func (k *kernel) instructions(f func(in *ir.Instr)) {
	for _, fn := range k.functions {
		if fn.Kernel && fn != k.fn {
			continue
		}
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if !in.Directive() && in.Form != nil {
					f(in)
				}
			}
		}
	}
}

// uses reports whether the kernel has an instruction of one of the given kinds.
func (k *kernel) uses(kinds ...isa.Kind) (yes bool) {
	k.instructions(func(in *ir.Instr) {
		for _, x := range kinds {
			yes = yes || in.Form.Form.Kind == x
		}
	})
	return yes
}

// addsToGlobal reports whether the kernel may have atomic operations on global memory.
func (k *kernel) addsToGlobal() (yes bool) {
	k.instructions(func(in *ir.Instr) {
		switch op := in.Form.Operation(); op.Kind {
		case isa.KindAtom, isa.KindRed:
			yes = yes || op.Space.Base() != isa.Shared
		}
	})
	return yes
}

// betweenBlocks reports whether the kernel has operations that are useful only between blocks:
// atomic operations on global memory, or operations whose scope includes the whole grid.
func (k *kernel) betweenBlocks() (yes bool) {
	k.instructions(func(in *ir.Instr) {
		op := in.Form.Operation()
		switch op.Kind {
		case isa.KindAtom, isa.KindRed:
			yes = yes || op.Space.Base() == isa.Global && op.Scope != isa.ScopeCTA
		}
		yes = yes || op.Scope == isa.ScopeGPU && op.Order > isa.Weak
	})
	return yes
}

// meetsInGroups reports whether the kernel has a barrier for only some threads of a block. Which
// threads arrive there together may depend on the schedule.
func (k *kernel) meetsInGroups() (yes bool) {
	k.instructions(func(in *ir.Instr) {
		yes = yes || in.Form.Form.Kind == isa.KindBarrierSync && len(in.Args) > 1
	})
	return yes
}

// betweenDevices reports whether the kernel synchronizes with other devices: it has operations on
// multicast memory, or releases and acquires at system scope.
func (k *kernel) betweenDevices() (yes bool) {
	k.instructions(func(in *ir.Instr) {
		op := in.Form.Operation()
		switch op.Kind {
		case isa.KindMultimemLdReduce, isa.KindMultimemRed, isa.KindMultimemSt:
			yes = true
		}
		yes = yes || op.Scope == isa.ScopeSys && op.Order >= isa.Relaxed
	})
	return yes
}

// maxFirstTrial limits the first value tried for integer parameters of a kernel with at least three
// of them, such as a matrix product: its work grows with the product of the sizes.
const maxFirstTrial = 512

// classify determines the kind of each parameter. A 64-bit parameter is a pointer if it is used
// as an address.
func (k *kernel) classify() {
	uses := k.fieldUses()
	at := 0
	for _, v := range k.fn.Params {
		align := max(1, int(v.Alignment()))
		at = (at + align - 1) / align * align
		var p *param
		switch {
		case len(v.Dims) > 0 && v.Size() == 128 && align >= 64:
			p = &param{kind: paramMap}
		case isStructure(v):
			p = &param{kind: paramBytes, unused: !uses.used[v]}
			if len(k.shape.Args) == 0 {
				var only bool
				p.fields, only = k.members(v, at, uses)
				if !only {
					k.structure = v.Name
				}
			}
		default:
			p = k.scalar(field{v, 0}, v.Type, uses)
		}
		p.v, p.size, p.offset = v, v.Size(), at
		k.params = append(k.params, p)
		if k.leaves = append(k.leaves, p.fields...); p.kind != paramBytes {
			k.leaves = append(k.leaves, p)
		}
		at += int(v.Size())
	}
	k.findTransactions()
	for _, p := range k.leaves {
		k.inStructure = k.inStructure || isStructure(p.v) && p.isSize() && !p.guarded
	}
}

// origins maps registers to the fields from which they are computed by copies and additions.
type origins map[*ir.Reg]map[field]bool

// pointers returns the fields that are used as global addresses, directly or after copies and
// additions.
func (k *kernel) pointers() (found map[field]bool, from origins) {
	from, found = make(origins), make(map[field]bool)
	add := func(to *ir.Reg, fields map[field]bool) (grew bool) {
		for f := range fields {
			if from[to] == nil {
				from[to] = make(map[field]bool)
			}
			if !from[to][f] {
				from[to][f], grew = true, true
			}
		}
		return grew
	}
	for grew := true; grew; {
		grew = false
		k.instructions(func(in *ir.Instr) {
			if len(in.Args) < 2 {
				return
			}
			to := in.Args[0].Reg
			switch in.Form.Form.Kind {
			case isa.KindLd:
				for _, x := range k.fieldLoads(in) {
					grew = add(x.to, map[field]bool{x.field: true}) || grew
				}
			case isa.KindMov, isa.KindCvtaTo, isa.KindCvta, isa.KindAdd, isa.KindSub, isa.KindMadLo,
				isa.KindMadWide:
				for i := range in.Args[1:] {
					o := &in.Args[1+i]
					wide := in.Form.Form.Kind != isa.KindMadWide || i == 2
					if to != nil && to.Type.Bits() == 64 && o.Reg != nil && wide {
						grew = add(to, from[o.Reg]) || grew
					}
				}
			}
		})
	}
	k.instructions(func(in *ir.Instr) {
		mark := func(r *ir.Reg) {
			for f := range from[r] {
				found[f] = true
			}
		}
		if replacesAddress(in) {
			mark(in.Args[len(in.Args)-1].Reg)
		}
		if in.Form.Form.Kind == isa.KindCvtaTo && len(in.Args) > 1 && in.Args[1].Reg != nil {
			mark(in.Args[1].Reg)
		}
		for i := range in.Args {
			if o := &in.Args[i]; o.Kind == ir.Address {
				if parts := o.Args(); len(parts) > 0 && parts[0].Reg != nil &&
					len(from[parts[0].Reg]) == 1 {
					mark(parts[0].Reg)
				}
			}
		}
	})
	return found, from
}

// replacesAddress reports whether an instruction stores an address in a tensor map.
func replacesAddress(in *ir.Instr) bool {
	return in.Form.Form.Kind == isa.KindTensormapReplace && in.HasMod(isa.ModGlobalAddress)
}
