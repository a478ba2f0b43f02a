// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ptxdsl/ptxdsl/diag"
)

// IDs of the rules that the parser reports.
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

// Rules returns the rules of syntax, which the parser reports.
func Rules() diag.Rules {
	rule := func(id, title, what, why, wrong, right, fix string) diag.Rule {
		return diag.Rule{ID: id, Title: title, Layer: "form", Severity: diag.Error,
			What: what, Why: why, Wrong: wrong, Right: right, Fix: fix}
	}
	const stops = "The assembler stops at the first syntax error and does not check the rest of " +
		"the file."
	return diag.Rules{
		rule(syntax, "syntax error",
			"Reports a token that is not allowed where it is: a missing or extra comma or semicolon, or "+
				"the wrong kind of bracket.",
			stops, "add.u32 %r1, %r2 %r3;", "add.u32 %r1, %r2, %r3;",
			"Write what the message expects. A negative offset is also added: [%rd1+-4]."),
		rule(literal, "malformed literal or invalid character",
			"Reports a number with digits outside its base or an unknown suffix, 0f without 8 or 0d "+
				"without 16 hexadecimal digits, a character that cannot start a token, or a "+
				"non-ASCII byte outside a comment.",
			stops, "mov.f32 %f1, 0f3F80;", "mov.f32 %f1, 0f3F800000;",
			"Write a number with all of its digits, or delete the invalid character."),
		rule(unclosed, "unclosed bracket, string or comment",
			"Reports a bracket, scope, string or comment that is still open where it must be closed, "+
				"such as at the end of the file.",
			stops, ".visible .entry k()\n{\n\tret;", ".visible .entry k()\n{\n\tret;\n}",
			"Add the closing bracket, quote or comment end."),
		rule(tooDeep, "nesting too deep",
			"Reports nesting that exceeds the assembler's parser stack of 10000 symbols: scopes more than "+
				"1663 deep, parentheses more than 9978 deep.",
			"ptxas fails on such nesting, and no program needs it.", "", "",
			"Use names for intermediate results."),
		rule(sink, "sink _ as a source operand",
			"Reports the sink _ as an operand that is read. It may only take the place of an unused "+
				"result.",
			stops, "add.u32 %r1, %r2, _;", "add.u32 %r1, %r2, 0;",
			"Use a register or a constant."),
		rule(nesting, "declaration not allowed in a function",
			"Reports a variable with .extern, .visible, .weak or .common inside a function, or a "+
				"function defined inside another.",
			stops, ".func f() { .extern .shared .b32 x[]; ret; }",
			".extern .shared .b32 x[];\n.func f() { ret; }",
			"Move the declaration to module scope. A function inside another usually means that a } is "+
				"missing before it."),
		rule(tooLarge, "file too large", "Reports a file of more than two gigabytes.",
			"Source positions are 32 bits wide.", "", "", "Split the module."),
		rule(tooMany, "too many errors",
			"Reports a file with more than ten thousand syntax errors.",
			"The file is probably not PTX.", "", "", "Fix the first errors."),
		rule(structure, "part of a module in the wrong place",
			"Reports statements outside a function, .branchtargets without a label, or .version split "+
				"over several lines.",
			stops, ".visible .entry k() { ret; }\n}", ".visible .entry k() { ret; }",
			"Move the statement to the place that the message names."),
	}
}

// reportIllegal reports an illegal token.
func (p *parser) reportIllegal(t token) {
	s := p.textOf(t)
	c := s[0]
	switch {
	case c == '"':
		p.fail(t.at, t.at+1, unclosed, "string is not closed")
		p.unclosed = true
	case c == '/':
		p.fail(t.at, t.at+2, unclosed, "comment is not closed")
		p.unclosed = true
	case classes[c]&digit != 0:
		p.fail(t.at, t.to, literal, "%s is not a number%s", quote(s), numberHint(s))
	case t.at == 0 && strings.HasPrefix(s, "\ufeff"):
		p.fail(t.at, t.to, literal, "the file starts with a byte order mark; the assembler reads "+
			"plain ASCII")
	case c >= utf8.RuneSelf:
		p.fail(t.at, t.to, literal, "%s is not ASCII, which is allowed only in comments", quote(s))
	case c < ' ' || c == 0x7f:
		p.fail(t.at, t.to, literal, "control character %#02x is not allowed in PTX", c)
	case c == '#':
		p.fail(t.at, t.to, literal, "%s is not PTX except in a line marker; comments start with //",
			quote(s))
	default:
		p.fail(t.at, t.to, literal, "%s cannot start a token in PTX", quote(s))
	}
}

// checkString reports non-ASCII bytes in a string.
func (p *parser) checkString(t token) {
	s := p.textOf(t)
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			p.fail(t.at+Pos(i), t.to, literal, "string %s is not ASCII, which is allowed only in "+
				"comments", quote(s))
			return
		}
	}
}

// numberHint returns a hint how to correct a malformed number, for messages.
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
			return fmt.Sprintf(": 0f takes 8 hexadecimal digits, found %d", hexEnd(s, 2)-2)
		case 'd':
			return fmt.Sprintf(": 0d takes 16 hexadecimal digits, found %d", hexEnd(s, 2)-2)
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
