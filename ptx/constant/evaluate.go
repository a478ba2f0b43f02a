// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package constant

import (
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A fault reports a mistake at an operand. An argument of the message is a text, or an operand that
// stands for its text in the source.
type fault func(at *ptx.Operand, message string, args ...any)

// Evaluate evaluates a constant expression and passes mistakes to report. An argument of a message
// is a string, or a [*ptx.Operand] that stands for its text in the source.
func Evaluate(o *ptx.Operand, report func(at *ptx.Operand, message string, args ...any)) Value {
	return fault(report).evaluate(o)
}

func (f fault) evaluate(o *ptx.Operand) Value {
	switch o.Kind {
	case ptx.Literal, ptx.Name:
		v, over, ok := Number(o.Text)
		if !ok {
			f(o, "%s is not a constant", o.Text)
			return Value{}
		}
		if over {
			f(o, "constant %s does not fit into 64 bits", o.Text)
			return Value{}
		}
		return v
	case ptx.Paren:
		if len(o.Args) == 1 {
			return f.evaluate(&o.Args[0])
		}
	case ptx.Cast:
		return f.cast(o)
	case ptx.Unary:
		return f.unary(o)
	case ptx.Binary:
		return f.binary(o)
	case ptx.Cond:
		return f.conditional(o)
	}
	f(o, "%s is not a constant expression", o)
	return Value{}
}

func (f fault) cast(o *ptx.Operand) Value {
	v := f.evaluate(&o.Args[0])
	to := isa.S64
	switch o.Text {
	case ".s64":
	case ".u64":
		to = isa.U64
	default:
		f(o, "a constant cannot be cast to %s; the casts are (.s64) and (.u64)", o.Text)
		return Value{}
	}
	if v.Type == 0 || !f.wantInteger(&o.Args[0], v, "the operand of a cast") {
		return Value{}
	}
	v.Type = to
	return v
}

func (f fault) wantInteger(o *ptx.Operand, v Value, what string) bool {
	return WantInteger(o, v, what, f)
}

// WantInteger reports a constant that is not an integer, and returns whether it is one. What
// specifies what the constant is.
func WantInteger(o *ptx.Operand, v Value, what string,
	report func(at *ptx.Operand, message string, args ...any)) bool {
	if v.Real() {
		report(o, "%s is %s, a floating-point constant; expected an integer", what, o)
	}
	return v.Integer()
}

func (f fault) unary(o *ptx.Operand) Value {
	v := f.evaluate(&o.Args[0])
	if v.Type == 0 {
		return v
	}
	switch o.Text {
	case "+", "-":
		if v.Type == isa.F32 {
			f(o, "%s is a bit pattern and takes no sign",
				&o.Args[0])
			return Value{}
		}
		if o.Text == "-" {
			if v.Real() {
				return double(-v.Float())
			}
			v.Bits = -v.Bits
		}
		return v
	}
	if !f.wantInteger(&o.Args[0], v, "the operand of "+o.Text) {
		return Value{}
	}
	if o.Text == "!" {
		return truth(v.Bits == 0)
	}
	return Value{isa.U64, ^v.Bits}
}

func truth(b bool) Value {
	v := Value{Type: isa.S64}
	if b {
		v.Bits = 1
	}
	return v
}

func (f fault) binary(o *ptx.Operand) Value {
	x, y := f.evaluate(&o.Args[0]), f.evaluate(&o.Args[1])
	if x.Type == 0 || y.Type == 0 {
		return Value{}
	}
	if x.Type == isa.F32 || y.Type == isa.F32 {
		f(o, "a 0f literal cannot be an operand of %s", o.Text)
		return Value{}
	}
	switch o.Text {
	case "<<", ">>", "%", "&", "|", "^", "&&", "||":
		if !f.wantInteger(&o.Args[0], x, "the left operand of "+o.Text) ||
			!f.wantInteger(&o.Args[1], y, "the right operand of "+o.Text) {
			return Value{}
		}
	}
	if x.Real() != y.Real() {
		f(o, "operands of %s are an integer and a floating-point "+
			"constant, expected two of the same kind", o.Text)
		return Value{}
	}
	zero := y.Integer() && y.Bits == 0 || y.Real() && y.Float() == 0
	if (o.Text == "/" || o.Text == "%") && zero {
		f(o, "%s divides by zero", o)
		return Value{}
	}
	if x.Real() {
		return reals(o.Text, x.Float(), y.Float())
	}
	return integers(o.Text, x, y)
}

func reals(op string, x, y float64) Value {
	switch op {
	case "+":
		return double(x + y)
	case "-":
		return double(x - y)
	case "*":
		return double(x * y)
	case "/":
		return double(x / y)
	case "<":
		return truth(x < y)
	case ">":
		return truth(x > y)
	case "<=":
		return truth(x <= y)
	case ">=":
		return truth(x >= y)
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	}
	return Value{}
}

func integers(op string, x, y Value) Value {
	v := Value{Type: isa.S64}
	if x.Type == isa.U64 || y.Type == isa.U64 {
		v.Type = isa.U64
	}
	less := func(a, b uint64) bool {
		if v.Type == isa.U64 {
			return a < b
		}
		return int64(a) < int64(b)
	}
	switch op {
	case "+":
		v.Bits = x.Bits + y.Bits
	case "-":
		v.Bits = x.Bits - y.Bits
	case "*":
		v.Bits = x.Bits * y.Bits
	case "/":
		if v.Type == isa.U64 {
			v.Bits = x.Bits / y.Bits
		} else {
			v.Bits = uint64(int64(x.Bits) / int64(y.Bits))
		}
	case "%":
		v.Bits, v.Type = x.Bits%y.Bits, isa.S64
	case "<<":
		v.Bits, v.Type = x.Bits<<min(y.Bits, 64), x.Type
	case ">>":
		v.Bits, v.Type = x.Bits>>min(y.Bits, 64), x.Type
		if x.Type == isa.S64 {
			v.Bits = uint64(int64(x.Bits) >> min(y.Bits, 63))
		}
	case "&":
		v.Bits = x.Bits & y.Bits
	case "|":
		v.Bits = x.Bits | y.Bits
	case "^":
		v.Bits = x.Bits ^ y.Bits
	case "&&":
		return truth(x.Bits != 0 && y.Bits != 0)
	case "||":
		return truth(x.Bits != 0 || y.Bits != 0)
	case "<":
		return truth(less(x.Bits, y.Bits))
	case ">":
		return truth(less(y.Bits, x.Bits))
	case "<=":
		return truth(!less(y.Bits, x.Bits))
	case ">=":
		return truth(!less(x.Bits, y.Bits))
	case "==":
		return truth(x.Bits == y.Bits)
	case "!=":
		return truth(x.Bits != y.Bits)
	}
	return v
}

// conditional returns a ? b : c. The manual allows floating-point branches; the assembler does not.
func (f fault) conditional(o *ptx.Operand) Value {
	if len(o.Args) != 3 {
		return Value{}
	}
	v := [3]Value{}
	good := true
	for i, what := range []string{"the condition of ?:", "a branch of ?:", "a branch of ?:"} {
		v[i] = f.evaluate(&o.Args[i])
		good = f.wantInteger(&o.Args[i], v[i], what) && good
	}
	if !good {
		return Value{}
	}
	out := v[2]
	if v[0].Bits != 0 {
		out = v[1]
	}
	if v[1].Type == isa.U64 || v[2].Type == isa.U64 {
		out.Type = isa.U64
	}
	return out
}
