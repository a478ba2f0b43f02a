// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"math"

	"github.com/ptxdsl/ptxdsl/ptx"
	"github.com/ptxdsl/ptxdsl/ptx/constant"
)

// evaluate returns the value of a constant expression. It reports mistakes in the expression.
func (c *checker) evaluate(o *ptx.Operand) constant.Value {
	return constant.Evaluate(o, c.badConstant)
}

// badConstant reports a mistake in a constant expression. It shortens the arguments of the
// message.
func (c *checker) badConstant(at *ptx.Operand, message string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case *ptx.Operand:
			args[i] = clip(c.text(a))
		case string:
			args[i] = clip(a)
		}
	}
	c.fault(&ruleExpression, at, message, args...)
}

// wantInteger reports whether a constant is an integer, and records a finding if not.
func (c *checker) wantInteger(o *ptx.Operand, v constant.Value, what string) bool {
	return constant.WantInteger(o, v, what, c.badConstant)
}

// plainInteger returns the value of an operand that must be one integer literal, as in directives
// and declarations.
func (c *checker) plainInteger(o *ptx.Operand) (int64, bool) {
	if o.Kind != ptx.Literal && o.Text != "WARP_SZ" {
		return 0, false
	}
	v, over, ok := constant.Number(o.Text)
	if !ok || over || !v.Integer() {
		return 0, false
	}
	return int64(v.Bits), true
}

// tooLarge reports whether an operand is an integer that exceeds 64 bits, and records a finding
// if so.
func (c *checker) tooLarge(o *ptx.Operand) bool {
	if o.Kind != ptx.Literal {
		return false
	}
	v, over, ok := constant.Number(o.Text)
	if !ok || !over || !v.Integer() {
		return false
	}
	c.fault(&ruleExpression, o, "constant %s does not fit into 64 bits", clip(o.Text))
	return true
}

// word32 returns a number in a directive as ptxas reads it: the low 32 bits of a signed 64-bit
// number, so that 0xffffffffffffffff is 0xffffffff. fits is false for larger numbers, which ptxas
// rejects.
func word32(v int64) (n uint32, fits bool) { return uint32(v), v <= math.MaxUint32 }

// text returns the source text of n.
func (c *checker) text(n ptx.Node) string {
	from, to := n.Pos(), n.End()
	if from < 0 || int(to) > len(c.src.Text) || from > to {
		return ""
	}
	return c.src.Text[from:to]
}
