// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

// A Pos is a byte offset into File.Text.
type Pos int32

// NoPos is the position of something that is not in the text.
const NoPos Pos = -1

// A File is one parsed PTX module. The texts of nodes are substrings of Text.
type File struct {
	Name     string
	Text     string
	Decls    []Node    // declarations and directives at module scope, in source order
	Comments []Comment // in source order

	lines lineTable
}

// A Comment is a // or /* */ comment, or a line marker of a preprocessor (# 12 "file"). The text
// includes the comment markers, but not the line end.
type Comment struct {
	At   Pos
	Text string
}

// A Node is a part of the syntax tree, such as a declaration or a statement.
type Node interface {
	Pos() Pos // first byte
	End() Pos // just after the last byte
}

// A Span is the range of a node in the text. Every node embeds a Span.
type Span struct{ At, To Pos }

// Pos returns the offset of the node's first byte.
func (s Span) Pos() Pos { return s.At }

// End returns the offset after the node's last byte.
func (s Span) End() Pos { return s.To }

// A Word is a name or literal from the source, with its position.
type Word struct {
	Span
	Text string
}

// Nodes at module scope and in functions.
type (
	// A Directive is a word with a leading dot and its arguments, except declarations: .version,
	// .target, .file, .loc, .pragma, .maxntid, .branchtargets, and every unknown directive. Args
	// are its arguments as operands: two for a list "a, b", two names for .target sm_90a, debug.
	// Label is the label before .branchtargets or .calltargets. Attributes of .loc, such as
	// `function_name lbl, inlined_at 1 2 3`, are further Args of kind Tuple, with the word in
	// Text. @@DWARF of PTX 1 is also a Directive; the rest of its line is one Arg of kind
	// Literal.
	Directive struct {
		Span
		Name  Word // includes the dot
		Label Word // "" if the directive has no label
		Args  []Operand
		Semi  bool // ends with a semicolon
	}

	// A Section is a DWARF block: .section name { ... }.
	Section struct {
		Span
		Name  Word
		Lines []Node // *Label, *Data
	}

	// A Sources is .nv_intermediate_source_section { ... }: source text in an intermediate
	// language, for debuggers.
	Sources struct {
		Span
		Name   Word
		Blocks []Node // *Source
	}

	// A Source is a .code_block of a Sources: .ir_name, .sourceFileName, and the lines between
	// .source_begin and .source_end.
	Source struct {
		Span
		Name     Word    // .code_block
		Language Word    // a string
		File     Operand // the file number, as in .file
		Text     Word    // including line feeds, unchanged
	}

	// A Data is one line of a Section, such as `.b32 1, 2, label+4`.
	Data struct {
		Span
		Type Word
		Args []Operand
	}

	// A Var declares variables: linkage, state space, attributes, type and declarators. A
	// register is a variable in state space .reg.
	Var struct {
		Span
		Linkage []Word   // .extern .visible .weak .common; for a parameter, .hidden
		Space   Word     // .reg .global .shared .const .local .param .tex .sreg
		Bank    *Operand // .const[2]
		Attrs   []Attr   // .align 8, .ptr, .attribute(.managed), in source order
		Vec     Word     // .v2 .v4 .v8; "" if none
		Type    Word     // with the dot
		Names   []Declarator
	}

	// An Attr is an attribute of a variable or parameter: .align N, .ptr, .global (after .ptr),
	// .attribute(.managed, .unified(0, 1)). Args has the operands that follow Name.
	Attr struct {
		Span
		Name Word
		Args []Operand
	}

	// A Declarator is one name in a declaration: name, name<n>, name[d][d] = init.
	Declarator struct {
		Span
		Name  Word
		Count *Operand  // %r<10>, nil if none
		Dims  []Operand // kind Empty for []
		Init  *Operand  // expression, name, or Vector for braces
	}

	// A Func is an .entry or .func, with or without a body, or a call prototype.
	Func struct {
		Span
		Linkage []Word
		Kind    Word // .entry, .func or .callprototype
		Label   Word // label of a prototype
		// Returns is nil for a function without results. HasReturns distinguishes () from an
		// absent list.
		Returns               []*Var
		Params                []*Var
		Name                  Word // "_" for a prototype
		HasReturns, HasParams bool
		// Attrs are the directives between header and body, such as .maxntid 128 and .noreturn.
		// An .attribute(...) before the name is the first of them.
		Attrs []*Directive
		Body  *Block // nil for a declaration
	}

	// A Block is { ... }: the body of a function, or a nested block.
	Block struct {
		Span
		Stmts []Node
	}

	// A Label is `name:` in a function or section.
	Label struct {
		Span
		Name Word
	}

	// An Instr is one instruction.
	Instr struct {
		Span
		Guard Guard
		Op    Word // opcode with all modifiers, without white space
		Args  []Operand
	}

	// A Bad is a range of text that could not be parsed.
	Bad struct{ Span }
)

// A Guard is @p or @!p. Its Text is "" if the instruction has no guard.
type Guard struct {
	Word
	Not bool
}

// An OperandKind is the syntactic kind of an operand.
type OperandKind uint8

// The kinds of operands.
const (
	Empty   OperandKind = iota // nothing between the delimiters, as in []
	Name                       // %r1, var, label, %tid.x, sm_90, _; Text is the whole word
	Literal                    // 1, 0x1F, 0f3F800000, 1.5, 7U; Text is the literal
	String                     // "..." with quotes in Text
	Unary                      // -x, ~x, !x; Text is the operator
	// Binary is x+y and other operators, and also field = x; Text is the operator, Args the two
	// sides.
	Binary
	Cond    // x ? y : z
	Cast    // (.s64) x; Text is the type
	Paren   // (x) in a constant expression
	Vector  // {x, y}
	Address // [x, y]
	Pair    // x|y
	List    // (x, y): argument lists of call
	Index   // x[y] outside a bracket: Args are x and y
	Call    // generic(x), 0xff(x), .unified(1, 2): Text is the word or the mask
	// Series is x<n> in .branchtargets and .calltargets, for x0 to x(n-1); Text is x, Args the
	// number.
	Series
	Tuple // a named group in a directive: Text is the word
)

// An Operand is an operand of an instruction or directive, or part of one. One small struct
// represents all kinds, because a module may have millions of operands.
type Operand struct {
	Span
	Kind   OperandKind
	Spaced bool // white space, not a comma, precedes the Directive argument
	Text   string
	Args   []Operand
}
