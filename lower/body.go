// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/internal/layout"
	"github.com/ptxdsl/ptxdsl/ir"
)

// stretch writes consecutive blocks of which only the first has labels, so that their instructions
// can be aligned together.
func (w *writer) stretch(blocks []*ir.Block, calls map[*ir.Block][]sequence) {
	for i := range blocks[0].Labels {
		l := &blocks[0].Labels[i]
		w.comments(l.Doc)
		w.label(l.Name, l.Note)
	}
	if w.lines || slices.ContainsFunc(blocks, func(b *ir.Block) bool { return len(calls[b]) > 0 }) {
		for _, b := range blocks {
			w.block(b, calls[b])
		}
		return
	}
	list := blocks[0].Instrs
	if len(blocks) > 1 {
		list = slices.Clip(list) // forces the append to copy
		for _, b := range blocks[1:] {
			list = append(list, b.Instrs...)
		}
	}
	for len(list) > 0 {
		n, column, plain := w.alignedRun(list)
		if plain {
			w.comments(list[0].Doc())
			w.straight(list[:n], column)
		} else {
			for _, in := range list[:n] {
				w.line(in)
			}
		}
		list = list[n:]
	}
}

// alignedRun returns how many of the first instructions are aligned together, the column of their
// operands, and whether they are plain: only instructions, without comments.
func (w *writer) alignedRun(list []*ir.Instr) (n, column int, plain bool) {
	plain = true
	for i, in := range list {
		op := in.Op
		switch {
		case in.Said == nil && len(w.lists) == 0 && spelled(in): // the usual case
		case i > 0 && len(in.Doc()) > 0:
			return i, column, plain
		case !in.Directive():
			op = w.opcode(in)
			plain = plain && op == in.Op && in.Note() == "" &&
				(len(w.lists) == 0 || w.lists[in] == nil)
		case in.Op == ".loc":
			plain = false
		case i > 0:
			return i, column, plain
		default:
			return 1, column, false
		}
		if len(in.Args) > 0 {
			column = layout.Column(column, widthOfHead(in.Guard, op))
		}
	}
	return len(list), column, plain
}

// straight writes consecutive instructions whose operands are aligned with each other.
func (w *writer) straight(list []*ir.Instr, column int) {
	text := w.Straight()
	for _, in := range list {
		text = w.Begun(text)
		head, tail := len(text), 0
		text = appendHead(text, in.Guard, in.Op)
		if len(in.Args) > 0 {
			text = layout.Behind(text, head+column)
			tail = len(text)
			text = renderList(text, in.Args, in, false)
		}
		text = w.Done(append(text, ';'), head, tail)
	}
	w.Take(text)
}

// block writes the instructions of a block. Call sequences get scopes of their own.
func (w *writer) block(b *ir.Block, calls []sequence) {
	for i, in := range b.Instrs {
		if len(calls) > 0 && calls[0].first == i {
			// declared before the scope of the call, so that later instructions can use them too
			w.listsBefore(in)
			w.open()
			for _, v := range calls[0].vars {
				w.comments(v.Doc)
				w.variable(v)
			}
			w.instrLine(in)
		} else {
			w.line(in)
		}
		if len(calls) > 0 && calls[0].last == i {
			w.shut()
			calls = calls[1:]
		}
	}
}

// line writes an instruction, or a directive among instructions, with target lists and .loc lines
// before it.
func (w *writer) line(in *ir.Instr) {
	w.listsBefore(in)
	w.instrLine(in)
}

// listsBefore writes the lists of targets and the prototypes that are declared before an
// instruction.
func (w *writer) listsBefore(in *ir.Instr) {
	for _, t := range w.lists[in] {
		w.targets(t)
	}
}

// instrLine writes an instruction, or a directive, with its comments.
func (w *writer) instrLine(in *ir.Instr) {
	w.locate(in.Pos)
	w.comments(in.Doc())
	w.instr(in)
	w.end(in.Note())
}

// instr writes an instruction, or a directive among instructions; the caller ends the line.
func (w *writer) instr(in *ir.Instr) {
	if in.Directive() {
		text := ""
		if len(in.Args) > 0 {
			text = in.Args[0].Text()
		}
		w.directive(in.Op, text, in.Op == ".pragma" || in.Op == ".alias")
		return
	}
	w.Begin(layout.Instr)
	w.Line = appendHead(w.Line, in.Guard, w.opcode(in))
	if len(in.Args) > 0 {
		w.Tail()
		w.Line = renderList(w.Line, in.Args, in, false)
	}
	w.Put(";")
}

// appendHead writes the guard and the opcode. widthOfHead returns its width.
func appendHead(line []byte, guard ir.Guard, opcode string) []byte {
	if r := guard.Reg; r != nil {
		line = append(line, '@')
		if guard.Not {
			line = append(line, '!')
		}
		line = append(append(line, r.Name...), ' ')
	}
	return append(line, opcode...)
}

func widthOfHead(guard ir.Guard, opcode string) int {
	n := len(opcode)
	if r := guard.Reg; r != nil {
		n += len("@") + len(r.Name) + len(" ")
		if guard.Not {
			n += len("!")
		}
	}
	return n
}
