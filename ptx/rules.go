// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"embed"
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

// pages holds the page of each rule.
//
//go:embed rules/*.md
var pages embed.FS

// Rules returns the rules of syntax, which the parser reports.
func Rules() diag.Rules {
	var list diag.Rules
	for _, id := range []string{
		syntax, literal, unclosed, tooDeep, sink, nesting, tooLarge, tooMany, structure,
	} {
		list = append(list, diag.Rule{ID: id, Layer: "form"})
	}
	return list.WithPages(pages)
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
