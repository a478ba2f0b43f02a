// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lift

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ptx"
)

// textOf returns the arguments of a directive as text, in the formatter's style and without
// comments.
func (l *lifter) textOf(args []ptx.Operand) string {
	if len(args) == 1 && len(args[0].Args) == 0 {
		return args[0].Text // the most frequent case
	}
	var b strings.Builder
	l.writeAll(&b, args)
	return b.String()
}

func (l *lifter) writeAll(b *strings.Builder, args []ptx.Operand) {
	for i := range args {
		switch {
		case i == 0:
		case args[i].Spaced:
			b.WriteByte(' ')
		default:
			b.WriteString(", ")
		}
		l.write(b, &args[i])
	}
}

func (l *lifter) write(b *strings.Builder, o *ptx.Operand) {
	switch o.Kind {
	case ptx.Name, ptx.Literal, ptx.String:
		b.WriteString(o.Text)
	case ptx.Unary:
		b.WriteString(o.Text)
		l.writeAll(b, o.Args)
	case ptx.Binary:
		l.write(b, &o.Args[0])
		b.WriteString(" " + o.Text + " ")
		l.write(b, &o.Args[1])
	case ptx.List:
		b.WriteByte('(')
		l.writeAll(b, o.Args)
		b.WriteByte(')')
	case ptx.Call:
		b.WriteString(o.Text)
		b.WriteByte('(')
		l.writeAll(b, o.Args)
		b.WriteByte(')')
	case ptx.Tuple:
		b.WriteString(o.Text)
		b.WriteByte(' ')
		l.writeAll(b, o.Args)
	default: // other kinds do not occur in directives
		if from, to := int(o.At), int(o.To); from >= 0 && from <= to && to <= len(l.file.Text) {
			b.WriteString(strings.Join(strings.Fields(l.file.Text[from:to]), " "))
		}
	}
}
