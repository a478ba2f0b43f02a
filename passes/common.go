// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

func mergeCommon() *Pass {
	return &Pass{
		Name:  "merge-common",
		Doc:   "removes common subexpressions within a block. If two instructions read the same operands and have no effect except their result, the second one is removed.",
		Edits: true,
		Run: func(s *Step) {
			for _, f := range s.Module.Funcs() {
				for {
					n := common(f)
					s.Changes += n
					if n == 0 {
						break
					}
					trim(f)
				}
			}
		},
	}
}

// common performs one iteration. Expressions that become equal because their operands were merged
// are found in the next iteration.
func common(f *ir.Func) int {
	d := defsOf(f)
	names := make(map[*ir.Reg]int, len(f.Regs))
	for i, r := range f.Regs {
		names[r] = i
	}
	gone := make(map[*ir.Instr]bool)
	instead := make(map[*ir.Reg]*ir.Reg)
	for _, b := range f.Blocks {
		known := make(map[string]*ir.Reg)
		for _, in := range b.Instrs {
			if !isRepeatable(in, d) {
				continue
			}
			r := in.Args[0].Reg
			key := keyOf(in, names, instead)
			first := known[key]
			if first == nil || first.Type != r.Type || first.Vec != r.Vec {
				known[key] = r
				continue
			}
			instead[r] = first
			gone[in] = true
		}
	}
	if len(gone) == 0 {
		return 0
	}
	for r, first := range instead {
		for _, u := range d.uses[r] {
			if u.at == nil {
				u.in.Guard.Reg = first
			} else {
				u.at.Reg = first
			}
		}
	}
	dropInstrs(f, gone)
	return len(gone)
}

// isRepeatable reports whether the only effect of an instruction is to write one register, and
// executing it again gives the same value, because its operands have one value.
func isRepeatable(in *ir.Instr, d *defs) bool {
	if in.Directive() || in.Form == nil || in.Guard.Reg != nil || len(in.Args) < 2 ||
		!hasNoEffect(in) ||
		in.HasMod(isa.ModCC) {
		return false
	}
	switch in.Kind().Head() {
	case isa.HeadAddc, isa.HeadSubc, isa.HeadMadc, isa.HeadLd, isa.HeadActivemask:
		return false
	}
	r := wholeRegister(&in.Args[0])
	if r == nil || d.writer[r] != in || resultOf(in, 1) {
		return false
	}
	same := true
	for i := range in.Args[1:] {
		in.Args[1+i].Walk(func(o *ir.Operand) {
			switch {
			case o.Kind == ir.Special:
				same = same && isConstantSpecial(o.Text())
			case o.Reg != nil:
				same = same && d.writer[o.Reg] != nil
			}
		})
	}
	return same
}

// isConstantSpecial reports whether a special register keeps its value while a kernel runs.
func isConstantSpecial(name string) bool {
	for _, stem := range []string{"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid"} {
		if name == stem || strings.HasPrefix(name, stem+".") {
			return true
		}
	}
	return false
}

// keyOf returns a key for the opcode and operands of an instruction.
func keyOf(in *ir.Instr, names map[*ir.Reg]int, instead map[*ir.Reg]*ir.Reg) string {
	var b strings.Builder
	b.WriteString(in.Op)
	for i := range in.Args[1:] {
		in.Args[1+i].Walk(func(o *ir.Operand) {
			ref := o.Ref()
			if r := o.Reg; r != nil {
				if first := instead[r]; first != nil {
					r = first
				}
				fmt.Fprintf(&b, " r%d", names[r])
				ref = nil
			}
			fmt.Fprintf(&b, " %d,%t,%t,%d,%q,%d,%p", o.Kind, o.Not, o.Minus, o.Value, o.Text(),
				len(o.Args()), ref)
		})
	}
	return b.String()
}
