// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ir represents a PTX module: functions that consist of basic blocks of instructions,
// over typed registers that may be written more than once. It is close to PTX on purpose: one
// struct represents every instruction, whose properties come from the tables in package isa. PTX
// is the text form of the representation: package lift reads it, and package lower writes it.
// Analyses belong to package passes; they return results and store nothing in the module.
package ir

import "github.com/ptxdsl/ptxdsl/isa"

// A Module is one PTX module.
type Module struct {
	Name    string
	Version isa.Version
	Target  isa.Target
	Options []string // other options of .target: debug, texmode_independent
	Bits    int      // bits of an address, or 0 if the text does not specify it
	Decls   []Decl   // in text order, which matters in PTX: declarations precede uses
	Source  Source   // resolves the positions in the module, or nil if the positions are unknown
	Doc     []string // comments at the start of the module
	Tail    []string // comments after the last declaration
}

// A Decl is a declaration at module level: *Var, *Func, *Directive, *Section.
type Decl interface{ decl() }

func (*Var) decl()       {}
func (*Func) decl()      {}
func (*Directive) decl() {}
func (*Section) decl()   {}

// Funcs returns the functions of m that have a body.
func (m *Module) Funcs() []*Func {
	var list []*Func
	for _, d := range m.Decls {
		if f, ok := d.(*Func); ok && f.Defined {
			list = append(list, f)
		}
	}
	return list
}

// A Var is a variable or parameter in memory. If a parameter is in a register, Reg is set too.
type Var struct {
	Name    string
	Linkage string // ".extern", ".visible", ".weak", ".common" or ""
	Space   isa.Space
	Bank    *Operand // bank, as in .const[2]
	Type    isa.Type
	Vec     uint8   // number of elements of a vector, or 0 for a scalar
	Align   int     // in bytes, or 0 for the natural alignment
	Dims    []int64 // dimensions of an array; the first may be Unsized
	Ptr     *Ptr    // for a pointer parameter, the memory it points to
	Box     *Box    // for a tensor map, what a copy transfers, or nil if unknown
	Attrs   []string
	Init    *Operand
	Reg     *Reg
	Pos     Pos
	Doc     []string // comments before it
	Note    string   // comment after it
}

// Unsized is the first dimension of an array without a size: [].
const Unsized = -1

// Size returns the number of bytes of v, or 0 for an array without a size.
func (v *Var) Size() int64 {
	n := int64(v.Type.Bits()+7) / 8 * int64(max(1, int(v.Vec)))
	for _, d := range v.Dims {
		n *= max(0, d)
	}
	return n
}

// Alignment returns the alignment of v in bytes, declared or natural.
func (v *Var) Alignment() int {
	if v.Align != 0 {
		return v.Align
	}
	return max(1, v.Type.Bits()/8*max(1, int(v.Vec)))
}

// A Ptr describes the memory that a pointer parameter points to: .ptr .global .align 16.
type Ptr struct {
	Space isa.Space
	Align int // in bytes, or 0 if not specified
}

// A Directive is a directive that declares no name, at module level or of a function: .file,
// .pragma, .maxntid.
type Directive struct {
	Name string // includes the dot
	Text string // arguments as in the text
	Semi bool   // ends with a semicolon
	Pos  Pos
	Doc  []string
	Note string
}

// A Section holds debug information line by line, or text in intermediate languages.
type Section struct {
	Name    string
	Lines   []Line
	Sources []CodeBlock // nil except in .nv_intermediate_source_section, which is then the name
	Pos     Pos
	Doc     []string
}

// A CodeBlock is text in an intermediate language: the language in quotes, the file number,
// and lines including their line ends.
type CodeBlock struct{ Language, File, Text string }

// A Line is a line of a Section: a label, or a type with values.
type Line struct {
	Label  string
	Type   string
	Values []string
}

// A Func is a kernel or a device function, defined or declared, or a call prototype. Each
// declaration of a name is a separate Func; operands refer to the first one.
type Func struct {
	Name       string
	Kernel     bool
	Linkage    string
	Results    []*Var
	Params     []*Var
	HasResults bool // the text has a result list, which may be empty: ()
	HasParams  bool
	Attrs      []Directive // attributes such as .maxntid and .noreturn; .attribute comes first
	Defined    bool        // the function has a body
	Regs       []*Reg
	Vars       []*Var
	Targets    []*Targets
	Blocks     []*Block // in text order; execution starts at the first
	Pos        Pos
	Doc        []string
	Tail       []string // comments after the last instruction

	Annotations *Annotations // nil unless package dsl built the function
}

// Attr returns the attribute of f with a name, including the dot, or nil.
func (f *Func) Attr(name string) *Directive {
	for i := range f.Attrs {
		if f.Attrs[i].Name == name {
			return &f.Attrs[i]
		}
	}
	return nil
}

// A Reg is a virtual register.
type Reg struct {
	Name   string // including its %, if it has one; if empty, lowering chooses a name
	Type   isa.Type
	Vec    uint8 // number of elements of a vector register, or 0 for a scalar
	Varies bool  // reassigned by the builder: a variable of package dsl
	Pos    Pos
	Number int32 // index in Func.Regs; see Func.Number
	Uses   int32 // number of operands that name the register, maintained by the builder
	Set    bool  // the builder wrote the variable again after its first write
}

// Number assigns consecutive indices to the registers of f, starting at 0, so that slices can be
// indexed by register. The indices are valid until registers are added, removed or numbered again.
func (f *Func) Number() {
	for i, r := range f.Regs {
		r.Number = int32(i)
	}
}

// Stem returns the name prefix for unnamed registers of a type, as compilers choose it.
func Stem(t isa.Type) string {
	switch {
	case t == isa.Predicate:
		return "%p"
	case t == isa.F32:
		return "%f"
	case t == isa.F64:
		return "%fd"
	case t.Class() == isa.Half && t.Bits() == 16:
		return "%h"
	case t.Class() == isa.Half:
		return "%hh"
	case t.Bits() == 16:
		return "%rs"
	case t.Bits() == 64:
		return "%rd"
	case t.Bits() == 128:
		return "%rq"
	}
	return "%r"
}

// A Targets is a labelled list in a function: labels for brx.idx, functions for an indirect
// call, or a call prototype.
type Targets struct {
	Name   string
	Blocks []*Block
	Funcs  []*Func
	Proto  *Func
	Ahead  bool // declared before all instructions
	// Before is the instruction that the list is declared before, unless Ahead is set. Code that
	// ptxas generates for debugging depends on this position. If Before is nil, or a pass has
	// removed it, the list is declared before the only instruction that uses it, or before all
	// instructions if several use it.
	Before *Instr
	Pos    Pos
	Doc    []string
	Note   string
}

// A Block is a basic block: control enters at its first instruction and leaves at its last, or
// falls through to the next block.
type Block struct {
	Labels []Label
	Instrs []*Instr
}

// A Label is a name of a block.
type Label struct {
	Name string
	Pos  Pos
	Doc  []string
	Note string
}

// Name returns the first label of b, or "".
func (b *Block) Name() string {
	if len(b.Labels) == 0 {
		return ""
	}
	return b.Labels[0].Name
}

// Operands calls visit with every operand of f's instructions, and every part of one.
func (f *Func) Operands(visit func(*Operand)) {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				in.Args[i].Walk(visit)
			}
		}
	}
}
