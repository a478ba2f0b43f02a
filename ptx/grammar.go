// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar of declarations and directives. It does not cover the bodies of functions and
// sections: a frame ends at Open, the brace that starts a body. Three parts are single tokens:
// Params is a parameter list, whose elements are parsed separately as parameter; Initial is an
// initializer; Rest is the rest of a line of @@DWARF. WARP_SZ is a Number. Unwritten stands for
// an optional semicolon that the text does not have.
type (
	// An item is one declaration or directive.
	item struct {
		Linkage   lexer.Token `parser:"( ( @('.extern' | '.visible' | '.weak' | '.common') )?"`
		Function  *function   `parser:"( @@"`
		Variable  *variable   `parser:"| @@ ) )"`
		Prototype *prototype  `parser:"| @@"`
		Section   *section    `parser:"| @@"`
		Directive *directive  `parser:"| @@"`
	}

	function struct {
		Entry   lexer.Token  `parser:"( @'.entry'"`
		Func    lexer.Token  `parser:"| @'.func'"`
		Marks   *attribution `parser:"  @@?"`
		Returns lexer.Token  `parser:"  @Params? )"`
		Name    lexer.Token  `parser:"@Name"`
		Params  lexer.Token  `parser:"@Params?"`
		Notes   []*directive `parser:"@@*"`
		End     lexer.Token  `parser:"@(';' | Open | Unwritten)"`
	}

	prototype struct {
		Kind    lexer.Token  `parser:"@'.callprototype'"`
		Returns lexer.Token  `parser:"@Params?"`
		Name    lexer.Token  `parser:"@'_'"`
		Params  lexer.Token  `parser:"@Params?"`
		Notes   []*directive `parser:"@@*"`
		End     lexer.Token  `parser:"@';'"`
	}

	section struct {
		Kind lexer.Token `parser:"@'.section'"`
		Name lexer.Token `parser:"@Dot"`
		End  lexer.Token `parser:"@Open"`
	}

	// A variable with a type but without a state space is only valid if it declares no name.
	variable struct {
		Before []*attribute  `parser:"@@*"`
		Alone  *aloneType    `parser:"( @@"`
		Space  lexer.Token   `parser:"| @('.global' | '.shared' | '.const' | '.local' | '.reg' | '.param' | '.tex' | '.sreg' | '.surf' | '.sampler')"`
		Bank   lexer.Token   `parser:"( '[' @Number ']' )?"`
		After  []*attribute  `parser:"@@*"`
		Vector lexer.Token   `parser:"@('.v2' | '.v4')?"`
		Type   lexer.Token   `parser:"@Dot )"`
		Names  []*declarator `parser:"( @@ ( ',' @@ )* )?"`
		End    lexer.Token   `parser:"@';'"`
	}

	aloneType struct {
		Vector lexer.Token `parser:"( @('.v2' | '.v4')"`
		Of     lexer.Token `parser:"  @Dot"`
		Type   lexer.Token `parser:"| @('.pred' | '.b8' | '.b16' | '.b32' | '.b64' | '.b128' | '.u8' | '.u16' | '.u32' | '.u64' | '.s8' | '.s16' | '.s32' | '.s64' | '.f16' | '.f16x2' | '.f32' | '.f32x2' | '.f64' | '.u16x2' | '.s16x2' | '.e4m3' | '.e5m2' | '.e4m3x2' | '.e5m2x2' | '.texref' | '.samplerref' | '.surfref') )"`
	}

	declarator struct {
		Name    lexer.Token  `parser:"@Name"`
		Count   lexer.Token  `parser:"( '<' @Number '>' (?! '[' | '=' ) )?"`
		Dims    []*dimension `parser:"@@*"`
		Initial lexer.Token  `parser:"( '=' @Initial )?"`
	}

	dimension struct {
		Open  lexer.Token `parser:"@'['"`
		Size  lexer.Token `parser:"@Number?"`
		Close lexer.Token `parser:"@']'"`
	}

	parameter struct {
		Hidden  lexer.Token  `parser:"@'.hidden'?"`
		Before  []*attribute `parser:"@@*"`
		Space   lexer.Token  `parser:"@('.param' | '.reg' | '.global' | '.shared' | '.const' | '.local')"`
		After   []*attribute `parser:"@@*"`
		Vector  lexer.Token  `parser:"@('.v2' | '.v4')?"`
		Type    lexer.Token  `parser:"@Dot"`
		Pointer *pointer     `parser:"@@?"`
		Name    lexer.Token  `parser:"@(Name | '_')"`
		Dim     *dimension   `parser:"@@?"`
	}

	// A pointer is the .ptr attribute of a pointer parameter, with the state space, which is
	// optional, and the alignment of the memory to which the parameter points.
	pointer struct {
		Word  lexer.Token `parser:"( @'.ptr'"`
		Space lexer.Token `parser:"  @('.global' | '.shared' | '.const' | '.local')?"`
		Align *alignment  `parser:"  @@?"`
		Alone *alignment  `parser:"| @@ )"`
	}

	attribute struct {
		Align *alignment   `parser:"@@"`
		Marks *attribution `parser:"| @@"`
	}

	alignment struct {
		Word lexer.Token `parser:"@'.align'"`
		Size lexer.Token `parser:"@Number"`
	}

	attribution struct {
		Word  lexer.Token `parser:"@'.attribute' '('"`
		Marks []*mark     `parser:"@@ ( ',' @@ )*"`
		Close lexer.Token `parser:"@')'"`
	}

	mark struct {
		Word  lexer.Token `parser:"@Dot"`
		Args  []*argument `parser:"( '(' @@ ',' @@"`
		Close lexer.Token `parser:"@')' )?"`
	}

	// A directive is a word with a dot and its arguments. Known directives have separate forms;
	// Other accepts directives of later PTX versions.
	directive struct {
		Version *versionDirective `parser:"@@"`
		Number  *numberDirective  `parser:"| @@"`
		Numbers *sizeDirective    `parser:"| @@"`
		Plain   *plainDirective   `parser:"| @@"`
		Words   *wordDirective    `parser:"| @@"`
		Texts   *textDirective    `parser:"| @@"`
		Targets *targetDirective  `parser:"| @@"`
		Alias   *aliasDirective   `parser:"| @@"`
		File    *fileDirective    `parser:"| @@"`
		Loc     *locDirective     `parser:"| @@"`
		Dwarf   *dwarfDirective   `parser:"| @@"`
		Other   *otherDirective   `parser:"| @@"`
	}

	versionDirective struct {
		Word   lexer.Token `parser:"@'.version'"`
		Number lexer.Token `parser:"@Float"`
	}

	numberDirective struct {
		Word lexer.Token `parser:"@('.address_size' | '.minnctapersm' | '.maxnctapersm' | '.maxnreg' | '.maxclusterrank' | '.abi_preserve' | '.abi_preserve_control')"`
		Arg  *argument   `parser:"@@"`
	}

	sizeDirective struct {
		Word lexer.Token `parser:"@('.maxntid' | '.reqntid' | '.reqnctapercluster')"`
		Args []*argument `parser:"@@ ( ',' @@ ( ',' @@ )? )?"`
	}

	plainDirective struct {
		Word lexer.Token `parser:"@('.noreturn' | '.explicitcluster' | '.blocksareclusters' | '.unique')"`
	}

	wordDirective struct {
		Word lexer.Token   `parser:"@'.target'"`
		Args []lexer.Token `parser:"@(Name ( ',' Name )*)"`
	}

	textDirective struct {
		Word lexer.Token   `parser:"@'.pragma'"`
		Args []lexer.Token `parser:"@(String ( ',' String )*)"`
		End  lexer.Token   `parser:"@';'"`
	}

	targetDirective struct {
		Word lexer.Token `parser:"@('.branchtargets' | '.calltargets')"`
		Args []*target   `parser:"@@ ( ',' @@ )*"`
		End  lexer.Token `parser:"@';'"`
	}

	target struct {
		Name  lexer.Token `parser:"@Name"`
		Count lexer.Token `parser:"( '<' @Number '>' )?"`
	}

	aliasDirective struct {
		Word lexer.Token   `parser:"@'.alias'"`
		Args []lexer.Token `parser:"@(Name ',' Name)"`
		End  lexer.Token   `parser:"@';'"`
	}

	fileDirective struct {
		Word  lexer.Token   `parser:"@'.file'"`
		Index lexer.Token   `parser:"@Number"`
		Path  lexer.Token   `parser:"@String"`
		More  []lexer.Token `parser:"@( ',' Number ( ',' Number )? )?"`
	}

	locDirective struct {
		Word   lexer.Token   `parser:"@'.loc'"`
		Place  []lexer.Token `parser:"@(Number Number Number)"`
		Inline *inlined      `parser:"( ',' @@ )?"`
	}

	inlined struct {
		Word   lexer.Token   `parser:"@'function_name'"`
		Name   lexer.Token   `parser:"@Name"`
		Offset lexer.Token   `parser:"( '+' @Number )?"`
		At     lexer.Token   `parser:"',' @'inlined_at'"`
		Place  []lexer.Token `parser:"@(Number Number Number)"`
	}

	dwarfDirective struct {
		Word lexer.Token `parser:"@Dwarf"`
		Rest lexer.Token `parser:"@Rest?"`
	}

	otherDirective struct {
		Word lexer.Token   `parser:"(?! '.global' | '.shared' | '.const' | '.local' | '.reg' | '.param' | '.tex' | '.sreg' | '.surf' | '.sampler' | '.extern' | '.visible' | '.weak' | '.common' | '.entry' | '.func' | '.callprototype' | '.section' | '.align' | '.attribute' | '.ptr' | '.version' | '.address_size' | '.minnctapersm' | '.maxnctapersm' | '.maxnreg' | '.maxclusterrank' | '.abi_preserve' | '.abi_preserve_control' | '.maxntid' | '.reqntid' | '.reqnctapercluster' | '.noreturn' | '.explicitcluster' | '.blocksareclusters' | '.unique' | '.target' | '.pragma' | '.branchtargets' | '.calltargets' | '.alias' | '.file' | '.loc' ) @Dot"`
		Args []lexer.Token `parser:"@( ( Number | Float | Name | String ) ( ',' ? ( Number | Float | Name | String ) )* )?"`
		End  lexer.Token   `parser:"@';'?"`
	}

	argument struct {
		Value lexer.Token `parser:"@Number"`
	}
)

// A grammar holds the parsers for the types above.
type grammar struct {
	item      *participle.Parser[item]
	parameter *participle.Parser[parameter]
}

// theGrammar returns the grammar. It is built at the first call, because that takes longer than
// parsing a small file.
var theGrammar = sync.OnceValue(func() grammar {
	options := []participle.Option{participle.Lexer(symbols{}), participle.UseLookahead(0)}
	return grammar{
		item:      participle.MustBuild[item](options...),
		parameter: participle.MustBuild[parameter](options...),
	}
})
