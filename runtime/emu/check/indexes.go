// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// callees returns a kernel and the functions that it may call: all functions of the module if it
// calls through a register.
func callees(kernel *ir.Func, all []*ir.Func) []*ir.Func {
	list := []*ir.Func{kernel}
	for i := 0; i < len(list); i++ {
		for _, b := range list[i].Blocks {
			for _, in := range b.Instrs {
				direct := in.Kind() != isa.KindCall
				for j := range in.Args {
					in.Args[j].Walk(func(o *ir.Operand) {
						if f, ok := o.Ref().(*ir.Func); ok {
							direct = true
							if !slices.Contains(list, f) {
								list = append(list, f)
							}
						}
					})
				}
				if !direct {
					return all
				}
			}
		}
	}
	return list
}

// operands calls f for each operand of all functions that the kernel may call, and for each part of
// one.
func (k *kernel) operands(f func(o *ir.Operand)) {
	for _, fn := range k.functions {
		if !fn.Kernel || fn == k.fn {
			fn.Operands(f)
		}
	}
}

// mentions reports whether an operand is a special register, or a component of it.
func (k *kernel) mentions(name string) (yes bool) {
	k.operands(func(o *ir.Operand) {
		yes = yes || o.Kind == ir.Special &&
			(o.Text() == name || strings.HasPrefix(o.Text(), name+"."))
	})
	return yes
}

// readsThread reports whether threads of a block can be told apart: the kernel reads the index of a
// thread, or elects one.
func (k *kernel) readsThread() (yes bool) {
	k.operands(func(o *ir.Operand) {
		if o.Kind != ir.Special {
			return
		}
		name := o.Text()
		yes = yes || strings.HasPrefix(name, "%tid") || name == "%laneid" || name == "%warpid" ||
			strings.HasPrefix(name, "%lanemask")
	})
	return yes || k.uses(isa.KindElect)
}

// blockIndex reports whether a special register differs between blocks.
func blockIndex(o *ir.Operand) bool {
	if o.Kind != ir.Special {
		return false
	}
	name := o.Text()
	return strings.HasPrefix(name, "%ctaid") || strings.HasPrefix(name, "%clusterid") ||
		strings.HasPrefix(name, "%cluster_cta")
}

// dependsOnGrid reports whether a grid of more blocks may show more: the blocks synchronize, and
// read their number or number themselves, or the kernel splits its block index into a row and a
// column of fixed size.
func (k *kernel) dependsOnGrid() bool {
	if k.betweenBlocks() && (k.readsBlockCount() ||
		!k.mentions("%ctaid") && k.shape.Grid[0] > 1) {
		return true
	}
	return !k.varies() && k.shape.Cluster[0] == 0 && k.splitsBlockIndex()
}

// splitsBlockIndex reports whether the kernel divides the index of its block by a constant.
func (k *kernel) splitsBlockIndex() (yes bool) {
	index := make(map[*ir.Reg]bool)
	k.instructions(func(in *ir.Instr) {
		if in.Kind() == isa.KindMov && len(in.Args) == 2 && in.Args[0].Reg != nil &&
			blockIndex(&in.Args[1]) {
			index[in.Args[0].Reg] = true
		}
	})
	k.instructions(func(in *ir.Instr) {
		switch in.Kind() {
		case isa.KindAnd, isa.KindShr, isa.KindDiv, isa.KindRem:
			yes = yes || len(in.Args) == 3 && index[in.Args[1].Reg] && in.Args[2].Kind == ir.Int
		}
	})
	return yes
}

// usesBlockIndex reports whether the index of a block may reach an address, a branch or a stored
// value. A kernel that only prints its block index may be written for one block.
func (k *kernel) usesBlockIndex() (yes bool) {
	if !k.mentions("%ctaid") && !k.mentions("%clusterid") {
		return false
	}
	tainted := make(map[*ir.Reg]bool)
	private := k.privateStores()
	for grew := true; grew && !yes; {
		grew = false
		k.instructions(func(in *ir.Instr) {
			if !yes && reads(in, tainted) {
				switch {
				case private && in.Kind() == isa.KindSt &&
					(in.Space().Base() == isa.Local || in.Space().Base() == isa.Param):
				case !in.Has(isa.EffectPure) && in.Kind() != isa.KindMov ||
					in.Kind() == isa.KindSetp || in.Guard.Reg != nil && tainted[in.Guard.Reg]:
					yes = true
				}
				in.Registers(func(r *ir.Reg, a isa.Access) {
					if a != isa.Read && !tainted[r] {
						tainted[r], grew = true, true
					}
				})
			}
		})
	}
	return yes
}

// reads reports whether an instruction reads the index of a block or one of some registers.
func reads(in *ir.Instr, tainted map[*ir.Reg]bool) (yes bool) {
	for i := range in.Args {
		in.Args[i].Walk(func(o *ir.Operand) { yes = yes || blockIndex(o) })
	}
	in.Registers(func(r *ir.Reg, a isa.Access) { yes = yes || a != isa.Write && tainted[r] })
	return yes
}

// privateStores reports whether only system calls such as vprintf read what the kernel stores to
// local memory and to parameters: it loads from neither, and calls no function with a body.
func (k *kernel) privateStores() bool {
	for _, f := range k.functions {
		if f != k.fn && f.Defined {
			return false
		}
	}
	private := true
	k.instructions(func(in *ir.Instr) {
		if in.Kind() == isa.KindLd {
			s := in.Space().Base()
			private = private && s != isa.Local && s != isa.Generic
		}
	})
	return private
}
