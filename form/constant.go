// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/ptx"

// isConstant reports whether an operand consists only of literals.
func isConstant(o *ptx.Operand) bool {
	switch o.Kind {
	case ptx.Literal:
		return true
	case ptx.Name:
		return o.Text == "WARP_SZ"
	case ptx.Unary, ptx.Binary, ptx.Cond, ptx.Cast, ptx.Paren:
		for i := range o.Args {
			if !isConstant(&o.Args[i]) {
				return false
			}
		}
		return len(o.Args) > 0
	}
	return false
}

// evaluate evaluates a constant expression and reports mistakes in it.
func (c *checker) evaluate(o *ptx.Operand) value {
	switch o.Kind {
	case ptx.Literal, ptx.Name:
		v, over, ok := number(o.Text)
		if !ok {
			c.fault(&ruleExpression, o, "%s is not a constant", clip(o.Text))
			return value{}
		}
		if over {
			c.fault(&ruleExpression, o, "constant %s does not fit into 64 bits", clip(o.Text))
			return value{}
		}
		return v
	case ptx.Paren:
		if len(o.Args) == 1 {
			return c.evaluate(&o.Args[0])
		}
	case ptx.Cast:
		return c.cast(o)
	case ptx.Unary:
		return c.unary(o)
	case ptx.Binary:
		return c.binary(o)
	case ptx.Cond:
		return c.conditional(o)
	}
	c.fault(&ruleExpression, o, "%s is not a constant expression", clip(c.text(o)))
	return value{}
}

func (c *checker) cast(o *ptx.Operand) value {
	v := c.evaluate(&o.Args[0])
	to := signed
	switch o.Text {
	case ".s64":
	case ".u64":
		to = unsigned
	default:
		c.fault(&ruleExpression, o, "a constant cannot be cast to %s; the casts are (.s64) and (.u64)", clip(o.Text))
		return value{}
	}
	if v.sort == noSort || !c.wantInteger(&o.Args[0], v, "the operand of a cast") {
		return value{}
	}
	v.sort = to
	return v
}

func (c *checker) wantInteger(o *ptx.Operand, v value, what string) bool {
	if v.sort == noSort || v.integer() {
		return v.sort != noSort
	}
	c.fault(&ruleExpression, o, "%s is %s, a floating-point constant; expected an integer", what,
		clip(c.text(o)))
	return false
}

func (c *checker) unary(o *ptx.Operand) value {
	v := c.evaluate(&o.Args[0])
	if v.sort == noSort {
		return v
	}
	switch o.Text {
	case "+", "-":
		if v.sort == single {
			c.fault(&ruleExpression, o, "%s is a bit pattern and takes no sign",
				clip(c.text(&o.Args[0])))
			return value{}
		}
		if o.Text == "-" {
			v.bits, v.float = -v.bits, -v.float
		}
		return v
	}
	if !c.wantInteger(&o.Args[0], v, "the operand of "+o.Text) {
		return value{}
	}
	if o.Text == "!" {
		return truth(v.bits == 0)
	}
	return value{sort: unsigned, bits: ^v.bits}
}

func truth(b bool) value {
	v := value{sort: signed}
	if b {
		v.bits = 1
	}
	return v
}

func (c *checker) binary(o *ptx.Operand) value {
	x, y := c.evaluate(&o.Args[0]), c.evaluate(&o.Args[1])
	if x.sort == noSort || y.sort == noSort {
		return value{}
	}
	if x.sort == single || y.sort == single {
		c.fault(&ruleExpression, o, "a 0f literal cannot be an operand of %s", o.Text)
		return value{}
	}
	switch o.Text {
	case "<<", ">>", "%", "&", "|", "^", "&&", "||":
		if !c.wantInteger(&o.Args[0], x, "the left operand of "+o.Text) || !c.wantInteger(&o.Args[1], y, "the right operand of "+o.Text) {
			return value{}
		}
	}
	if x.real() != y.real() {
		c.fault(&ruleExpression, o, "operands of %s are an integer and a floating-point "+
			"constant, expected two of the same kind", o.Text)
		return value{}
	}
	zero := y.integer() && y.bits == 0 || y.real() && y.float == 0
	if (o.Text == "/" || o.Text == "%") && zero {
		c.fault(&ruleExpression, o, "%s divides by zero", clip(c.text(o)))
		return value{}
	}
	if x.real() {
		return reals(o.Text, x.float, y.float)
	}
	return integers(o.Text, x, y)
}

func reals(op string, x, y float64) value {
	v := value{sort: double}
	switch op {
	case "+":
		v.float = x + y
	case "-":
		v.float = x - y
	case "*":
		v.float = x * y
	case "/":
		v.float = x / y
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
	return v
}

func integers(op string, x, y value) value {
	v := value{sort: signed}
	if x.sort == unsigned || y.sort == unsigned {
		v.sort = unsigned
	}
	less := func(a, b uint64) bool {
		if v.sort == unsigned {
			return a < b
		}
		return int64(a) < int64(b)
	}
	switch op {
	case "+":
		v.bits = x.bits + y.bits
	case "-":
		v.bits = x.bits - y.bits
	case "*":
		v.bits = x.bits * y.bits
	case "/":
		if v.sort == unsigned {
			v.bits = x.bits / y.bits
		} else {
			v.bits = uint64(int64(x.bits) / int64(y.bits))
		}
	case "%":
		v.bits, v.sort = x.bits%y.bits, signed
	case "<<":
		v.bits, v.sort = x.bits<<min(y.bits, 64), x.sort
	case ">>":
		v.bits, v.sort = x.bits>>min(y.bits, 64), x.sort
		if x.sort == signed {
			v.bits = uint64(int64(x.bits) >> min(y.bits, 63))
		}
	case "&":
		v.bits = x.bits & y.bits
	case "|":
		v.bits = x.bits | y.bits
	case "^":
		v.bits = x.bits ^ y.bits
	case "&&":
		return truth(x.bits != 0 && y.bits != 0)
	case "||":
		return truth(x.bits != 0 || y.bits != 0)
	case "<":
		return truth(less(x.bits, y.bits))
	case ">":
		return truth(less(y.bits, x.bits))
	case "<=":
		return truth(!less(y.bits, x.bits))
	case ">=":
		return truth(!less(x.bits, y.bits))
	case "==":
		return truth(x.bits == y.bits)
	case "!=":
		return truth(x.bits != y.bits)
	}
	return v
}

// conditional returns a ? b : c. The manual allows floating-point branches; the assembler does not.
func (c *checker) conditional(o *ptx.Operand) value {
	if len(o.Args) != 3 {
		return value{}
	}
	v := [3]value{}
	good := true
	for i, what := range []string{"the condition of ?:", "a branch of ?:", "a branch of ?:"} {
		v[i] = c.evaluate(&o.Args[i])
		good = c.wantInteger(&o.Args[i], v[i], what) && good
	}
	if !good {
		return value{}
	}
	out := v[2]
	if v[0].bits != 0 {
		out = v[1]
	}
	if v[1].sort == unsigned || v[2].sort == unsigned {
		out.sort = unsigned
	}
	return out
}
