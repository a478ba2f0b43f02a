// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"cmp"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// root returns the pointer parameter that an address is derived from, and the register that was
// indexed last.
func (t *threadEval) root(r *ir.Reg) (root, base *ir.Reg) {
	for range 64 {
		if t.pointer(r) != nil {
			return r, cmp.Or(base, r)
		}
		in := t.def(r)
		if in == nil || len(in.Args) < 2 {
			return nil, nil
		}
		switch in.Op {
		case "mad.lo.u64":
			r = in.Args[3].Reg
		case "add.u64", "add.s64", "mov.b64", "mov.u64":
			r = in.Args[1].Reg
		default:
			return nil, nil
		}
		if base == nil {
			base = r
		}
	}
	return nil, nil
}

// value evaluates a register.
func (t *threadEval) value(r *ir.Reg) worked {
	w := t.of(r)
	if w == nil {
		return worked{}
	}
	if w.worked != t.begun {
		w.worked, w.value = t.begun, worked{} // in case the register depends on itself
		w.value = t.result(w)
	}
	return w.value
}

func (t *threadEval) result(w *trackedReg) worked {
	in := w.def
	if t.work++; in == nil || in.Form == nil || t.work > mostWork {
		return worked{}
	}
	if t.when != firstTurn && (w.loop != nil || w.reg.Varies) {
		if t.when == finalIteration && w.loop != nil && w.loop.known {
			return worked{sure, w.loop.at}
		}
		return worked{}
	}
	if w.reg == t.k.warp.r {
		return worked{sure, int64(t.thread / 32)}
	}
	if w.pointer != nil {
		return worked{sure, t.base(w.reg, area{space: isa.Global, name: w.pointer.Name})}
	}
	if in.Head() == "elect" {
		if t.thread%32 == 0 {
			return worked{sure, 1}
		}
		return worked{kind: sure}
	}
	if v := variableOf(in); v != nil && v.Space == isa.Param {
		return worked{kind: given}
	}
	var args [3]worked
	for i := range min(3, len(in.Args)-1) {
		args[i] = t.operand(&in.Args[i+1])
	}
	if args == [3]worked{} {
		return worked{} // the variable is unknown
	}
	var room [8]string
	words := room[:0]
	for word := range strings.SplitSeq(in.Op, ".") {
		words = append(words, word)
	}
	return worksOut(words, args[0], args[1], args[2])
}

// operand evaluates an operand.
func (t *threadEval) operand(o *ir.Operand) worked {
	switch o.Kind {
	case ir.Register:
		return t.value(o.Reg)
	case ir.Int:
		return worked{sure, o.Value}
	case ir.Special:
		return t.special(o.Text())
	case ir.Variable:
		if v := o.Var(); v != nil && (v.Space == isa.Shared || v.Space == isa.Local || v.Space == isa.Global || v.Space == isa.Const) {
			size := v.Size()
			if v.Dims != nil && v.Dims[0] == ir.Unsized {
				size = 0
			}
			return worked{sure, o.Value + t.base(v, area{space: v.Space, name: v.Name, size: size})}
		}
	}
	return worked{}
}

// special evaluates a special register.
func (t *threadEval) special(name string) worked {
	n := t.k.threads
	if n[0] == 0 {
		n = [3]int{32, 1, 1} // large enough for the first threads
	}
	switch name {
	case "%tid.x":
		return worked{sure, int64(t.thread % n[0])}
	case "%tid.y":
		return worked{sure, int64(t.thread / n[0] % n[1])}
	case "%tid.z":
		return worked{sure, int64(t.thread / n[0] / n[1])}
	case "%laneid":
		return worked{sure, int64(t.thread % 32)}
	case "%ctaid.x", "%ctaid.y", "%ctaid.z", "%cluster_ctarank", "%clusterid.x", "%clusterid.y", "%clusterid.z", "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z":
		if t.when == anyBlock {
			return worked{}
		}
		return worked{kind: sure}
	}
	if strings.HasPrefix(name, "%n") {
		return worked{kind: given}
	}
	return worked{}
}
