// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A machine runs one thread of a kernel on integers, as far as the tests of the passes need it, and
// records everything visible from outside: stores, and all other instructions with effects. The
// result of such an instruction depends on the events before it, so merging, moving or removing one
// is detected. It folds and merges nothing and shares no code with the passes: each instruction is
// implemented as the manual describes it.
type machine struct {
	regs   map[*ir.Reg]uint64
	memory map[uint64]byte
	carry  uint64
	seed   uint64 // determines the values of parameters and memory
	events []string
	steps  int
}

// run runs a kernel for at most a number of instructions, and returns the visible events and
// whether it ended.
func run(f *ir.Func, seed uint64, limit int) (events []string, ended bool, err error) {
	m := &machine{regs: make(map[*ir.Reg]uint64), memory: make(map[uint64]byte), seed: seed}
	number := make(map[*ir.Block]int, len(f.Blocks))
	for i, b := range f.Blocks {
		number[b] = i
	}
	for block := 0; block < len(f.Blocks); {
		next := block + 1
		for _, in := range f.Blocks[block].Instrs {
			if m.steps++; m.steps > limit {
				return m.events, false, nil
			}
			if in.Directive() || in.Guard.Reg != nil &&
				(m.regs[in.Guard.Reg]&1 != 0) == in.Guard.Not {
				continue
			}
			switch in.Head() {
			case "ret", "exit":
				return m.events, true, nil
			case "bra":
				next = number[in.Args[0].Block()]
			case "brx":
				list := in.Args[1].Ref().(*ir.Targets).Blocks
				next = number[list[m.value(&in.Args[0])%uint64(len(list))]]
			default:
				if err := m.step(in); err != nil {
					return m.events, false, fmt.Errorf("%s: %w", in.Op, err)
				}
			}
		}
		block = next
	}
	return m.events, true, nil
}

// hash returns a number that depends on all arguments.
func (m *machine) hash(what ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprintln(h, m.seed, what)
	return h.Sum64()
}

// value returns the bits of an operand, without regard to its type.
func (m *machine) value(o *ir.Operand) uint64 {
	switch o.Kind {
	case ir.Register:
		v := m.regs[o.Reg]
		if o.Not {
			v ^= 1
		}
		if o.Minus {
			v = -v
		}
		return v + uint64(o.Value)
	case ir.Int:
		return uint64(o.Value)
	case ir.Variable:
		return m.hash("address", o.Var().Name)&^0xfff + uint64(o.Value)
	case ir.Special:
		if strings.Contains(o.Text(), "clock") || strings.Contains(o.Text(), "timer") {
			return m.hash(o.Text(), len(m.events))
		}
		return m.hash(o.Text()) % 1024
	}
	panic(fmt.Sprintf("operand of kind %d", o.Kind))
}

// put writes a register, or the elements of a vector.
func (m *machine) put(o *ir.Operand, v uint64) {
	switch o.Kind {
	case ir.Sink:
	case ir.Register:
		m.regs[o.Reg] = v & mask(o.Reg.Type.Bits())
	default:
		panic(fmt.Sprintf("bug: a result of kind %d", o.Kind))
	}
}

func mask(bits int) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

// signed returns the low bits of v, sign-extended.
func signed(v uint64, width int) int64 { return int64(v<<(64-width)) >> (64 - width) }

// kind returns the width and the letter of the last type in an opcode.
func kind(op string) (width int, letter byte) {
	words := strings.Split(op, ".")
	last := words[len(words)-1]
	if last == "pred" {
		return 1, 'b'
	}
	if _, err := fmt.Sscanf(last[1:], "%d", &width); err != nil {
		panic("bug: no type in " + op)
	}
	return width, last[0]
}

// step executes one instruction that is not a branch.
func (m *machine) step(in *ir.Instr) error {
	switch in.Head() {
	case "ld":
		return m.load(in)
	case "st":
		width, _ := kind(in.Op)
		at := m.address(in, &in.Args[0])
		for i, o := range elements(&in.Args[1]) {
			v := m.value(o) & mask(width)
			for j := range width / 8 {
				m.memory[at+uint64(i*width/8+j)] = byte(v >> (8 * j))
			}
			m.events = append(m.events, fmt.Sprintf("%s %x %x", in.Op, at+uint64(i*width/8), v))
		}
		return nil
	case "mov":
		m.move(in)
		return nil
	case "setp":
		return m.compare(in)
	}
	if in.Has(isa.EffectPure) && !in.Has(isa.EffectConvergent) {
		return m.compute(in)
	}
	m.event(in)
	return nil
}

// event executes an instruction with effects. It records all operands, and its result depends on
// all earlier events.
func (m *machine) event(in *ir.Instr) {
	text := in.Op
	var results []*ir.Operand
	for i := range in.Args {
		a := &in.Args[i]
		switch {
		case i < len(in.Form.Args) && in.Form.Args[i].Access != isa.Read:
			results = append(results, elements(a)...)
		case a.Kind == ir.Address:
			text += fmt.Sprintf(" [%x]", m.address(in, a))
		default:
			for _, o := range elements(a) {
				v := m.value(o)
				if r := o.Reg; r != nil {
					v &= mask(r.Type.Bits())
				}
				text += fmt.Sprintf(" %x", v)
			}
		}
	}
	m.events = append(m.events, text)
	for i, o := range results {
		m.put(o, m.hash(text, len(m.events), i))
	}
}

// elements returns the parts of a vector or a pair, or the operand itself.
func elements(o *ir.Operand) []*ir.Operand {
	if o.Kind != ir.Vector && o.Kind != ir.Pair {
		return []*ir.Operand{o}
	}
	var list []*ir.Operand
	for i := range o.Args() {
		list = append(list, &o.Args()[i])
	}
	return list
}

// address returns the address of an access. Shared memory has 32-bit addresses, in a range of its
// own.
func (m *machine) address(in *ir.Instr, o *ir.Operand) uint64 {
	at := m.value(&o.Args()[0])
	if in.HasMod(isa.ModShared) {
		return 1<<62 + at
	}
	return at
}

func (m *machine) load(in *ir.Instr) error {
	width, letter := kind(in.Op)
	at := m.address(in, &in.Args[1])
	if in.HasMod(isa.ModVolatile, isa.ModAcquire, isa.ModRelaxed) {
		m.events = append(m.events, fmt.Sprintf("%s %x", in.Op, at))
	}
	for i, o := range elements(&in.Args[0]) {
		v := uint64(0)
		for j := range width / 8 {
			place := at + uint64(i*width/8+j)
			b, ok := m.memory[place]
			if !ok {
				b = byte(m.hash("memory", place))
				if in.HasMod(isa.ModVolatile, isa.ModAcquire, isa.ModRelaxed) {
					b = byte(m.hash("memory", place, len(m.events)))
				}
			}
			v |= uint64(b) << (8 * j)
		}
		if letter == 's' { // sign-extended in a wider register
			v = uint64(signed(v, width))
		}
		m.put(o, v)
	}
	return nil
}

func (m *machine) move(in *ir.Instr) {
	width, _ := kind(in.Op)
	to, from := elements(&in.Args[0]), elements(&in.Args[1])
	whole := uint64(0)
	for i, o := range from {
		part := width / len(from)
		whole |= m.value(o) & mask(part) << (i * part)
	}
	for i, o := range to {
		part := width / len(to)
		m.put(o, whole>>(i*part)&mask(part))
	}
}

// compare executes setp, with an optional second result and third predicate.
func (m *machine) compare(in *ir.Instr) error {
	width, letter := kind(in.Op)
	words := strings.Split(in.Op, ".")
	a, b := m.value(&in.Args[1])&mask(width), m.value(&in.Args[2])&mask(width)
	less := a < b
	if letter == 's' {
		less = signed(a, width) < signed(b, width)
	}
	var p bool
	switch words[1] {
	case "eq":
		p = a == b
	case "ne":
		p = a != b
	case "lt", "lo":
		p = less
	case "le", "ls":
		p = less || a == b
	case "gt", "hi":
		p = !less && a != b
	case "ge", "hs":
		p = !less
	default:
		return fmt.Errorf("no such comparison")
	}
	first, second := uint64(0), uint64(1)
	if p {
		first, second = 1, 0
	}
	if len(in.Args) == 4 {
		c := m.value(&in.Args[3]) & 1
		switch words[2] {
		case "and":
			first, second = first&c, second&c
		case "or":
			first, second = first|c, second|c
		case "xor":
			first, second = first^c, second^c
		}
	}
	list := elements(&in.Args[0])
	m.put(list[0], first)
	if len(list) > 1 {
		m.put(list[1], second)
	}
	return nil
}
