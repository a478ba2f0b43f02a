// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package blackwell

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// A program is a module that is ready to run.
type program struct{ kernels []*kernel }

// A kernel is one function of it.
type kernel struct {
	f      *ir.Func
	steps  []step
	params map[*ir.Var]int // where each lies
	extern map[*ir.Var]int // variables in shared memory, from the first free byte on
	fixed  int             // bytes of shared memory that are declared
}

// An effect is what a warp does after a step.
type effect uint8

const (
	goOn  effect = iota
	pause        // others run first
	leave        // the lanes end
)

// A step is an instruction. Run is done for the lanes whose guard holds.
type step struct {
	in         *ir.Instr
	op         []string // the opcode, by words
	run        func(w *warp, lanes uint32) (effect, error)
	jump       int  // where lanes go, or -1
	collective bool // all lanes of the warp execute it together
}

// read makes a program of PTX.
func read(name, text string) (*program, error) {
	file, list := ptx.Parse(name, text)
	if list.Errors() > 0 {
		return nil, wrong(list)
	}
	m, list := lift.Module(file)
	if list.Errors() > 0 {
		return nil, wrong(list)
	}
	p := &program{}
	shared := make(map[*ir.Var]int)
	fixed := 0
	for _, d := range m.Decls {
		if v, ok := d.(*ir.Var); ok && v.Space == isa.Shared {
			fixed = up(fixed, v.Alignment())
			shared[v] = fixed
			fixed += int(v.Size())
		}
	}
	for _, f := range m.Funcs() {
		k := &kernel{f: f, params: make(map[*ir.Var]int), extern: make(map[*ir.Var]int), fixed: fixed}
		for v, at := range shared {
			k.extern[v] = at
		}
		if err := k.compile(); err != nil {
			return nil, err
		}
		p.kernels = append(p.kernels, k)
	}
	return p, nil
}

func wrong(list diag.List) error {
	for _, d := range list {
		if d.Severity == diag.Error {
			return fmt.Errorf("line %d: %s", d.Place.Line, d.Message)
		}
	}
	return fmt.Errorf("the text has errors")
}

func up(n, to int) int { return (n + to - 1) / to * to }

func (k *kernel) compile() error {
	k.f.Number()
	at := 0
	for _, v := range k.f.Params {
		at = up(at, v.Alignment())
		k.params[v] = at
		at += int(v.Size())
	}
	for _, v := range k.f.Vars {
		if v.Space == isa.Shared {
			k.fixed = up(k.fixed, v.Alignment())
			k.extern[v] = k.fixed
			k.fixed += int(v.Size())
		}
	}
	first := make(map[*ir.Block]int)
	n := 0
	for _, b := range k.f.Blocks {
		first[b] = n
		n += len(b.Instrs)
	}
	for _, b := range k.f.Blocks {
		for _, in := range b.Instrs {
			s := step{in: in, op: strings.Split(in.Op, "."), jump: -1}
			if s.op[0] == "bra" {
				s.jump = first[in.Args[0].Block()]
				s.run = func(*warp, uint32) (effect, error) { return goOn, nil }
			} else if err := k.action(&s); err != nil {
				return fmt.Errorf("%s: %s: %w", k.f.Name, in.Op, err)
			}
			k.steps = append(k.steps, s)
		}
	}
	return nil
}

// has reports whether the opcode has a word.
func (s *step) has(word string) bool {
	for _, w := range s.op[1:] {
		if w == word {
			return true
		}
	}
	return false
}

// starting is the word of the opcode that starts in some way, without that.
func (s *step) starting(with string) string {
	for _, w := range s.op[1:] {
		if rest, ok := strings.CutPrefix(w, with); ok {
			return rest
		}
	}
	return ""
}

// typ is the type at the end of the opcode, and from the end on.
func (s *step) typ(fromEnd int) string { return s.op[len(s.op)-1-fromEnd] }

// width is the bytes of a type.
func width(t string) int {
	switch t {
	case "b8", "u8", "s8":
		return 1
	case "b16", "u16", "s16", "f16", "bf16":
		return 2
	case "b64", "u64", "s64", "f64":
		return 8
	case "b128":
		return 16
	}
	return 4
}

// A source is an operand that is read, lane by lane.
type source func(w *warp, lane int) uint64

// source makes one of an operand.
func (k *kernel) source(o *ir.Operand) (source, error) {
	add := uint64(0)
	if o.Ref() != nil {
		add = uint64(o.Value)
	}
	switch o.Kind {
	case ir.Register:
		if o.Text() != "" || o.Minus {
			break
		}
		r := o.Reg.Number
		if o.Not {
			return func(w *warp, lane int) uint64 { return w.regs[r][lane] ^ 1 }, nil
		}
		return func(w *warp, lane int) uint64 { return w.regs[r][lane] + add }, nil
	case ir.Int, ir.Single, ir.Double:
		value := uint64(o.Value)
		return func(*warp, int) uint64 { return value }, nil
	case ir.Variable:
		v := o.Var()
		if at, ok := k.params[v]; ok {
			return func(*warp, int) uint64 { return parameters + uint64(at) + add }, nil
		}
		if at, ok := k.extern[v]; ok {
			return func(w *warp, _ int) uint64 {
				return uint64(w.b.rank)<<rankShift + reserved + uint64(at) + add
			}, nil
		}
	case ir.Special:
		return special(o.Text())
	case ir.Address:
		return k.source(&o.Args()[0])
	case ir.Sink:
		return func(*warp, int) uint64 { return 0 }, nil
	}
	return nil, fmt.Errorf("an operand that the model does not know: %+v", *o)
}

// sources are the operands from one on; vectors are flattened.
func (k *kernel) sources(list []ir.Operand) ([]source, error) {
	var all []source
	for i := range list {
		if o := &list[i]; o.Kind == ir.Vector {
			inner, err := k.sources(o.Args())
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
			continue
		}
		s, err := k.source(&list[i])
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// targets are the registers of an operand that is written; -1 is a sink.
func targets(o *ir.Operand) []int {
	if o.Kind == ir.Vector {
		var all []int
		for i := range o.Args() {
			all = append(all, targets(&o.Args()[i])...)
		}
		return all
	}
	if r := o.Reg; r != nil {
		return []int{int(r.Number)}
	}
	return []int{-1}
}

// special is a special register.
func special(name string) (source, error) {
	axis := func(v func(w *warp) [3]uint32) (source, error) {
		i := int(name[len(name)-1] - 'x')
		if i < 0 || i > 2 {
			return nil, fmt.Errorf("%s has no axis", name)
		}
		return func(w *warp, _ int) uint64 { return uint64(v(w)[i]) }, nil
	}
	switch base, _, _ := strings.Cut(name, "."); base {
	case "%tid":
		if name != "%tid.x" {
			return func(*warp, int) uint64 { return 0 }, nil
		}
		return func(w *warp, lane int) uint64 { return uint64(32*w.index + lane) }, nil
	case "%laneid":
		return func(_ *warp, lane int) uint64 { return uint64(lane) }, nil
	case "%ntid":
		return axis(func(w *warp) [3]uint32 { return w.b.c.launch.Block })
	case "%ctaid":
		return axis(func(w *warp) [3]uint32 { return w.b.id })
	case "%nctaid":
		return axis(func(w *warp) [3]uint32 { return w.b.c.launch.Grid })
	case "%cluster_ctarank":
		return func(w *warp, _ int) uint64 { return uint64(w.b.rank) }, nil
	}
	return nil, fmt.Errorf("%s is not in the model", name)
}
