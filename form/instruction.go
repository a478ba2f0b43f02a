// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// An opcode holds the properties of an opcode that package isa does not check.
type opcode struct {
	head          string
	video         bool // operands may select bytes or half words of a register
	minus         bool // operands may be negated with a minus sign
	vector        bool // operands may be a whole special register, such as %tid
	narrow        bool // addresses must be in 64-bit registers
	loads         bool // the instruction is ld.param
	stores        bool // the instruction is st.param
	space         string
	width         isa.Type // width of the operands of mov, or 0
	fraction      bool     // the instruction is createpolicy.fractional
	sampler       bool     // txq of an attribute that samplers have in texmode_independent
	samplerOnly   bool     // txq of an attribute that only samplers have
	convertsConst bool     // the instruction converts between .const and generic addresses
	nameless      bool     // the opcode is a single word that is not an instruction name
}

// opcode returns the properties of an opcode. They are cached, because a file has few different
// opcodes.
func (c *checker) opcode(text string) *opcode {
	if op := c.opcodes[text]; op != nil {
		return op
	}
	head, rest, _ := strings.Cut(text, ".")
	op := &opcode{head: head}
	words := strings.Split(rest, ".")
	has := func(word string) bool {
		for _, w := range words {
			if w == word {
				return true
			}
		}
		return false
	}
	spaced := false
	for _, w := range words {
		base, _, _ := strings.Cut(w, "::")
		switch base {
		case "shared", "local", "const", "param":
			spaced = true
			if base == "param" {
				op.space = w
			}
		}
		if head == "mov" {
			if t, ok := isa.ParseType("." + w); ok {
				op.width = t
			}
		}
	}
	switch head {
	case "ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu", "discard", "applypriority",
		"mbarrier", "multimem":
		op.narrow = !spaced && !has("tensormap") && !has("async") && !has("bulk")
		op.convertsConst = head == "prefetch" && has("const")
	case "createpolicy":
		op.fraction = has("fractional")
	case "cvta":
		op.convertsConst = has("const")
	case "txq":
		op.sampler = has("filter_mode") || has("addr_mode_0") || has("addr_mode_1") ||
			has("addr_mode_2")
		op.samplerOnly = has("force_unnormalized_coords")
	case "vmad":
		op.minus = true
	case "mov":
		op.vector = has("v4")
	}
	switch head {
	case "vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset",
		"vadd2", "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2",
		"vadd4", "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4", "vset4":
		op.video = true
	}
	if rest == "" && c.match != nil {
		_, problems := c.match.Candidates(text)
		op.nameless = len(problems) > 0 && problems[0].Rule == "F201" && isa.MeantName(text) == ""
	}
	op.loads = head == "ld" && op.space != ""
	op.stores = head == "st" && op.space != ""
	c.opcodes[text] = op
	return op
}

// instruction checks the guard and the names in an instruction, and then the form of the
// instruction with package isa.
func (c *checker) instruction(in *ptx.Instr) {
	op := c.opcode(in.Op.Text)
	if in.Guard.Text != "" {
		c.guard(in)
	}
	if op.nameless && c.labelWithoutColon(in) {
		c.add("F201", diag.Error, in.Op.At, in.Op.To, "unknown instruction "+clip(in.Op.Text)+
			"; a label must be followed by a colon").
			withFixAt(in.Op.To, in.Op.To, ":", "write %s:", clip(in.Op.Text)).asGuess()
		return
	}
	before, doubts := len(c.list), c.unknownCount
	c.args, c.elems = c.args[:0], c.elems[:0]
	if op.head == "call" {
		c.call(in, op)
	}
	for i := range in.Args {
		if op.head == "call" {
			c.args = append(c.args, c.callOperand(in, i))
			continue
		}
		o := &in.Args[i]
		if i > 0 && o.Kind == ptx.Name && o.Text == "_" {
			c.args = append(c.args, isa.Arg{}) // the parser has reported the operand
			continue
		}
		c.args = append(c.args, c.operand(op, o))
	}
	if op.width != 0 || op.loads || op.stores || op.head == "cvta" {
		c.special(in, op)
	}
	switch {
	case op.convertsConst && c.constConversion == nil:
		c.constConversion = in
	case op.fraction:
		c.fraction(in)
	case op.head == "tcgen05":
		c.body.fn.uses.useGroup(in.Op)
	case op.head == "tex" || op.head == "tld4" || op.head == "txq":
		c.checkTextureMode(in, op)
	}
	if c.match == nil {
		return
	}
	problems := c.match.Check(in.Op.Text, c.args)
	if len(problems) > 0 && problems[0].Rule == "F202" && len(c.list) < maxFindings-1 {
		// The unknown word may be the state space, without which an address cannot be checked.
		c.list = append(c.list[:before],
			slices.DeleteFunc(c.list[before:], func(d diag.Diagnostic) bool {
				return d.Rule == ruleAddress32.ID
			})...)
	}
	for i := range problems {
		// A branch to an undeclared label, for example, must be reported only once.
		if problems[i].Arg < 0 || len(c.list) == before && c.unknownCount == doubts {
			c.problem(in, &problems[i])
		}
	}
	if len(c.list) == before {
		c.addressTaken(in, op)
	}
}

// problem records a problem that package isa found in an instruction.
func (c *checker) problem(in *ptx.Instr, p *isa.Problem) {
	from, to := in.Op.At, in.Op.To
	plain := int(to-from) == len(in.Op.Text) // the opcode has no spaces inside
	word := false
	switch {
	case p.Arg >= 0 && p.Arg < len(in.Args):
		o := &in.Args[p.Arg]
		if p.Elem >= 0 && p.Elem < len(o.Args) {
			o = &o.Args[p.Elem]
		}
		from, to = o.At, o.To
	case p.Mod >= 0 && plain:
		if a, b, ok := modifier(in.Op.Text, p.Mod); ok {
			from, to, word = in.Op.At+ptx.Pos(a), in.Op.At+ptx.Pos(b), true
		}
	}
	severity := diag.Error
	if p.Rule == "F208" {
		severity = diag.Warning
	}
	message, better := p.Message, ""
	if (p.Rule == "F302" || p.Rule == "F303") && p.Elem < 0 && p.Arg < len(in.Args) {
		better = c.suggest(in, p.Arg)
	}
	f := c.add(p.Rule, severity, from, to, message)
	if better != "" {
		f.suggestName(&in.Args[p.Arg], better)
		return
	}
	switch {
	case p.Want == "" || p.Arg >= 0:
	case word && strings.HasPrefix(p.Want, "."):
		f.withFixAt(from, to, p.Want, "write %s", p.Want)
	case !strings.HasPrefix(p.Want, "."):
		f.withFixAt(in.Op.At, in.Op.To, p.Want, "write %s", p.Want)
	}
	if f.d.Fix != nil {
		f.d.Fix.Guess = true // the nearest form may not be the intended one
	}
}

// modifier returns the source range of the n-th modifier of an opcode, including its dot.
func modifier(op string, n int) (from, to int, ok bool) {
	for i := 0; i < len(op); i++ {
		if op[i] != '.' {
			continue
		}
		if n == 0 {
			to = i + 1
			for to < len(op) && op[to] != '.' {
				to++
			}
			return i, to, true
		}
		n--
	}
	return 0, 0, false
}

// checkAddress reports an address in a 32-bit register in a state space that requires 64 bits,
// and an access to a parameter in the wrong direction.
func (c *checker) checkAddress(op *opcode, o *ptx.Operand, a *isa.Arg) {
	if len(a.Elems) == 0 {
		return
	}
	base := &a.Elems[0]
	switch {
	case base.Kind == isa.ArgReg && op.narrow && base.Type.Whole() && base.Type.Bits() == 32 &&
		base.Count <= 1:
		c.fault(&ruleAddress32, &o.Args[0], "address register %s has 32 bits, but %s requires a "+
			"64-bit address here", clip(c.text(&o.Args[0])), op.head)
	case base.Kind == isa.ArgSym && (op.loads || op.stores):
		c.parameterAccess(op, &o.Args[0])
	case base.Kind == isa.ArgReg && op.space == "param::func" && (op.loads || op.stores) &&
		c.body.fn.entry:
		c.fault(&ruleParameterSide, &o.Args[0], "%s is a register; in an .entry, .param::func "+
			"takes the name of a call variable", clip(c.text(&o.Args[0])))
	}
}

// special checks mov and cvta of addresses, and accesses to parameters.
func (c *checker) special(in *ptx.Instr, op *opcode) {
	if op.loads || op.stores {
		c.guardedParameter(in, op)
		return
	}
	if op.head == "cvta" {
		if strings.HasSuffix(in.Op.Text, ".u32") {
			c.fault(&ruleAddress32, in.Op, "cvta has a 32-bit type, but addresses have 64 bits; "+
				"use .u64")
		}
		return
	}
	if len(c.args) != 2 || c.args[1].Kind != isa.ArgSym {
		return
	}
	o := &in.Args[1]
	sym := c.symbolOf(o)
	switch {
	case sym == nil:
	case sym.shape.space == isa.Global && op.width.Bits() == 32 && o.Kind != ptx.Binary:
		c.fault(&ruleAddress32, o, "address of %s in .global has 64 bits, but %s takes only 32",
			clip(sym.name), clip(in.Op.Text))
	case sym.shape.typ.Class() == isa.Opaque && op.width.String() != ".u64":
		c.fault(&ruleOpaque, o, "%s is a %s; take its handle with mov.u64", clip(sym.name),
			sym.shape.typ)
		c.args[1] = isa.Arg{}
	}
}

// symbolOf returns the variable on which an address operand is based, or nil.
func (c *checker) symbolOf(o *ptx.Operand) *symbol {
	for o.Kind == ptx.Binary || o.Kind == ptx.Index || o.Kind == ptx.Address {
		if len(o.Args) == 0 {
			return nil
		}
		o = &o.Args[0]
	}
	if o.Kind != ptx.Name {
		return nil
	}
	if sym := c.find(o.Text, o.At); sym != nil && sym.kind == variable {
		return sym
	}
	return nil
}
