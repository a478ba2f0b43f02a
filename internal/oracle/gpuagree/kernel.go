// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A kernel is the text of a case's kernel: each thread of 32 warps reads its inputs and writes
// its results, eight bytes each. The registers have untyped types, which are compatible with
// every type of the same width.
type kernel struct {
	text strings.Builder
	regs strings.Builder
}

func (k *kernel) line(format string, args ...any) {
	fmt.Fprintf(&k.text, "\t"+format+"\n", args...)
}

func (k *kernel) register(class, name string) string {
	fmt.Fprintf(&k.regs, "\t.reg .%s %s;\n", class, name)
	return name
}

// class returns the register class for a type. Bytes are in wider registers, except with bf16,
// where ptxas requires an 8-bit register.
func (c *Case) class(t isa.Type) string {
	switch bits := t.Bits(); {
	case bits == 8 && strings.Contains(c.Opcode, ".bf16"):
		return "b8"
	case bits == 16:
		return "b16"
	case bits <= 32:
		return "b32"
	}
	return "b64"
}

// load emits a load of a column into a new register.
func (k *kernel) load(column int, class, name string) string {
	k.register(class, name)
	k.line("ld.global.%s %s, [%%in+%d];", class, name, column*Rows*8)
	return name
}

// loadPredicate emits a load of a column into a new predicate.
func (k *kernel) loadPredicate(column, i int) string {
	x := k.load(column, "b32", fmt.Sprintf("%%q%d", i))
	p := k.register("pred", fmt.Sprintf("%%p%d", i))
	k.line("setp.ne.u32 %s, %s, 0;", p, x)
	return p
}

// store emits a store of result i.
func (k *kernel) store(i int, class, name string) {
	k.line("st.global.%s [%%out+%d], %s;", class, i*Rows*8, name)
}

func (k *kernel) storePredicate(i int, p string) {
	x := k.register("b32", fmt.Sprintf("%%s%d", i))
	k.line("selp.u32 %s, 1, 0, %s;", x, p)
	k.store(i, "b32", x)
}

// results returns the number of result columns of a case.
func (c *Case) results() int {
	switch {
	case c.MMA != nil:
		return c.MMA.RegsD
	case c.Group != nil:
		return c.groupRegisters()
	}
	return len(c.Op.Out) + c.predicates()
}

// predicates returns the number of predicate results. setp on a single half-precision value has
// only one.
func (c *Case) predicates() int {
	half := strings.HasSuffix(c.Opcode, ".f16") || strings.HasSuffix(c.Opcode, ".bf16")
	if half && strings.HasPrefix(c.Opcode, "setp") {
		return 1
	}
	return c.Op.POut
}

// Kernel returns the PTX of the case's kernel.
func (c *Case) Kernel(name string, in *Inputs) string {
	k := &kernel{}
	switch {
	case c.MMA != nil:
		c.product(k, in)
	case c.Group != nil:
		c.warpgroup(k, in)
	default:
		c.scalar(k, in)
	}
	return fmt.Sprintf(`.visible .entry %s(.param .u64 %s_in, .param .u64 %s_out)
.maxntid 1024
{
	.reg .b64 %%in, %%out, %%offset;
	.reg .b32 %%thread;
%s	ld.param.u64 %%in, [%s_in];
	ld.param.u64 %%out, [%s_out];
	mov.u32 %%thread, %%tid.x;
	mul.wide.u32 %%offset, %%thread, 8;
	add.u64 %%in, %%in, %%offset;
	add.u64 %%out, %%out, %%offset;
%s	ret;
}
`, name, name, name, k.regs.String(), name, name, k.text.String())
}

func (c *Case) scalar(k *kernel, in *Inputs) {
	op := c.Op
	var args []string
	for i, t := range op.In {
		if strings.HasPrefix(c.Opcode, "lop3") && i == 3 {
			args = append(args, fmt.Sprint(c.Immediate))
			continue
		}
		args = append(args, k.load(in.scalar(c, i), c.class(t), fmt.Sprintf("%%a%d", i)))
	}
	minus := c.isSubtraction()
	for i := range op.PIn {
		p := in.predicate(i)
		if op.CarryIn && i == op.PIn-1 {
			k.carryIn(p, minus)
			continue
		}
		args = append(args, k.loadPredicate(p, i))
	}
	var to []string
	for i, t := range op.Out {
		to = append(to, k.register(c.class(t), fmt.Sprintf("%%d%d", i)))
	}
	var predicates []string
	for i := range c.predicates() {
		if !op.CarryOut {
			predicates = append(predicates, k.register("pred", fmt.Sprintf("%%r%d", i)))
		}
	}
	result := strings.Join(append(to, predicates...), "|")
	k.line("%s %s, %s;", c.Opcode, result, strings.Join(args, ", "))
	if op.CarryOut {
		k.carryOut(len(op.Out), minus)
	}
	for i, t := range op.Out {
		k.store(i, c.class(t), to[i])
	}
	for i, p := range predicates {
		k.storePredicate(len(op.Out)+i, p)
	}
}

// carryIn emits code that sets the carry flag from a column of zeros and ones. If minus is set,
// the column contains the borrow.
func (k *kernel) carryIn(column int, minus bool) {
	x := k.load(column, "b32", "%carry")
	t := k.register("b32", "%unused")
	if minus {
		k.line("sub.cc.u32 %s, 0, %s;", t, x)
	} else {
		k.line("add.cc.u32 %s, %s, 0xffffffff;", t, x)
	}
}

// carryOut emits code that stores the carry flag, or the borrow if minus is set, as zero or one.
func (k *kernel) carryOut(i int, minus bool) {
	x := k.register("b32", "%carried")
	if minus {
		k.line("subc.u32 %s, 0, 0;", x)
		k.line("and.b32 %s, %s, 1;", x, x)
	} else {
		k.line("addc.u32 %s, 0, 0;", x)
	}
	k.store(i, "b32", x)
}

func (c *Case) product(k *kernel, in *Inputs) {
	m := c.MMA
	width := func(bits int) string {
		if bits == 64 {
			return "b64"
		}
		return "b32"
	}
	list := func(name string, n int, each func(i int) string) string {
		var names []string
		for i := range n {
			names = append(names, each(i))
		}
		return "{" + strings.Join(names, ", ") + "}"
	}
	d := list("d", m.RegsD, func(i int) string {
		return k.register(width(m.ElementD().Bits), fmt.Sprintf("%%d%d", i))
	})
	operands := []string{d}
	for _, f := range c.fragments(in) {
		operands = append(operands, list(f.name, len(f.columns), func(i int) string {
			return k.load(f.columns[i], width(f.bits), fmt.Sprintf("%%%s%d", f.name, i))
		}))
	}
	if m.Sparse {
		operands = append(operands, k.load(in.metadata(m), "b32", "%e"), fmt.Sprint(c.Immediate))
	}
	k.line("%s %s;", c.Opcode, strings.Join(operands, ", "))
	for i := range m.RegsD {
		k.store(i, width(m.ElementD().Bits), fmt.Sprintf("%%d%d", i))
	}
}

// A fragment has the input columns of an MMA operand.
type fragment struct {
	name    string
	bits    int
	columns []int
}

func (c *Case) fragments(in *Inputs) []fragment {
	m := c.MMA
	a := fragment{name: "a", bits: m.ElementA().Bits}
	b := fragment{name: "b", bits: m.ElementB().Bits}
	s := fragment{name: "c", bits: m.ElementC().Bits}
	for i := range m.RegsA {
		a.columns = append(a.columns, in.fragment("a", m.ElementA(), m.LayoutA(), i))
	}
	for i := range m.RegsB {
		b.columns = append(b.columns, in.fragment("b", m.ElementB(), m.LayoutB(), i))
	}
	for i := range m.RegsC {
		s.columns = append(s.columns, in.fragment("c", m.ElementC(), m.LayoutC(), i))
	}
	return []fragment{a, b, s}
}
