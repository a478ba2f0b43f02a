// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"math"
	"strconv"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A level is the kind of scope in which a declaration is.
type level uint8

const (
	atModule level = iota
	inBody
)

// variable checks a declaration and declares its names.
func (c *checker) variable(v *ptx.Var, at level) {
	s, ok := c.readType(v)
	if v.Space.Text == "" {
		switch {
		case len(v.Names) > 0:
			c.fault(&ruleUnknownDirective, v.Type, "%s is not a directive that is allowed here; "+
				"a declaration starts with its state space", v.Type.Text)
		case at != atModule && s.typ.Class() == isa.Opaque:
			c.checkOpaquePlace(v, &s, at)
		}
		return // the declaration has no name
	}
	ok = c.checkPlace(v, &s, at) && ok
	linkage := c.linkage(v, &s, at)
	for i := range v.Names {
		c.declarator(v, &v.Names[i], s, linkage, ok)
	}
}

// checkPlace checks that variables of this state space and type are allowed in the scope.
func (c *checker) checkPlace(v *ptx.Var, s *shape, at level) bool {
	if s.typ.Class() == isa.Opaque {
		return c.checkOpaquePlace(v, s, at)
	}
	if s.typ.Class() == isa.Pred && s.space != isa.Reg {
		c.fault(&rulePredicate, v.Type, "a predicate is in %s, expected .reg", clip(v.Space.Text)).
			withFix(v.Space, ".reg", "declare it in .reg")
		return false
	}
	switch s.space {
	case isa.Reg, isa.Local:
		if at == atModule && c.header.supportsVersion(3, 0) {
			c.fault(&ruleSpace, v.Space, "%s variables cannot be declared at module scope; move "+
				"the declaration into a function", v.Space.Text)
			return false
		}
	case isa.Param:
		if at == atModule {
			c.fault(&ruleSpace, v.Space, ".param variables cannot be declared at module scope; "+
				"move the declaration into a function or its parameter list")
			return false
		}
		return c.bodyParameter(v, s)
	case isa.Tex:
		c.checkRemoved(v.Space, ".tex", 1, 5)
		if at != atModule {
			c.fault(&ruleSpace, v.Space, ".tex variables must be declared at module scope")
		}
		if s.typ.Class() != isa.Unsigned || s.typ.Bits() < 32 || s.vec > 1 || len(v.Names) > 0 &&
			len(v.Names[0].Dims) > 0 {
			c.fault(&ruleType, v.Type, "type of a .tex variable is %s, expected .u32 or .u64",
				s.typ)
		}
	case isa.Const, isa.Global, isa.Shared:
	default:
		c.fault(&ruleSpace, v.Space, "variables cannot be declared in %s", clip(v.Space.Text))
		return false
	}
	c.bank(v)
	return true
}

// bodyParameter checks a .param variable in a body. It passes values of a call or, before PTX
// 1.4, is a parameter of the kernel.
func (c *checker) bodyParameter(v *ptx.Var, s *shape) bool {
	ok := c.parameterType(v, s)
	if s.align > 128 {
		c.fault(&ruleAlign, v, "a parameter is aligned to %d bytes, expected at most 128", s.align)
		ok = false
	}
	if c.header.hasVersion && !c.header.supportsVersion(2, 0) && c.body != nil {
		if c.header.supportsVersion(1, 4) || !c.body.fn.entry {
			c.fault(&ruleSpace, v.Space, "in PTX %s, .param variables must be in the parameter "+
				"list of an .entry", c.header.version)
			ok = false
		}
	}
	return ok
}

// parameterType checks that the type is allowed for .param variables.
func (c *checker) parameterType(v *ptx.Var, s *shape) bool {
	array := len(v.Names) > 0 && len(v.Names[0].Dims) > 0
	if s.typ == c.types.f16x2 && !array {
		c.fault(&ruleParameterType, v.Type, ".f16x2 cannot be the type of a parameter; use .b32").
			withFix(v.Type, ".b32", "declare .b32")
		return false
	}
	if s.vec > 1 && !array {
		c.fault(&ruleParameterType, v.Vec, "a parameter cannot be a vector; use an array")
		return false
	}
	return true
}

// checkRemoved reports the use of a feature that PTX version major.minor removed.
func (c *checker) checkRemoved(at ptx.Node, feature string, major, minor int) {
	if h := &c.header; h.hasVersion && h.version >= isa.MakeVersion(major, minor) {
		c.fault(&ruleGone, at, "%s was removed in PTX %s, but the module is for PTX %s", feature,
			isa.MakeVersion(major, minor), h.version)
	}
}

// bank checks the number of a constant bank, .const[n].
func (c *checker) bank(v *ptx.Var) {
	if v.Bank == nil {
		return
	}
	c.checkRemoved(v.Bank, "a numbered constant bank", 2, 2)
	n, ok := c.plainInteger(v.Bank)
	switch {
	case c.tooLarge(v.Bank):
	case !ok || n < 0 || n > 10:
		c.fault(&ruleBank, v.Bank, "%s is not a constant bank, expected 0 to 10",
			clip(c.text(v.Bank)))
	case n > 0 && !incompleteExtern(v):
		c.fault(&ruleBank, v.Bank, "bank %d is reserved for .extern arrays without a size", n)
	}
}

func incompleteExtern(v *ptx.Var) bool {
	extern := len(v.Linkage) > 0 && v.Linkage[0].Text == ".extern"
	for i := range v.Names {
		if d := v.Names[i].Dims; len(d) == 0 || d[0].Kind != ptx.Empty {
			return false
		}
	}
	return extern
}

// linkage checks .extern, .visible, .weak and .common, and returns the directive or "".
func (c *checker) linkage(v *ptx.Var, s *shape, at level) string {
	if len(v.Linkage) == 0 {
		return ""
	}
	word := v.Linkage[0]
	if len(v.Linkage) > 1 {
		c.fault(&ruleLinkage, v.Linkage[1],
			"%s follows %s, but a declaration takes only one of .extern, .visible, .weak and .common",
			v.Linkage[1].Text, word.Text)
	}
	if at != atModule {
		return word.Text // the parser has reported it
	}
	switch word.Text {
	case ".weak":
		c.need(word, ".weak", 3, 1, 0)
	case ".common":
		c.need(word, ".common", 5, 0, 20)
		if s.space != isa.Global {
			c.fault(&ruleLinkage, word,
				".common is allowed only on .global variables, but this one is in %s",
				s.space)
		} else if s.typ.Class() == isa.Opaque {
			c.fault(&ruleLinkage, word, ".common is not allowed for %s", s.typ)
		}
	}
	return word.Text
}

// declarator checks and declares one name of a declaration.
func (c *checker) declarator(v *ptx.Var, d *ptx.Declarator, s shape, linkage string, ok bool) {
	if d.Name.Text == "" {
		return
	}
	sym := c.symbol()
	*sym = symbol{kind: variable, name: d.Name.Text, at: d.Name.Span, linkage: linkage,
		hasInitializer: d.Init != nil}
	s.dims = c.dimensions(d.Dims, d.Init)
	if len(s.dims) > 0 && s.space == isa.Reg {
		f := c.fault(&ruleArray, d, "%s is an array, which cannot be in .reg", clip(sym.name))
		ok = false
		if n := s.dims[0]; len(s.dims) == 1 && n > 0 && n < 1<<32 && d.Count == nil &&
			d.Init == nil {
			f.withFixAt(d.Name.To, d.To, "<"+strconv.FormatInt(n, 10)+">", "declare %s<%d>",
				clip(sym.name), n).asGuess()
			s.dims = nil
			sym.shape, sym.arg, sym.count, sym.number = s, argument(&s), n, d.Dims[0]
			c.declareRange(sym)
			return
		}
	}
	c.initializer(d, &s, linkage, ok)
	if s.isIncomplete() && linkage != ".extern" && s.space != isa.Reg {
		c.fault(&ruleIncomplete, d, "%s has no size; only an .extern array may omit it",
			clip(sym.name))
	}
	sym.shape = s
	sym.arg = argument(&s)
	sym.broken = s.isUnknown
	if s.space == isa.Const && linkage != ".extern" {
		c.banks.add(&s)
	}
	if d.Init != nil {
		sym.hasFunctions = c.holdsFunctions(d.Init)
	}
	if d.Count != nil {
		c.checkRange(v, d, sym)
		return
	}
	if s.space == isa.Shared && c.body != nil && linkage != ".extern" {
		c.body.fn.uses.useShared(sym)
	}
	if c.scope() == c.module {
		c.declareGlobal(sym)
		return
	}
	c.declare(sym)
}

// argument returns a variable as an operand for package isa. A variable in .tex memory is a
// .texref since PTX 1.5.
func argument(s *shape) isa.Arg {
	a := isa.Arg{Kind: isa.ArgSym, Type: s.typ, Space: s.space, Count: s.vec}
	switch s.space {
	case isa.Reg:
		a.Kind, a.Space = isa.ArgReg, isa.Generic
	case isa.Tex:
		a.Type, a.Space = isa.Texref, isa.Global
	}
	return a
}

// dimensions returns the array dimensions of a declaration, such as [4][8]. Only the first may be
// [], which is returned as -1.
func (c *checker) dimensions(list []ptx.Operand, init *ptx.Operand) []int64 {
	if len(list) == 0 {
		return nil
	}
	dims := make([]int64, len(list))
	for i := range list {
		if list[i].Kind == ptx.Empty {
			dims[i] = -1
			if i > 0 {
				c.fault(&ruleIncomplete, list[i], "only the first dimension may be empty")
			}
			continue
		}
		n, ok := c.plainInteger(&list[i])
		switch {
		case c.tooLarge(&list[i]):
			n, ok = 1, true // the intended size is unknown
		case !ok:
			c.fault(&ruleArray, list[i], "dimension %s is not a positive integer",
				clip(c.text(&list[i])))
		}
		if ok && n < 0 {
			n = 1 << 62
		}
		if ok && n == 0 && i > 0 {
			c.fault(&ruleIncomplete, list[i], "only the first dimension may be zero")
		}
		dims[i] = n
	}
	if dims[0] <= 0 && init != nil && init.Kind == ptx.Vector {
		dims[0] = int64(len(init.Args))
	}
	return dims
}

// checkRange checks and declares a range, name<count>.
func (c *checker) checkRange(v *ptx.Var, d *ptx.Declarator, sym *symbol) {
	n, ok := c.plainInteger(d.Count)
	switch {
	case c.tooLarge(d.Count):
		n = math.MaxUint32 // the names are declared, whatever their number
	case !ok:
		c.fault(&ruleRange, d.Count, "%s is not a valid number of names", clip(c.text(d.Count)))
		n = 0
	default:
		low, fits := word32(n)
		if !fits {
			c.fault(&ruleRange, d.Count, "%s<%d> declares more names than fit into 32 bits",
				clip(sym.name), n)
		} else {
			n = int64(low)
		}
	}
	if len(d.Dims) > 0 || d.Init != nil {
		c.fault(&ruleRange, d,
			"%s<%d> declares several names, so it takes neither dimensions nor an initial value",
			clip(sym.name), n)
	}
	sym.count, sym.number = n, *d.Count
	if c.declareRange(sym) && c.scope() == c.module {
		sym.linkage = ""
	}
}

// specialName reports a name at module scope that is the name of a special register.
func (c *checker) specialName(at ptx.Node, name string) {
	if _, ok := isa.SpecialRegister(name); ok {
		c.fault(&ruleTwice, at, "%s is a special register and cannot be declared at module scope",
			clip(name))
	}
}

// declareGlobal declares a variable at module scope. An .extern declaration and a definition may
// have the same name if their types agree.
func (c *checker) declareGlobal(sym *symbol) {
	c.specialName(sym.at, sym.name)
	old := c.module.findHere(sym.name)
	if old == nil || old.kind != variable || old.linkage != ".extern" && sym.linkage != ".extern" {
		c.declare(sym)
		return
	}
	extern, other := old, sym
	if sym.linkage == ".extern" {
		extern, other = sym, old
	}
	if other.linkage == "" {
		c.fault(&ruleExternClash, sym.at, "%s is .extern here but not visible in the other "+
			"declaration, expected .visible", clip(sym.name)).
			withRelated(old.at, "the other declaration is here")
		return
	}
	a, b := extern.shape, other.shape
	if a.isIncomplete() && len(a.dims) == len(b.dims) {
		a.dims = b.dims
	} else if b.isIncomplete() && len(a.dims) == len(b.dims) {
		b.dims = a.dims
	}
	if !a.isSameType(&b) {
		c.fault(&ruleExternClash, sym.at, "%s is %s here but %s in the other declaration",
			clip(sym.name), sym.shape.String(), old.shape.String()).
			withRelated(old.at, "the other declaration is here")
		return
	}
	if old == extern {
		c.module.put(sym.name, sym)
	}
}

// constants holds the total size of the .const variables of a module.
type constants struct {
	end int64
}

func (b *constants) add(s *shape) {
	if s.align > 0 {
		b.end = (b.end + s.align - 1) &^ (s.align - 1)
	}
	b.end = min(b.end+s.size(), 1<<62)
}

// finishConstants checks the total size of the .const variables.
func (c *checker) finishConstants() {
	if c.banks.end > 0x10000 {
		c.faultAt(&ruleConstants, 0, 0, ".const variables of the module take %s bytes, expected "+
			"at most 65536", strconv.FormatInt(c.banks.end, 10))
	}
}

// nearestType returns the type for declarations that is most similar to a word.
func nearestType(word string) string {
	return diag.Nearest(word,
		[]string{".pred", ".b8", ".b16", ".b32", ".b64", ".b128", ".u8", ".u16", ".u32", ".u64",
			".s8", ".s16", ".s32", ".s64", ".f16", ".f16x2", ".f32", ".f64", ".texref",
			".samplerref",
			".surfref"})
}
