// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ptxdsl/ptxdsl/diag"
)

// Ids of the rules that the parser reports.
const (
	syntax    = "F101"
	literal   = "F102"
	unclosed  = "F103"
	tooDeep   = "F104"
	sink      = "F105"
	nesting   = "F106"
	tooLarge  = "F107"
	tooMany   = "F108"
	structure = "F109"
)

// Rules are the rules of syntax.
func Rules() diag.Rules {
	rule := func(id, title, what, why, wrong, right, fix string) diag.Rule {
		return diag.Rule{ID: id, Title: title, Layer: "form", Severity: diag.Error,
			What: what, Why: why, Wrong: wrong, Right: right, Fix: fix}
	}
	const stops = "The assembler stops at the first such place and says no more about the file."
	return diag.Rules{
		rule(syntax, "text that is no PTX here",
			"A token that cannot stand where it stands: a lost comma or semicolon, a doubled one, a bracket of the wrong kind.",
			stops, "add.u32 %r1, %r2 %r3;", "add.u32 %r1, %r2, %r3;",
			"Write what the message expects. An offset is added even if it is negative: [%rd1+-4]."),
		rule(literal, "malformed literal or character",
			"A number with digits outside its base or a suffix that is none, 0f without 8 and 0d without 16 hexadecimal digits, a character that begins nothing, a byte beyond ASCII outside of a comment.",
			stops, "mov.f32 %f1, 0f3F80;", "mov.f32 %f1, 0f3F800000;",
			"Write the number out in full."),
		rule(unclosed, "bracket, string or comment that is not closed",
			"A bracket, scope, string or comment that is still open where it must not be, such as at the end of the file.",
			stops, ".visible .entry k()\n{\n\tret;", ".visible .entry k()\n{\n\tret;\n}",
			"Close it where it ends."),
		rule(tooDeep, "nesting too deep",
			"What the stack of the assembler, of 10000 symbols, has no room for: scopes more than 1663 deep, parentheses more than 9978 deep.",
			"No program needs it, and every reader of such a file has a limit somewhere.", "", "",
			"Name intermediate results."),
		rule(sink, "_ where a value is read",
			"The sink _ as an operand that is read. It stands for a result that nobody wants.",
			stops, "add.u32 %r1, %r2, _;", "add.u32 %r1, %r2, 0;",
			"Give a value."),
		rule(nesting, "declaration that does not belong into a function",
			"A variable with .extern, .visible, .weak or .common inside a function, or the definition of a function inside another.",
			stops, ".func f() { .extern .shared .b32 x[]; ret; }", ".extern .shared .b32 x[];\n.func f() { ret; }",
			"Move it to the module. A definition inside another is mostly a } that was lost before it."),
		rule(tooLarge, "file too large", "A file beyond two gigabytes.",
			"Positions are 32 bits wide.", "", "", "Split the module."),
		rule(tooMany, "too many errors", "A file with ten thousand syntax errors.",
			"It is hardly PTX at all.", "", "", "Look at the first errors."),
		rule(structure, "part of a module in the wrong place",
			"Statements outside of a function, .branchtargets without a label, .version broken over lines.",
			stops, ".visible .entry k() { ret; }\n}", ".visible .entry k() { ret; }",
			"Write it where the manual wants it."),
	}
}

// reportIllegal says what is wrong with a token that is none.
func (p *parser) reportIllegal(t token) {
	s := p.textOf(t)
	c := s[0]
	switch {
	case c == '"':
		p.fail(t.at, t.at+1, unclosed, "string is not closed")
		p.torn = true
	case c == '/':
		p.fail(t.at, t.at+2, unclosed, "comment is not closed")
		p.torn = true
	case classes[c]&digit != 0:
		p.fail(t.at, t.to, literal, "%s is no number%s", quoted(s), numberHint(s))
	case t.at == 0 && strings.HasPrefix(s, "\ufeff"):
		p.fail(t.at, t.to, literal, "a byte order mark begins the file; the assembler reads plain ASCII")
	case c >= utf8.RuneSelf:
		p.fail(t.at, t.to, literal, "%s is not ASCII, which only comments may leave", quoted(s))
	case c < ' ' || c == 0x7f:
		p.fail(t.at, t.to, literal, "control character %#02x is no part of PTX", c)
	case c == '#':
		p.fail(t.at, t.to, literal, "%s begins nothing in PTX but a line marker; comments begin with //", quoted(s))
	default:
		p.fail(t.at, t.to, literal, "%s begins nothing in PTX", quoted(s))
	}
}

// checkString reports bytes beyond ASCII in a string.
func (p *parser) checkString(t token) {
	s := p.textOf(t)
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			p.fail(t.at+Pos(i), t.to, literal, "string %s is not ASCII, which only comments may leave", quoted(s))
			return
		}
	}
}

// numberHint says how a number that begins as s does would have to be.
func numberHint(s string) string {
	if end := len(s) - 1; s[end]|0x20 == 'f' && numberEnd(s, 0) == end && strings.Contains(s, ".") {
		return ": floating-point constants have no suffix"
	}
	second := byte(0)
	if len(s) > 1 {
		second = s[1]
	}
	if s[0] == '0' {
		switch second | 0x20 {
		case 'f':
			return fmt.Sprintf(": 0f takes 8 hexadecimal digits, here are %d", hexEnd(s, 2)-2)
		case 'd':
			return fmt.Sprintf(": 0d takes 16 hexadecimal digits, here are %d", hexEnd(s, 2)-2)
		case 'x':
			return ": 0x takes hexadecimal digits, then U or nothing"
		case 'b':
			return ": 0b takes the digits 0 and 1, then U or nothing"
		}
		if classes[second]&digit != 0 {
			return ": a leading 0 makes it octal"
		}
	}
	return ": only U may follow the digits"
}
