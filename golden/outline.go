// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// A line is a line of a module's outline: what is compared, and what is shown.
type line struct {
	key  string // with names that count alone
	text string // as written
}

func keys(list []line) []string {
	out := make([]string, len(list))
	for i, l := range list {
		out[i] = l.key
	}
	return out
}

// outline is a module as lines to compare: declarations sorted, instructions in their order, registers and labels numbered by
// their first use.
func outline(f *ptx.File) []line {
	o := &outliner{f: f}
	var head, variables []line
	for _, n := range f.Decls {
		switch n := n.(type) {
		case *ptx.Func:
			continue
		case *ptx.Var:
			variables = append(variables, o.plain(n))
		default:
			head = append(head, o.plain(n))
		}
	}
	slices.SortStableFunc(variables, func(a, b line) int { return strings.Compare(a.key, b.key) })
	list := append(head, variables...)
	for _, n := range f.Decls {
		if fn, ok := n.(*ptx.Func); ok {
			list = append(list, o.function(fn)...)
		}
	}
	return list
}

// An outliner makes the lines of a file.
type outliner struct {
	f     *ptx.File
	names map[string]string // of a function's registers and labels
	count map[string]int    // names given, by kind
	types map[string]string // of registers by name, or by letters for ranges
}

// plain is a statement whose names all count.
func (o *outliner) plain(n ptx.Node) line {
	text := strings.Join(strings.Fields(o.f.Text[n.Pos():n.End()]), " ")
	return line{text, text}
}

func (o *outliner) function(n *ptx.Func) []line {
	o.names, o.count, o.types = make(map[string]string), make(map[string]int), make(map[string]string)
	to := n.End()
	if n.Body != nil {
		to = n.Body.Pos()
	}
	text := strings.Join(strings.Fields(o.f.Text[n.Pos():to]), " ")
	list := []line{{text, text}}
	if n.Body == nil {
		return list
	}
	var variables, code []line
	o.block(n.Body, &variables, &code)
	slices.SortStableFunc(variables, func(a, b line) int { return strings.Compare(a.key, b.key) })
	return append(append(list, variables...), code...)
}

// block collects the declarations of a block and its code.
func (o *outliner) block(b *ptx.Block, variables, code *[]line) {
	for _, n := range b.Stmts {
		switch n := n.(type) {
		case *ptx.Var:
			if n.Space.Text != ".reg" {
				*variables = append(*variables, o.plain(n))
				continue
			}
			for _, d := range n.Names {
				o.types[d.Name.Text] = n.Type.Text
			}
		case *ptx.Label:
			key := o.label(n.Name.Text) + ":"
			*code = append(*code, line{key, n.Name.Text + ":"})
		case *ptx.Instr:
			*code = append(*code, o.instr(n))
		case *ptx.Block:
			o.block(n, variables, code)
		case *ptx.Directive:
			if n.Name.Text == ".loc" {
				continue // where it comes from is no part of the code
			}
			key := n.Name.Text
			for i := range n.Args {
				key += " " + o.operand(&n.Args[i])
			}
			*code = append(*code, line{key, o.plain(n).text})
		default:
			*code = append(*code, o.plain(n))
		}
	}
}

func (o *outliner) instr(n *ptx.Instr) line {
	var b strings.Builder
	if n.Guard.Text != "" {
		b.WriteByte('@')
		if n.Guard.Not {
			b.WriteByte('!')
		}
		b.WriteString(o.name(n.Guard.Text) + " ")
	}
	b.WriteString(n.Op.Text)
	for i := range n.Args {
		sep := ", "
		if i == 0 {
			sep = " "
		}
		b.WriteString(sep + o.operand(&n.Args[i]))
	}
	return line{b.String(), "\t" + o.plain(n).text}
}

func (o *outliner) operand(x *ptx.Operand) string {
	if len(x.Args) == 0 {
		if x.Kind == ptx.Name {
			return o.name(x.Text)
		}
		return x.Text
	}
	parts := make([]string, len(x.Args))
	for i := range x.Args {
		parts[i] = o.operand(&x.Args[i])
	}
	return fmt.Sprintf("%d%s(%s)", x.Kind, x.Text, strings.Join(parts, ", "))
}

// label is the number of a label, by its first use.
func (o *outliner) label(text string) string { return o.numbered(text, "label ") }

// name is a register as its type and number, a label as its number, and anything else as itself.
func (o *outliner) name(text string) string {
	base, field := text, ""
	if i := strings.IndexByte(text, '.'); i > 0 {
		base, field = text[:i], text[i:]
	}
	if t, ok := o.types[base]; ok {
		return o.numbered(base, "register"+t+" ") + field
	}
	if letters := strings.TrimRight(base, "0123456789"); letters != base {
		if t, ok := o.types[letters]; ok {
			return o.numbered(base, "register"+t+" ") + field
		}
	}
	if strings.HasPrefix(text, "%") || !o.isLabel(text) {
		return text
	}
	return o.label(text)
}

// isLabel reports whether a name was met as a label, or may be one further down.
func (o *outliner) isLabel(text string) bool {
	if _, ok := o.names[text]; ok {
		return true
	}
	return strings.Contains(o.f.Text, "\n"+text+":")
}

func (o *outliner) numbered(text, kind string) string {
	if s, ok := o.names[text]; ok {
		return s
	}
	s := fmt.Sprint(kind, o.count[kind])
	o.count[kind]++
	o.names[text] = s
	return s
}

// context is how many lines are shown around a difference.
const context = 3

// difference shows where two outlines differ: lines that are in one alone, with those around them.
func difference(x, y []line) string {
	common := longest(keys(x), keys(y))
	type shown struct {
		mark byte
		text string
	}
	var all []shown
	i, j := 0, 0
	for _, c := range append(common, [2]int{len(x), len(y)}) {
		for ; i < c[0]; i++ {
			all = append(all, shown{'-', x[i].text})
		}
		for ; j < c[1]; j++ {
			all = append(all, shown{'+', y[j].text})
		}
		if c[0] < len(x) {
			all = append(all, shown{' ', y[j].text})
			i, j = c[0]+1, c[1]+1
		}
	}
	near := make([]bool, len(all))
	for n, s := range all {
		if s.mark != ' ' {
			for m := max(0, n-context); m <= min(len(all)-1, n+context); m++ {
				near[m] = true
			}
		}
	}
	var b strings.Builder
	for n, s := range all {
		switch {
		case near[n]:
			fmt.Fprintf(&b, "%c %s\n", s.mark, s.text)
		case n > 0 && near[n-1]:
			b.WriteString("  ...\n")
		}
	}
	return b.String()
}

// longest is the pairs of equal lines of a longest common subsequence, after the common start and end are set apart.
func longest(a, b []string) [][2]int {
	var start, end [][2]int
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		start = append(start, [2]int{i, i})
		i++
	}
	m, n := len(a), len(b)
	for m > i && n > i && a[m-1] == b[n-1] {
		m, n = m-1, n-1
		end = append(end, [2]int{m, n})
	}
	slices.Reverse(end)
	const most = 4000 // lines of which all pairs are compared
	if m-i > most || n-i > most {
		return append(start, end...)
	}
	width := n - i + 1
	table := make([]int32, (m-i+1)*width)
	for p := m - 1; p >= i; p-- {
		for q := n - 1; q >= i; q-- {
			at := (p-i)*width + q - i
			if a[p] == b[q] {
				table[at] = table[at+width+1] + 1
			} else {
				table[at] = max(table[at+width], table[at+1])
			}
		}
	}
	for p, q := i, i; p < m && q < n; {
		at := (p-i)*width + q - i
		switch {
		case a[p] == b[q]:
			start = append(start, [2]int{p, q})
			p, q = p+1, q+1
		case table[at+width] >= table[at+1]:
			p++
		default:
			q++
		}
	}
	return append(start, end...)
}
