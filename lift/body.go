// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package lift

import (
	"strconv"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/ptx"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// function lifts a kernel or device function, defined or declared.
func (l *lifter) function(n *ptx.Func) {
	outer, used, ordered := l.f, l.used, l.ordered
	doc := l.doc(n.At)
	f := &ir.Func{Name: n.Name.Text, Kernel: n.Kind.Text == ".entry", Pos: position(n),
		Defined: n.Body != nil}
	l.scopes[0].enter(f.Name, f, n.Name.At)
	l.f, l.used, l.ordered = f, make(map[string]int), nil
	l.push()
	l.head(f, n)
	f.Doc = append(doc, f.Doc...)
	if n.Body != nil {
		l.body(n.Body)
		l.sortRegisters()
	}
	l.pop()
	l.f, l.used, l.ordered = outer, used, ordered
	l.m.Decls = append(l.m.Decls, f)
}

func (s *scope) enter(name string, ref ir.Ref, at ptx.Pos) {
	if s.names == nil {
		s.names = make(map[string]entry)
	}
	if _, taken := s.names[name]; !taken {
		s.names[name] = entry{ref, at}
	}
}

// head lifts the declaration of a function without its body.
func (l *lifter) head(f *ir.Func, n *ptx.Func) {
	f.HasResults, f.HasParams = n.HasReturns, n.HasParams
	if len(n.Linkage) > 0 {
		f.Linkage = n.Linkage[0].Text
	}
	f.Doc = append(f.Doc, l.doc(n.Name.At)...)
	l.heading = true
	for _, v := range n.Returns {
		f.Results = append(f.Results, l.parameter(v))
	}
	for _, v := range n.Params {
		f.Params = append(f.Params, l.parameter(v))
	}
	l.heading = false
	for _, a := range n.Attrs {
		f.Attrs = append(f.Attrs, *l.plain(a))
	}
}

// body lifts the statements of a function.
func (l *lifter) body(b *ptx.Block) {
	l.merged = make(map[*ir.Block]merged)
	l.block, l.begun = nil, false
	l.statements(b.Stmts)
	l.waiting = l.waiting[:0] // a target list after the last instruction has no use
	l.f.Tail = append(l.pending, l.doc(b.To)...)
	l.pending = nil
	if len(l.f.Blocks) == 0 {
		l.newBlock(&ir.Block{})
	}
	if len(l.merged) > 0 {
		l.redirect()
	}
}

func (l *lifter) newBlock(b *ir.Block) {
	l.f.Blocks = append(l.f.Blocks, b)
	l.block = b
}

// statements lifts a block in the current scope. Its labels are declared first.
func (l *lifter) statements(list []ptx.Node) {
	var labels map[*ptx.Label]*ir.Block
	for _, n := range list {
		if n, ok := n.(*ptx.Label); ok {
			if labels == nil {
				labels = make(map[*ptx.Label]*ir.Block)
			}
			b := &ir.Block{}
			labels[n] = b
			l.declare(n.Name.Text, b, n.At)
		}
	}
	for _, n := range list {
		switch n := n.(type) {
		case *ptx.Instr:
			l.instr(n)
		case *ptx.Label:
			l.label(n, labels[n])
		case *ptx.Var:
			l.variables(n, func(v *ir.Var) {
				v.Doc = append(l.pending, v.Doc...)
				l.pending = nil
				l.f.Vars = append(l.f.Vars, v)
			})
		case *ptx.Directive:
			l.bodyDirective(n)
		case *ptx.Block:
			l.pending = append(l.pending, l.doc(n.At)...)
			l.push()
			l.statements(n.Stmts)
			l.pending = append(l.pending, l.doc(n.To)...)
			l.pop()
		case *ptx.Func:
			l.nested(n)
		default:
			l.fault(&ruleStatement, n, "this statement is not allowed in a function")
		}
	}
}

// commentsBefore returns the comments before a statement, including those left over from removed
// statements.
func (l *lifter) commentsBefore(at ptx.Pos) []string {
	doc := l.doc(at)
	if l.pending != nil {
		doc = append(l.pending, doc...)
		l.pending = nil
	}
	return doc
}

// label starts a block, or adds a label to a block without instructions.
func (l *lifter) label(n *ptx.Label, b *ir.Block) {
	name := ir.Label{Name: l.unique(n.Name.Text), Pos: position(n), Doc: l.commentsBefore(n.At)}
	name.Note = l.note(n.To, &name.Doc)
	if l.block != nil && len(l.block.Instrs) == 0 && len(l.block.Labels) > 0 {
		l.block.Labels = append(l.block.Labels, name)
		l.merged[b] = merged{l.block, name.Name}
		return
	}
	b.Labels = append(b.Labels, name)
	l.newBlock(b)
}

// A merged block is part of another block, under an additional label.
type merged struct {
	into *ir.Block
	name string
}

// redirect replaces references to merged blocks by references to the blocks that contain them. The
// references keep their labels.
func (l *lifter) redirect() {
	for _, b := range l.f.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				in.Args[i].Walk(func(o *ir.Operand) {
					if m, ok := l.merged[o.Block()]; ok {
						o.More = &ir.More{Text: m.name, Ref: m.into}
					}
				})
			}
		}
	}
	for _, t := range l.f.Targets {
		for i, b := range t.Blocks {
			if m, ok := l.merged[b]; ok {
				t.Blocks[i] = m.into
			}
		}
	}
}

// add appends an instruction. An instruction that ends a block also starts the next one.
func (l *lifter) add(in *ir.Instr) {
	if l.block == nil {
		l.newBlock(&ir.Block{})
	}
	l.block.Instrs = append(l.block.Instrs, in)
	for _, t := range l.waiting {
		t.Before = in
	}
	l.waiting = l.waiting[:0]
	l.begun = l.begun || !in.Directive()
	if in.Ends() {
		l.block = nil
	}
}

func (l *lifter) instr(n *ptx.Instr) {
	in := &ir.Instr{Op: n.Op.Text, Pos: position(n)}
	doc := l.commentsBefore(n.At)
	if n.Guard.Text != "" {
		r, ok := l.find(n.Guard.Text, n.Guard.At).(*ir.Reg)
		if !ok {
			l.fault(&ruleName, n.Guard.Word, "guard %s is not declared", n.Guard.Text)
		}
		in.Guard = ir.Guard{Reg: r, Not: n.Guard.Not}
	}
	if len(n.Args) > 0 {
		in.Args = make([]ir.Operand, len(n.Args))
		for i := range n.Args {
			in.Args[i] = l.operand(&n.Args[i])
		}
		if d := &in.Args[0]; besideSink(d) {
			*d = d.Args()[0]
		}
	}
	note := l.note(n.To, &doc)
	in.Comment(doc, note)
	if l.binder != nil {
		l.binder.Bind(in)
	}
	l.add(in)
}

// target adds the label or function that o names to a target list, or reports an error.
func (l *lifter) target(t *ir.Targets, n *ptx.Directive, o *ptx.Operand, name string) bool {
	switch ref := l.find(name, o.At).(type) {
	case *ir.Block:
		t.Blocks = append(t.Blocks, ref)
	case *ir.Func:
		t.Funcs = append(t.Funcs, ref)
	default:
		if name == n.Label.Text {
			l.fault(&ruleOdd, o, "%s contains itself", name)
		} else {
			l.fault(&ruleName, o, "%s is not declared", name)
		}
		return false
	}
	return true
}

// bodyDirective lifts a directive among instructions: a list of targets, or a directive that keeps
// its position.
func (l *lifter) bodyDirective(n *ptx.Directive) {
	switch n.Name.Text {
	case ".branchtargets", ".calltargets":
		t := &ir.Targets{Name: l.unique(n.Label.Text), Pos: position(n),
			Doc: l.commentsBefore(n.At)}
		if n.Name.Text == ".calltargets" {
			t.Funcs = []*ir.Func{}
		}
		for i := range n.Args {
			o := &n.Args[i]
			for name := range o.Names() {
				if !l.target(t, n, o, name) {
					break
				}
			}
		}
		t.Note = l.note(n.To, &t.Doc)
		l.declare(n.Label.Text, t, n.At)
		l.targets(t)
		return
	}
	if n.Name.Text == ".target" {
		l.fault(&ruleOdd, n, ".target in a function is not supported; move it to the start of "+
			"the module")
		return
	}
	in := &ir.Instr{Op: n.Name.Text, Pos: position(n)}
	doc := l.commentsBefore(n.Name.To)
	if len(n.Args) > 0 {
		in.Args = []ir.Operand{{Kind: ir.Raw, More: l.text(l.textOf(n.Args))}}
	}
	note := l.note(n.To, &doc)
	in.Comment(doc, note)
	l.add(in)
}

// nested lifts a declaration inside a function: a prototype, or a declaration that is moved to the
// module.
func (l *lifter) nested(n *ptx.Func) {
	if n.Kind.Text != ".callprototype" {
		l.function(n)
		return
	}
	t := &ir.Targets{Name: l.unique(n.Label.Text), Pos: position(n), Doc: l.commentsBefore(n.At),
		Proto: &ir.Func{Name: n.Name.Text, Pos: position(n)}}
	l.declare(n.Label.Text, t, n.At)
	f, used, ordered := l.f, l.used, l.ordered
	l.f, l.used, l.ordered = t.Proto, make(map[string]int), nil
	l.push()
	l.head(t.Proto, n)
	l.pop()
	l.f, l.used, l.ordered = f, used, ordered
	// A prototype takes one line, so all its comments go before it.
	t.Doc = append(t.Doc, t.Proto.Doc...)
	t.Proto.Doc = nil
	for i := range t.Proto.Attrs {
		a := &t.Proto.Attrs[i]
		if t.Doc = append(t.Doc, a.Doc...); a.Note != "" {
			t.Doc = append(t.Doc, a.Note)
		}
		a.Doc, a.Note = nil, ""
	}
	t.Note = l.note(n.To, &t.Doc)
	l.targets(t)
}

// targets adds a list of branch targets or a call prototype to the function. The position of the
// list is the next instruction; the debug code that ptxas generates depends on it.
func (l *lifter) targets(t *ir.Targets) {
	if t.Ahead = !l.begun; !t.Ahead {
		l.waiting = append(l.waiting, t)
	}
	l.f.Targets = append(l.f.Targets, t)
}
