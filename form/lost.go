// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// A lostNameSet holds the names in those parts of a module that could not be parsed. An undeclared
// name may be declared in such a part, for which the parser has already reported an error, so it is
// not reported again.
type lostNameSet struct {
	declared map[string]bool // names that the unparsed parts may declare
	ranges   map[string]bool // prefixes of ranges name<n> there
	named    map[string]bool // all names there
	headed   bool            // the module starts with a .version that could not be parsed
}

// findLost collects the names in the parts that the parser skipped.
func findLost(f *ptx.File) *lostNameSet {
	l := &lostNameSet{declared: map[string]bool{}, ranges: map[string]bool{},
		named: map[string]bool{}}
	l.nodes(f.Text, f.Decls)
	if len(f.Decls) > 0 && isBad(f.Decls[0]) {
		l.headed = strings.HasPrefix(f.Text[f.Decls[0].Pos():], ".version")
	}
	return l
}

func (l *lostNameSet) nodes(text string, list []ptx.Node) {
	for _, n := range list {
		switch n := n.(type) {
		case *ptx.Bad:
			l.stretch(text[n.At:n.To])
		case *ptx.Block:
			l.nodes(text, n.Stmts)
		case *ptx.Func:
			if n.Body != nil {
				l.nodes(text, n.Body.Stmts)
			}
		}
	}
}

// stretch records the names of one unparsed part. A single instruction on its own line declares
// nothing.
func (l *lostNameSet) stretch(text string) {
	declares := strings.HasPrefix(text, ".") || strings.Contains(text, "\n") ||
		ptx.DeclaresWithoutDot(text)
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && inName(text[i]) {
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

func inName(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '$' ||
		c == '%'
}

// lostName reports whether an undeclared name may be declared in an unparsed part.
func (c *checker) lostName(name string) bool {
	l := c.lostNames()
	return l.declared[name] || l.ranges[strings.TrimRight(name, "0123456789")]
}

// lostNames returns the result of findLost, computed on first use.
func (c *checker) lostNames() *lostNameSet {
	if c.lost == nil {
		c.lost = findLost(c.src)
	}
	return c.lost
}

// missingBrace reports whether the current body has no closing brace, so that inner blocks may not
// end where the author intended.
func (c *checker) missingBrace() bool {
	b := c.body
	return b != nil && b.block != nil && b.block.To > 0 && c.src.Text[b.block.To-1] != '}'
}
