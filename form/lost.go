// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// A lost is the names in the stretches of a module that could not be parsed. What is missing
// elsewhere may be there, so nothing is said of it: the parser has reported the stretch.
type lost struct {
	declared map[string]bool // of stretches that may declare them
	ranges   map[string]bool // name of name<n> there
	named    map[string]bool // of all stretches
	headed   bool            // the module begins with a .version that could not be parsed
}

// findLost reads the stretches that the parser passed over.
func findLost(f *ptx.File) *lost {
	l := &lost{declared: map[string]bool{}, ranges: map[string]bool{}, named: map[string]bool{}}
	l.nodes(f.Text, f.Decls)
	if len(f.Decls) > 0 && isBad(f.Decls[0]) {
		l.headed = strings.HasPrefix(f.Text[f.Decls[0].Pos():], ".version")
	}
	return l
}

func (l *lost) nodes(text string, list []ptx.Node) {
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

// stretch notes the names of one stretch. One instruction on a line of its own declares nothing.
func (l *lost) stretch(text string) {
	declares := strings.HasPrefix(text, ".") || strings.Contains(text, "\n") || ptx.DeclaresWithoutDot(text)
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
			l.ranges[name] = l.ranges[name] || strings.HasPrefix(strings.TrimLeft(text[i:min(len(text), i+8)], " \t"), "<")
		}
	}
}

func inName(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '%'
}

// lostName reports whether a name that nothing declares may be declared in a stretch that could not be parsed.
func (c *checker) lostName(name string) bool {
	l := c.lostNames()
	return l.declared[name] || l.ranges[strings.TrimRight(name, "0123456789")]
}

// lostNames returns what findLost found; it is asked for where something is missing.
func (c *checker) lostNames() *lost {
	if c.lost == nil {
		c.lost = findLost(c.src)
	}
	return c.lost
}

// torn reports whether the body being read has no end: blocks inside of it may not be where their author sees them.
func (c *checker) torn() bool {
	b := c.body
	return b != nil && b.block != nil && b.block.To > 0 && c.src.Text[b.block.To-1] != '}'
}
