// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import "github.com/alecthomas/participle/v2/lexer"

// FormDecl is the template of a form: name and modifiers, then operands.
type FormDecl struct {
	Head     string     `parser:"@Ident"`
	Parts    []*Part    `parser:"@@*"`
	Operands []*ArgItem `parser:"@@*"`
}

// A Part is a modifier or an optional group.
type Part struct {
	Mod   string  `parser:"  @Mod"`
	Group []*Part `parser:"| '{' @@+ '}'"`
}

// An ArgItem is an operand, a comma, or an optional group of operands.
type ArgItem struct {
	Comma bool     `parser:"  @','"`
	Group *ArgOpt  `parser:"| @@"`
	Arg   *ArgDecl `parser:"| @@"`
}

// ArgOpt is {, a:b32 if .x}.
type ArgOpt struct {
	Items []*ArgItem `parser:"'{' @@+"`
	If    *Implies   `parser:"( 'if' @@"`
	When  *Implies   `parser:"| 'when' @@ )? '}'"`
}

// ArgDecl is an operand with its kinds, or a bracket of operands.
type ArgDecl struct {
	Pos     lexer.Position
	Paren   *ArgDecl    `parser:"(  '(' @@ ')'"`
	Inside  []*ArgItem  `parser:"|  '[' @@+ ']'"`
	Unified bool        `parser:"( @( '{' '.unified' '}' ) )?"`
	Write   bool        `parser:"|  ( @'>'"`
	Both    bool        `parser:"   | @( '<' '>' ) )?"`
	Name    string      `parser:"   @Ident ':'"`
	Kinds   []*KindDecl `parser:"   @@ ( '|' @@ )* )"`
	Maybe   *ArgDecl    `parser:"( '{' '|' @@ '}'"`
	Pair    *ArgDecl    `parser:"| '|' @@ )?"`
}

// KindDecl is one operand kind.
type KindDecl struct {
	Pos   lexer.Position
	Word  string     `parser:"@(Mod|Ident)"`
	Not   bool       `parser:"( @'!'"`
	Paren *ParenDecl `parser:"| '(' @@ ')' )*"`
	Count string     `parser:"( '*' @(Int|Mod|Ident) )?"`
}

// A ParenDecl is the text in parentheses after a kind.
type ParenDecl struct {
	Ranges []*RangeDecl `parser:"  @@ ( ',' @@ )*"`
	Parts  []*ArgItem   `parser:"| (?= '>' | '<' | Ident ':') @@+"`
	Kind   *KindDecl    `parser:"| @@"`
	Also   string       `parser:"  ( '/' @(Mod|Ident) )?"`
}

// RangeDecl is a constant or a range of constants.
type RangeDecl struct {
	Low  int64  `parser:"@Int"`
	High *int64 `parser:"( Dots @Int"`
	Step *int64 `parser:"  ( '/' @Int )? )?"`
}
