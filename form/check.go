// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// Options configure Check.
type Options struct {
	// Whole specifies that the module is not linked with others: every function that is called
	// must be defined in the module, even one declared .extern.
	Whole bool
}

// Check returns the errors in the form of a module, sorted by position. The module may have
// syntax errors; Check ignores the parts that the parser could not parse.
func Check(f *ptx.File, opt Options) diag.List {
	c := newChecker(f, opt)
	c.file()
	return c.list.Sort()
}

// A checker is the state of a call of Check.
type checker struct {
	src  *ptx.File
	opt  Options
	list diag.List

	dropped        diag.Diagnostic // receives details of findings beyond maxFindings
	advice         int             // number of searches for similar names so far
	unknownCount   int             // number of names that are unknown so far
	lostNamesCache *lostNameSet    // see lostNames; nil until it is needed
	trying         bool            // an alternative is being tried, whose findings are discarded

	header header
	match  *isa.Matcher // nil if the version or target is unknown
	types  knownTypes

	module *scope
	scopes []*scope // open scopes, from the module to the innermost block
	spare  []*scope
	chunk  []symbol

	order           []*function // functions in the order of the source
	aliased         map[string]string
	banks           constants
	opcodes         map[string]*opcode
	locs            map[location]bool
	marks           map[string]bool // labels in debug sections
	inlined         []ptx.Operand   // names of inlined functions in .loc directives
	files           map[uint32]ptx.Span
	debug           bool       // the module has a .section
	constPointer    *ptx.Attr  // the first parameter of a kernel that is a .ptr .const, or nil
	constConversion *ptx.Instr // first conversion between .const and generic addresses
	noConvention    bool       // the module turns off the calling convention

	body    *body     // the function body being checked, or nil at module scope
	heading *function // the function whose directives are being checked, or nil
	args    []isa.Arg
	elems   []isa.Arg
}

// knownTypes holds types that the checks refer to.
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

// file checks the whole module. Like ptxas, it processes declarations in source order.
func (c *checker) file() {
	rest := c.readHeader(c.src.Decls)
	c.noConvention = slices.ContainsFunc(rest, disablesConvention)
	if c.header.isKnown() {
		// A version that is older than the target is reported once, so it must not also be
		// reported for each instruction.
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

// finish makes the checks for which the whole module must have been read.
func (c *checker) finish() {
	c.finishHeader()
	c.finishConstants()
	c.finishDebug()
	c.finishPointers()
	c.reportUnresolved()
	c.finishKernels()
}
