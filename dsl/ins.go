// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"math"
	"reflect"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl/internal/source"
	"github.com/ptxdsl/ptxdsl/internal/slab"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// Ins appends an instruction given as text: the opcode with all modifiers, and the operands in
// PTX order. An operand is a value, an address, a vector, a label, a Go number, the name of a
// special register (a string that begins with %), or a slice of operands for {a, b}. The
// instruction is checked against the instruction set, as those of other builder calls are.
//
//	k.Ins("wgmma.fence.sync.aligned")
//	k.Ins("ld.global.v4.f32", []dsl.Operand{a, b, c, d}, dsl.At(p, 16))
func (k *Kernel) Ins(op string, operands ...any) {
	k = k.sound()
	if !k.isBareOpcode(op) {
		return
	}
	kind := isa.KindOf(op)
	k.noteBarrierNumber(kind, op, operands)
	if kind == isa.KindCall {
		k.noteExit() // the callee may end the thread
	}
	args := make([]ir.Operand, 0, 8)
	for i, x := range operands {
		if x == nil {
			continue // an omitted optional operand
		}
		o, ok := k.anyOperand(x)
		if !ok {
			k.noOperand(i, op, x)
		}
		args = append(args, o)
	}
	in := k.ins(op, args...)
	k.checkWrites(in)
	k.checkTypes(in, operands)
}

// checkWrites reports an instruction written with Ins that modifies a register whose value must
// not change.
func (k *Kernel) checkWrites(in *ir.Instr) {
	if in.Form == nil {
		return
	}
	in.Registers(func(r *ir.Reg, a isa.Access) {
		if a != isa.Read && !r.Varies {
			k.m.faultAt(in.Pos, &ruleValue,
				"%s writes to a value that is not a variable; create the destination with NewReg or Var, or use Result",
				in.Op)
		}
	})
}

// isBareOpcode reports whether op consists of an opcode only, without guard or operands, and
// records a finding if not.
func (k *Kernel) isBareOpcode(op string) bool {
	switch at := strings.IndexAny(op, " \t\n,;@[]{}()"); {
	case strings.HasPrefix(op, "@"):
		k.fault(&ruleOperand,
			"%q has a guard; Ins takes the opcode only, use k.When(p, func() { ... })", op)
	case at >= 0:
		k.fault(&ruleOperand,
			"%q is more than an opcode; Ins takes %q and the operands as Go values", op, op[:at])
	default:
		return true
	}
	return false
}

// noOperand reports operand i of an instruction, a Go value that cannot be an operand.
func (k *Kernel) noOperand(i int, op string, x any) {
	if s, ok := x.(string); ok {
		hint := "pass a variable or register as a Go value"
		if isa.KindOf(op) == isa.KindBra {
			hint = "pass a label from NewLabel"
		}
		k.fault(&ruleOperand,
			"operand %d of %s is a Go string; %q is not a special register (such as %%tid.x), %s",
			i+1, op, s, hint)
		return
	}
	k.fault(&ruleOperand, "operand %d of %s has the Go type %T, which is not an operand", i+1, op,
		x)
}

// Result appends an instruction given as text, as Ins does, with a new register as first operand,
// and returns that register. It is for instructions that have no builder method.
//
//	// (x & 0x000f000f) | 0x64006400
//	y := dsl.Result[dsl.U32](k, "lop3.b32", x, 0x000f000f, 0x64006400, 0xea)
func Result[T Scalar](k *Kernel, op string, operands ...any) Reg[T] {
	k = k.sound()
	d := fresh[T](k)
	d.r.Varies = true // the instruction writes the register
	k.Ins(op, append([]any{d}, operands...)...)
	d.r.Varies = false
	return d
}

// anyOperand converts a Go value to an operand of an instruction.
func (k *Kernel) anyOperand(x any) (ir.Operand, bool) {
	switch x := x.(type) {
	case Operand:
		return k.arg(x), true
	case int:
		return ir.Operand{Kind: ir.Int, Value: int64(x)}, true
	case int32:
		return ir.Operand{Kind: ir.Int, Value: int64(x)}, true
	case int64:
		return ir.Operand{Kind: ir.Int, Value: x}, true
	case uint32:
		return ir.Operand{Kind: ir.Int, Value: int64(x)}, true
	case uint64:
		return ir.Operand{Kind: ir.Int, Value: int64(x)}, true
	case float32:
		return ir.Operand{Kind: ir.Single, Value: int64(math.Float32bits(x))}, true
	case float64:
		return ir.Operand{Kind: ir.Double, Value: int64(math.Float64bits(x))}, true
	case string:
		if strings.HasPrefix(x, "%") {
			k.checkSpecial(x)
			return k.special(x), true
		}
	case *Label:
		if k.checkLabel(x) {
			return k.naming(ir.Jump, x.block, 0), true
		}
		return ir.Operand{}, true
	case *Func:
		return k.function(x)
	case []Operand:
		list := make([]ir.Operand, len(x))
		for i := range x {
			list[i] = k.arg(x[i])
		}
		return k.list(ir.Vector, list), true
	case []any:
		list := make([]ir.Operand, len(x))
		for i := range x {
			o, ok := k.anyOperand(x[i])
			if !ok {
				return o, false
			}
			list[i] = o
		}
		return k.list(ir.Vector, list), true
	}
	// A slice of values of one type is a vector operand.
	if v := reflect.ValueOf(x); v.IsValid() && v.Kind() == reflect.Slice {
		list := make([]ir.Operand, v.Len())
		for i := range list {
			o, ok := v.Index(i).Interface().(Operand)
			if !ok {
				return ir.Operand{}, false
			}
			list[i] = k.arg(o)
		}
		return k.list(ir.Vector, list), true
	}
	return ir.Operand{}, false
}

// checkSpecial reports a name that is not a special register, or is not available on the target.
func (k *Kernel) checkSpecial(name string) {
	base, _, dotted := strings.Cut(name, ".")
	if s, ok := isa.SpecialRegister(base); ok {
		switch v := k.m.version(); {
		case !s.Gate.Open(v, k.m.ir.Target):
			k.fault(&ruleLacks, "%s with PTX %s does not support %s, which needs %s", k.m.Target(),
				v, name, s.Gate)
		case dotted && !s.Vector:
			k.fault(&ruleOperand, "%s has no components, got %s", base, name)
		case !dotted && s.Vector:
			k.fault(&ruleOperand, "%s is a vector; use a component such as %s.x", name, name).
				withFix(source.ReplaceString(name, name+".x"))
		}
		return
	}
	if _, ok := isa.SpecialRegister("%" + base); ok {
		k.fault(&ruleOperand, "%s is not a special register; did you mean %%%s?", name, name).
			withFix(source.ReplaceString(name, "%"+name))
		return
	}
	names := make([]string, len(isa.Specials))
	for i := range isa.Specials {
		names[i] = isa.Specials[i].Name
	}
	hint := "; other registers are Go values from Var or NewReg"
	var fix source.Edit
	if near := diag.Nearest(base, names); near != "" {
		hint = "; did you mean " + near + "?"
		fix = source.ReplaceString(name, near+strings.TrimPrefix(name, base))
	}
	k.fault(&ruleOperand, "%s is not a special register%s", name, hint).withFix(fix)
}

// vector returns the operand {list}. It copies the list.
func (k *Kernel) vector(list ...ir.Operand) ir.Operand {
	return k.list(ir.Vector, slab.Copy(&k.args, list))
}

// list returns an operand of the given kind with several parts. It keeps the slice parts.
func (k *Kernel) list(kind ir.Kind, parts []ir.Operand) ir.Operand {
	more := slab.One(&k.mores)
	more.Args = parts
	return ir.Operand{Kind: kind, More: more}
}

// naming returns an operand that refers to a symbol plus an offset.
func (k *Kernel) naming(kind ir.Kind, ref ir.Ref, offset int64) ir.Operand {
	more := slab.One(&k.mores)
	more.Ref = ref
	return ir.Operand{Kind: kind, Value: offset, More: more}
}

// pairOperand returns the operand a|b.
func (k *Kernel) pairOperand(a, b ir.Operand) ir.Operand {
	parts := slab.Many(&k.args, 2)
	parts[0], parts[1] = a, b
	return k.list(ir.Pair, parts)
}

// special returns a special register as an operand.
func (k *Kernel) special(name string) ir.Operand {
	more := slab.One(&k.mores)
	more.Text = name
	return ir.Operand{Kind: ir.Special, More: more}
}

// List returns the values as a vector operand {a, b}, for Ins.
func List[T Scalar](values ...Reg[T]) []Operand {
	list := make([]Operand, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

// A constOperand is an operand that does not depend on the kernel.
type constOperand ir.Operand

func (p constOperand) operand(*Kernel) (ir.Operand, bool) { return ir.Operand(p), true }

// Sink is the operand _, which discards a result.
var Sink Operand = constOperand{Kind: ir.Sink}

// NotP returns the negated predicate operand !p.
func NotP(p Reg[Pred]) Operand { return negated{p} }

type negated struct{ p Reg[Pred] }

func (n negated) operand(k *Kernel) (ir.Operand, bool) {
	o, ok := n.p.register().operand(k)
	o.Not = true
	return o, ok
}

// Pair returns the operand a|b.
func Pair(a, b Operand) Operand { return pair{a, b} }

type pair struct{ a, b Operand }

func (p pair) operand(k *Kernel) (ir.Operand, bool) {
	a, ok1 := k.operandOf(p.a)
	b, ok2 := k.operandOf(p.b)
	return k.pairOperand(a, b), ok1 && ok2
}
