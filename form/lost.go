// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// A lostNameSet holds the names in the parts of a module that could not be parsed. Such a part
// may declare a name that seems to be undeclared. The parser has reported an error in the part,
// so the name is not reported again.
type lostNameSet struct {
	declared   map[string]bool // names that the parts may declare
	ranges     map[string]bool // prefixes of ranges that the parts may declare
	named      map[string]bool // all names in the parts
	badVersion bool            // the module starts with a .version that could not be parsed
}

// findLost collects the names in the parts that the parser could not parse.
func findLost(f *ptx.File) *lostNameSet {
	l := &lostNameSet{declared: map[string]bool{}, ranges: map[string]bool{},
		named: map[string]bool{}}
	l.nodes(f.Text, f.Decls)
	if len(f.Decls) > 0 && isBad(f.Decls[0]) {
		l.badVersion = strings.HasPrefix(f.Text[f.Decls[0].Pos():], ".version")
	}
	return l
}

func (l *lostNameSet) nodes(text string, list []ptx.Node) {
	for _, n := range list {
		switch n := n.(type) {
		case *ptx.Bad:
			l.addPart(text[n.At:n.To])
		case *ptx.Block:
			l.nodes(text, n.Stmts)
		case *ptx.Func:
			if n.Body != nil {
				l.nodes(text, n.Body.Stmts)
			}
		}
	}
}

// addPart adds the names of one part. A single instruction on one line declares nothing.
func (l *lostNameSet) addPart(text string) {
	declares := strings.HasPrefix(text, ".") || strings.Contains(text, "\n") ||
		ptx.DeclaresWithoutDot(text)
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && isNameByte(text[i]) {
			i++
		}
		if i == start {
			i++
			continue
		}
		name := text[start:i]
		l.named[name] = true
		if declares {
			l.declared[name] = true
			l.ranges[name] = l.ranges[name] ||
				strings.HasPrefix(strings.TrimLeft(text[i:min(len(text), i+8)], " \t"), "<")
		}
	}
}

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '$' ||
		c == '%'
}

// lostName reports whether a part that could not be parsed may declare a name.
func (c *checker) lostName(name string) bool {
	l := c.lostNames()
	return l.declared[name] || l.ranges[strings.TrimRight(name, "0123456789")]
}

// lostNames returns the result of findLost, which is computed at the first call.
func (c *checker) lostNames() *lostNameSet {
	if c.lostNamesCache == nil {
		c.lostNamesCache = findLost(c.src)
	}
	return c.lostNamesCache
}

// missingBrace reports whether the current body has no closing brace. Then inner blocks may not
// end where the author intended.
func (c *checker) missingBrace() bool {
	b := c.body
	return b != nil && b.block != nil && b.block.To > 0 && c.src.Text[b.block.To-1] != '}'
}
