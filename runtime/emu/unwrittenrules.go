// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// A passing specifies how an instruction propagates the marks of uninitialized memory to its
// results.
type passing uint8

// How marks are propagated.
const (
	passNothing  passing = iota // the instruction uses its operands
	passAll                     // a marked bit marks the result of the lane
	passLanes                   // a marked bit marks the results of all lanes
	passMoves                   // bits of some operands move with their marks
	passBits                    // each bit depends on the same bits of the operands
	passAnd                     // like passBits, but a known 0 in the other operand clears the mark
	passOr                      // like passBits, but a known 1 in the other operand clears the mark
	passUp                      // each bit depends on the same and all lower bits
	passInMemory                // loads and stores, which propagate marks themselves
)

// A markRule is the rule for an instruction kind. For passMoves, data lists the operands whose bits
// move.
type markRule struct {
	pass passing
	data []int
}

// markRules holds the rules of all kinds whose rule is not passAll.
var markRules = map[isa.Kind]markRule{
	isa.KindLd: {pass: passInMemory}, isa.KindLdu: {pass: passInMemory},
	isa.KindSt: {pass: passInMemory}, isa.KindLdmatrix: {pass: passInMemory},
	isa.KindMov: {passMoves, []int{1}}, isa.KindShfl: {passMoves, []int{1}},
	isa.KindPrmt: {passMoves, []int{1, 2}}, isa.KindMovmatrix: {passMoves, []int{1}},
	isa.KindShl: {passMoves, []int{1}}, isa.KindShr: {passMoves, []int{1}},
	isa.KindShfL: {passMoves, []int{1, 2}}, isa.KindShfR: {passMoves, []int{1, 2}},
	isa.KindBfe:  {passMoves, []int{1}},
	isa.KindSelp: {passMoves, []int{1, 2}}, isa.KindCvt: {passMoves, []int{1}},
	isa.KindNot: {pass: passBits}, isa.KindXor: {pass: passBits}, isa.KindLop3: {pass: passBits},
	isa.KindAnd: {pass: passAnd}, isa.KindOr: {pass: passOr},
	isa.KindAdd: {pass: passUp}, isa.KindSub: {pass: passUp}, isa.KindMulLo: {pass: passUp},
	isa.KindMulWide: {pass: passUp}, isa.KindMadLo: {pass: passUp}, isa.KindMadWide: {pass: passUp},

	isa.KindCvta: {pass: passAll}, isa.KindCvtaTo: {pass: passAll}, isa.KindMapa: {pass: passAll},
	isa.KindIsspacep: {pass: passAll}, isa.KindGetctarank: {pass: passAll},
	isa.KindVote: {pass: passLanes}, isa.KindMatch: {pass: passLanes},
	isa.KindRedux: {pass: passLanes}, isa.KindMma: {pass: passLanes},
	isa.KindWmmaMma: {pass: passLanes},
}

// ruleOf returns the rule by which an instruction propagates marks.
func ruleOf(w *warp, in *ir.Instr) markRule {
	kind := in.Form.Form.Kind
	r, ok := markRules[kind]
	if !ok {
		if w.block.grid.image.module.entries[kind].make == nil {
			r.pass = passAll // arithmetic
		}
		return r
	}
	switch kind {
	case isa.KindAdd, isa.KindSub, isa.KindMadLo, isa.KindCvt:
		op := in.Form.Operation()
		if !op.Type().Whole() || op.Has(isa.ModSat) || kind == isa.KindCvt && !integers(in) {
			r.pass = passAll
		}
	}
	return r
}

// integers reports whether all types of a conversion are integer types.
func integers(in *ir.Instr) bool {
	op := in.Form.Operation()
	for _, m := range op.Mods() {
		if t, ok := isa.ParseType(m.String()); ok && !t.Whole() {
			return false
		}
	}
	return true
}

// passMarks returns the marks of the results of a command whose operands have marks in some lanes.
func (w *warp) passMarks(in *command, rule markRule, mask, lanes uint32, sources,
	results []markKey) ([]eval.Vector, action) {
	pass := rule.pass
	// Lanes of a shfl may be at other instructions, which must run only once.
	if pass == passMoves && (in.meets == nil || w.cur.mask == w.live) {
		if moved, ok := w.movedKeys(in.at, rule, mask); ok {
			return w.replay(in, mask, moved, results)
		}
	}
	if pass == passMoves {
		pass = passAll
		if in.meets != nil || in.at.Form.Form.Kind == isa.KindMovmatrix {
			pass = passLanes
		}
	}
	marks := make([]eval.Vector, len(results))
	if pass == passLanes {
		lanes = mask
	}
	for i, k := range results {
		if pass == passAll || pass == passLanes || len(results) > 1 ||
			k.pred && pass != passAnd && pass != passOr {
			marks[i] = *every(k, lanes)
			continue
		}
		marks[i] = w.bitwise(in.at, pass, sources)
		all := every(k, full)
		for l := range marks[i] {
			if pass == passUp {
				marks[i][l] |= -marks[i][l]
			}
			marks[i][l] &= all[l]
		}
	}
	return marks, advance
}

// movedKeys returns the registers whose bits a command moves. ok is false if another operand is
// marked in these lanes, or another operand is also one of these registers.
func (w *warp) movedKeys(in *ir.Instr, rule markRule, mask uint32) (list []markKey, ok bool) {
	f := w.cur.frame
	var others []markKey
	for i := range in.Args {
		o := &in.Args[i]
		switch {
		case i < len(in.Form.Args) && in.Form.Args[i].Access == isa.Write:
		case slices.Contains(rule.data, i):
			list = f.program.keys(list, o)
		default:
			others = f.program.keys(others, o)
		}
	}
	for _, k := range others {
		if v := f.unwritten.get(k); marked(&v)&mask != 0 || slices.Contains(list, k) {
			return nil, false
		}
	}
	return list, !slices.ContainsFunc(list, func(k markKey) bool { return k.pred })
}

// bitwise returns the marks of a result whose bits depend on the same bits of the operands.
func (w *warp) bitwise(in *ir.Instr, pass passing, sources []markKey) (v eval.Vector) {
	f := w.cur.frame
	for _, k := range sources {
		x := f.unwritten.get(k)
		for l := range v {
			v[l] |= x[l]
		}
	}
	if pass != passAnd && pass != passOr || len(in.Args) != 3 {
		return v
	}
	// An unmarked bit that decides the result: 0 for and, 1 for or.
	for i := 1; i < 3; i++ {
		value, marks, ok := f.operand(&in.Args[i])
		if !ok {
			continue
		}
		for l := range v {
			decides := value[l]
			if pass == passAnd {
				decides = ^decides
			}
			v[l] &^= decides &^ marks[l]
		}
	}
	return v
}

// operand returns the value and the marks of an operand that is a register or a constant.
func (f *frame) operand(o *ir.Operand) (value, marks eval.Vector, ok bool) {
	switch o.Kind {
	case ir.Register:
		keys := f.program.keys(nil, o)
		if len(keys) == 1 && !keys[0].pred && o.Value == 0 && !o.Minus {
			return f.regs[keys[0].index], f.unwritten.get(keys[0]), true
		}
		if len(keys) == 1 && keys[0].pred {
			holds := f.preds[keys[0].index]
			if o.Not {
				holds = ^holds
			}
			for l := range value {
				value[l] = uint64(holds >> l & 1)
			}
			return value, f.unwritten.get(keys[0]), true
		}
	case ir.Int:
		for l := range value {
			value[l] = uint64(o.Value)
		}
		return value, marks, true
	}
	return value, marks, false
}
