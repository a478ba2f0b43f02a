// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// Options select what Check requires of a module.
type Options struct {
	// Whole reports whether the module is not linked with others: every called function must be
	// defined in it, even one declared .extern.
	Whole bool
}

// Check reports errors in the form of a module, sorted by place. A module with syntax errors
// can be checked too; Check skips what the parser could not parse and has reported.
func Check(f *ptx.File, opt Options) diag.List {
	c := newChecker(f, opt)
	c.file()
	return c.list.Sort()
}

// A checker is the state of one Check.
type checker struct {
	src  *ptx.File
	opt  Options
	list diag.List

	dropped diag.Diagnostic // receives the additions to findings beyond the limit
	advice  int             // number of searches for similar names
	doubts  int             // number of names that are unknown because of a reported mistake
	lost    *lostNameSet    // nil until it is needed
	trying  bool            // findings are discarded while an alternative is tried

	header header
	match  *isa.Matcher // nil if the version or target is unknown
	types  knownTypes

	module *scope
	scopes []*scope // from module to innermost
	spare  []*scope
	chunk  []symbol

	order   []*function // functions in the order they appear
	aliased map[string]string
	banks   constants
	opcodes map[string]*opcode
	locs    map[location]bool
	marks   map[string]bool // labels of debug sections
	inlined []ptx.Operand   // names of inlined functions
	files   map[uint32]ptx.Span
	debug   bool       // a .section was seen
	pointed *ptx.Attr  // the first .const pointer parameter of a kernel
	turned  *ptx.Instr // the first instruction that converts between .const and generic addresses
	free    bool       // the module turns the calling convention off

	body    *body     // the function being read, nil at module level
	heading *function // the function whose directives are being read
	args    []isa.Arg
	elems   []isa.Arg
}

// knownTypes are the types that the checks name.
type knownTypes struct {
	pred, b32, u32, b64, f32, f64, b128, f16, f16x2 isa.Type
}

func newChecker(f *ptx.File, opt Options) *checker {
	c := &checker{src: f, opt: opt, aliased: make(map[string]string),
		files: make(map[uint32]ptx.Span), opcodes: make(map[string]*opcode),
		marks: make(map[string]bool)}
	named := func(word string) isa.Type {
		t, _ := isa.ParseType(word)
		return t
	}
	c.types = knownTypes{
		pred: named(".pred"), b32: named(".b32"), u32: named(".u32"), b64: named(".b64"),
		f32: named(".f32"),
		f64: named(".f64"), b128: named(".b128"), f16: named(".f16"), f16x2: named(".f16x2"),
	}
	c.elems = make([]isa.Arg, 0, 256)
	c.module = c.push()
	return c
}

// file checks the whole module, with declarations in source order like the assembler.
func (c *checker) file() {
	rest := c.readHeader(c.src.Decls)
	c.free = slices.ContainsFunc(rest, unconventional)
	if c.header.known() {
		// A version older than the target is reported once, not again at each instruction.
		c.match = isa.NewMatcher(max(c.header.version, c.header.target.Info().Since),
			c.header.target)
	}
	for _, n := range rest {
		c.topLevel(n)
	}
	c.finish()
}

func (c *checker) topLevel(n ptx.Node) {
	switch n := n.(type) {
	case *ptx.Directive:
		c.moduleDirective(n)
	case *ptx.Var:
		c.variable(n, atModule)
	case *ptx.Func:
		c.function(n)
	case *ptx.Section:
		c.section(n)
	case *ptx.Sources:
		c.sources(n)
	}
}

// finish makes the checks that need the whole module.
func (c *checker) finish() {
	c.finishHeader()
	c.finishConstants()
	c.finishDebug()
	c.finishPointers()
	c.unresolved()
	c.finishKernels()
}
