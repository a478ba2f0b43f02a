// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package gen reads the instruction set from isa/spec and writes it as Go. Its first half (grammar,
// resolve) turns spec text into the model of package isa; its second half (emit) turns the model
// into source. The notation is described in isa/spec/README.md.
package gen

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// keywords are the words that start a statement at the beginning of a line.
const keywords = `family|gate|set|ins|section|form|since|gone|when|require|forbid|table|row|effects|` +
	`kind|repeat|ignore|lenient|note|ordered|type|special|directive|where|args|pragma|version|target`

var specLexer = lexer.MustSimple([]lexer.SimpleRule{
	{Name: "Key", Pattern: `[ \t\r\n]*\n[ \t]*(?:` + keywords + `)\b`},
	{Name: "Space", Pattern: `[ \t\r\n]+`},
	{Name: "Comment", Pattern: `#[^\n]*`},
	{Name: "String", Pattern: `"(?:\\.|[^"\\\n])*"`},
	{Name: "Special", Pattern: `%[a-z_0-9]+(?:<[0-9]+(?:\.\.[0-9]+)?>)?`},
	{Name: "Section", Pattern: `\d+\.\d+\.\d+(?:\.\d+)*`},
	{Name: "Version", Pattern: `\d+\.\d+\b`},
	{Name: "Dots", Pattern: `\.\.`},
	{Name: "Mod", Pattern: `@@dwarf|\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*(?::\d+)?`},
	{Name: "Target", Pattern: `\d+[af]\b`},
	{Name: "Int", Pattern: `-?\d+`},
	{Name: "Ident", Pattern: `[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z0-9_]+)*`},
	{Name: "Arrow", Pattern: `->`},
	{Name: "Punct", Pattern: `[][{}()<>,:;=|!&*/+-]`},
})

var specParser = participle.MustBuild[File](
	participle.Lexer(specLexer),
	participle.Elide("Space", "Comment"),
	participle.Map(func(t lexer.Token) (lexer.Token, error) {
		word := strings.TrimLeft(t.Value, "\r\n \t")
		blank := t.Value[:len(t.Value)-len(word)]
		t.Pos.Line += strings.Count(blank, "\n")
		t.Pos.Column = len(blank) - strings.LastIndexByte(blank, '\n')
		t.Value = word
		return t, nil
	}, "Key"),
	participle.Unquote("String"),
	participle.UseLookahead(4),
)

// A File is a parsed spec file: a flat list of statements, which the resolver interprets in order.
type File struct {
	Stmts []*Stmt `parser:"@@*"`
}

// A Stmt is one statement.
type Stmt struct {
	Pos lexer.Position

	Family    *Named     `parser:"  'family':Key @@"`
	Gate      *NamedGate `parser:"| 'gate':Key @@"`
	Set       *SetDecl   `parser:"| 'set':Key @@"`
	Ins       *InsDecl   `parser:"| 'ins':Key @@"`
	Section   *Section   `parser:"| 'section':Key @@"`
	Kind      []string   `parser:"| 'kind':Key @Ident @Mod*"`
	Form      *FormDecl  `parser:"| 'form':Key @@"`
	Since     *GateExpr  `parser:"| 'since':Key @@"`
	Gone      *GateExpr  `parser:"| 'gone':Key @@"`
	When      *WhenDecl  `parser:"| 'when':Key @@"`
	Require   *RuleDecl  `parser:"| 'require':Key @@"`
	Forbid    *RuleDecl  `parser:"| 'forbid':Key @@"`
	Table     *TableDecl `parser:"| 'table':Key @@"`
	Row       *RowDecl   `parser:"| 'row':Key @@"`
	Effects   []string   `parser:"| 'effects':Key @Ident+"`
	Repeat    []string   `parser:"| 'repeat':Key @Mod+"`
	Ignore    []string   `parser:"| 'ignore':Key @Mod+"`
	Lenient   *string    `parser:"| 'lenient':Key @String"`
	Note      *string    `parser:"| 'note':Key @String"`
	Ordered   []string   `parser:"| 'ordered':Key @Mod+"`
	Type      *TypeDecl  `parser:"| 'type':Key @@"`
	Special   *WordDecl  `parser:"| 'special':Key @@"`
	Directive *WordDecl  `parser:"| 'directive':Key @@"`
	Where     []string   `parser:"| 'where':Key @Ident+"`
	Args      *string    `parser:"| 'args':Key @String"`
	Pragma    *WordDecl  `parser:"| 'pragma':Key @@"`
	Version   *VerDecl   `parser:"| 'version':Key @@"`
	Target    *TargDecl  `parser:"| 'target':Key @@"`
}

// Named is a name with a description.
type Named struct {
	Name string `parser:"@Ident"`
	What string `parser:"@String"`
}

// InsDecl is the name of an instruction: head and further words.
type InsDecl struct {
	Head  string   `parser:"@Ident"`
	Words []string `parser:"@Mod*"`
	What  string   `parser:"@String"`
}

// WordDecl declares a special register, directive or pragma.
type WordDecl struct {
	Name string `parser:"@(Special|Mod|String)"`
	What string `parser:"@String"`
}

// VerDecl declares a PTX version.
type VerDecl struct {
	Name string `parser:"@Version"`
	What string `parser:"@String?"`
}

// A TargDecl declares a target. Its family, if any, is on the same line.
type TargDecl struct {
	Name   string  `parser:"@Ident"`
	Family *int    `parser:"( 'family' @Int )?"`
	Since  *string `parser:"( 'since' @Version )?"`
	Until  *string `parser:"( 'until' @Version )?"`
}

// TypeDecl is a type of the table, such as `.u32 unsigned 32`, or the type of a special register,
// such as `v4 u32`.
type TypeDecl struct {
	Word  string   `parser:"( @Mod"`
	Class string   `parser:"  @Ident"`
	Bits  int      `parser:"  @Int"`
	Flags []string `parser:"  @Ident*"`
	Of    []string `parser:"| @Ident+ )"`
}

// Section is a section of the manual of PTX ISA 9.1, or of another version if one is given.
type Section struct {
	Version string `parser:"( @Version ':' )?"`
	Number  string `parser:"@(Section|Version)"`
}

// NamedGate names a gate.
type NamedGate struct {
	Name string   `parser:"@Ident '='"`
	Gate GateExpr `parser:"@@"`
}

// GateExpr is a gate: a list of clauses, of which one must hold.
type GateExpr struct {
	Clauses []*GateClause `parser:"@@ ( ';' @@ )*"`
}

// GateClause is a version and targets, or the name of another gate.
type GateClause struct {
	Pos   lexer.Position
	Name  string   `parser:"  @Ident"`
	Since string   `parser:"| @Version"`
	On    []string `parser:"  ( 'on' @(Int|Target)+ )?"`
}

// SetDecl declares a closed set of modifiers under one or more names.
type SetDecl struct {
	Names  []string     `parser:"@Mod+ '='"`
	Values []*ValueDecl `parser:"@@+"`
}

// ValueDecl is one modifier of a set.
type ValueDecl struct {
	Mod  string    `parser:"@Mod"`
	Gate *GateExpr `parser:"( '[' @@ ']' )?"`
}

// WhenDecl restricts some combinations of modifiers to a gate.
type WhenDecl struct {
	If   *Implies  `parser:"@@"`
	Word string    `parser:"@( 'since' | 'gone' )"`
	Gate *GateExpr `parser:"@@"`
}

// RuleDecl is a constraint between modifiers.
type RuleDecl struct {
	Expr *Implies `parser:"@@"`
	Why  string   `parser:"( 'because' @String )?"`
}

// An Implies is an expression: an implication between two disjunctions, or one disjunction.
// Implies, Or, And, Not and Atom are the precedence levels of the expression grammar, from the
// lowest.
type Implies struct {
	Left  *Or      `parser:"@@"`
	Right *Implies `parser:"( Arrow @@ )?"`
}

// Or is a disjunction.
type Or struct {
	Terms []*And `parser:"@@ ( '|' @@ )*"`
}

// And is a conjunction.
type And struct {
	Terms []*Not `parser:"@@ ( '&' @@ )*"`
}

// Not is a negation or an atom.
type Not struct {
	Pos   lexer.Position
	Not   *Not     `parser:"  '!' @@"`
	Group *Implies `parser:"| '(' @@ ')'"`
	Mod   string   `parser:"| @Mod"`
	Name  string   `parser:"| @Ident"`
	Most  string   `parser:"  ( '<' '=' @Ident )?"`
}

// TableDecl is the header of a table.
type TableDecl struct {
	Columns []string `parser:"@Mod+"`
	Names   []string `parser:"( ':' @Ident+ )?"`
}

// RowDecl is a row of the preceding table.
type RowDecl struct {
	Cells   []*CellDecl `parser:"@@+"`
	Lengths []int       `parser:"( ':' @Int+ )?"`
	Gate    *GateExpr   `parser:"( '[' @@ ']' )?"`
}

// CellDecl is a cell of a row.
type CellDecl struct {
	Any  bool     `parser:"  @'*'"`
	None bool     `parser:"| @'-'"`
	Mods []string `parser:"| ( @Mod | '(' ( @Mod | @'-' )+ ')' )"`
}
