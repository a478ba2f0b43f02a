// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// An atomic is an operation of atom and red. If lanes is more than one, it operates on a vector.
type atomic struct {
	op, kind string
	bits     int
	lanes    int
	global   bool // supported in global memory only
	atomOnly bool
}

// atomics returns the operations that sm_90 supports.
func atomics() (all []atomic) {
	add := func(bits int, kinds, ops string) {
		for _, op := range strings.Fields(ops) {
			for _, kind := range strings.Fields(kinds) {
				all = append(all, atomic{op: op, kind: kind, bits: bits, lanes: 1,
					atomOnly: op == "exch" || op == "cas"})
			}
		}
	}
	add(32, "u32 s32", "add min max")
	add(64, "u64", "add")
	add(64, "u64 s64", "min max")
	add(32, "u32", "inc dec")
	add(32, "b32", "and or xor exch cas")
	add(64, "b64", "and or xor exch cas")
	add(128, "b128", "exch cas")
	add(16, "b16", "cas")
	add(32, "f32", "add")
	add(64, "f64", "add")
	add(16, "f16 bf16", "add.noftz")
	add(32, "f16x2 bf16x2", "add.noftz")
	vector := func(bits, lanes int, kind, ops string) {
		for _, op := range strings.Fields(ops) {
			all = append(all, atomic{op: fmt.Sprintf("%s.v%d", op, lanes), kind: kind, bits: bits,
				lanes: lanes, global: true})
		}
	}
	vector(32, 2, "f32", "add")
	vector(32, 4, "f32", "add")
	for _, kind := range []string{"f16", "bf16"} {
		for _, lanes := range []int{2, 4, 8} {
			vector(16, lanes, kind, "add.noftz min.noftz max.noftz")
		}
		for _, lanes := range []int{2, 4} {
			vector(32, lanes, kind+"x2", "add.noftz min.noftz max.noftz")
		}
	}
	return all
}

const atomicRows = 64

// Atomics returns programs of one thread that repeatedly modifies one memory location.
func Atomics() (all []Program) {
	orders := []string{"", ".relaxed.cta", ".acq_rel.gpu", ".release.sys", ".acquire.cluster",
		".relaxed.gpu"}
	for i, a := range atomics() {
		for j, space := range []string{"", ".global", ".shared", ".shared::cta",
			".shared::cluster"} {
			if a.global && strings.HasPrefix(space, ".shared") {
				continue
			}
			for k, head := range []string{"atom", "red"} {
				if head == "red" && a.atomOnly {
					continue
				}
				order := orders[(i+j+k)%len(orders)]
				if head == "red" && (strings.Contains(order, "acq")) {
					order = ".release.cluster"
				}
				opcode := head + order + space + "." + a.op + "." + a.kind
				all = append(all, a.program(head, opcode, space))
			}
		}
	}
	return all
}

// program returns the program of an operation. Each input row has the initial memory value and two
// operands; each output row has the result and the new memory value.
func (a atomic) program(head, opcode, space string) Program {
	r := random(opcode)
	wide := max(4, a.bits*a.lanes/8)
	in := make([]byte, 0, atomicRows*3*wide)
	for range atomicRows {
		var row []byte
		for range 3 {
			row = append(row, a.value(r, wide)...)
		}
		if strings.HasPrefix(a.op, "cas") && r.IntN(2) == 0 {
			copy(row[wide:2*wide], row[:wide])
		}
		in = append(in, row...)
	}
	c := &code{}
	done := c.label()
	p := c.reg("pred")
	c.line("setp.ne.u32 %s, %%th, 0;", p)
	c.line("@%s bra %s;", p, done)
	c.line(".shared .align 16 .b8 cell[16];")
	base := c.reg("b64")
	where := base
	switch space {
	case ".shared", ".shared::cta":
		c.line("mov.b64 %s, cell;", base)
	case ".shared::cluster":
		c.line("mov.b64 %s, cell;", base)
		c.line("mapa.shared::cluster.u64 %s, %s, 0;", base, base)
	default:
		c.line("add.u64 %s, %%out, %d;", base, atomicRows*2*wide)
	}
	class := fmt.Sprintf("b%d", a.bits)
	names := func() string {
		var list []string
		for range a.lanes {
			list = append(list, c.reg(class))
		}
		if a.lanes == 1 {
			return list[0]
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	vec := ""
	if a.lanes > 1 {
		vec = fmt.Sprintf(".v%d", a.lanes)
	}
	x, b, d := names(), names(), names()
	other := ""
	if a.op == "cas" {
		other = names()
	}
	for row := range atomicRows {
		from, to := row*3*wide, row*2*wide
		load := func(reg string, at int) { c.move("ld.global", reg, "%in", at, vec, class, a) }
		load(x, from)
		load(b, from+wide)
		c.move("st"+space, x, where, 0, vec, class, a)
		args := b
		if other != "" {
			load(other, from+2*wide)
			args += ", " + other
		}
		if head == "atom" {
			c.line("%s %s, [%s], %s;", opcode, d, where, args)
			c.move("st.global", d, "%out", to, vec, class, a)
		} else {
			c.line("%s [%s], %s;", opcode, where, args)
		}
		c.move("ld"+space, d, where, 0, vec, class, a)
		c.move("st.global", d, "%out", to+wide, vec, class, a)
	}
	c.line("%s:", done)
	return Program{ID: opcode, Family: head, In: in, Out: pattern(atomicRows*2*wide + 16),
		body: c.text.String()}
}

// move emits a load or store of a value. A vector of eight elements takes two instructions.
func (c *code) move(opcode, reg, base string, at int, vec, class string, a atomic) {
	if a.lanes == 8 {
		list := strings.Split(strings.Trim(reg, "{}"), ", ")
		for half := range 2 {
			some := "{" + strings.Join(list[4*half:4*half+4], ", ") + "}"
			c.transfer(opcode+".v4."+class, some, base, at+half*8)
		}
		return
	}
	c.transfer(opcode+vec+"."+class, reg, base, at)
}

// transfer emits a load or store with one instruction.
func (c *code) transfer(opcode, reg, base string, at int) {
	if strings.HasPrefix(opcode, "ld") {
		c.line("%s %s, [%s+%d];", opcode, reg, base, at)
	} else {
		c.line("%s [%s+%d], %s;", opcode, base, at, reg)
	}
}

// value returns a random value of the operation's type. Small and special values are frequent.
func (a atomic) value(r source, wide int) []byte {
	element, n := isa.Type(0), 1
	if t, ok := isa.ParseType(a.kind); ok {
		element, n = eval.Split(t)
	}
	out := make([]byte, 0, 16)
	f := eval.FormatOf(element)
	width := a.bits / n
	for len(out) < wide {
		var x uint64
		if f != nil {
			x = floating(r, f)
		} else if x = r.Uint64(); r.IntN(3) == 0 {
			x &= 7
		}
		for i := range max(1, min(width, 64)/8) {
			out = append(out, byte(x>>(8*i)))
		}
	}
	return out[:wide]
}

// A source is a random number generator.
type source interface {
	Uint64() uint64
	IntN(n int) int
	NormFloat64() float64
}

// floating returns the encoding of a random number: near one, with few mantissa bits, special, or
// arbitrary.
func floating(r source, f *eval.Format) uint64 {
	switch r.IntN(8) {
	case 0:
		return r.Uint64() & (1<<f.Bits - 1)
	case 1: // the smallest numbers
		return r.Uint64()&7 | r.Uint64()&1<<(f.Bits-1)
	case 2:
		return f.Encode(float64(r.IntN(64))/4-8, eval.Nearest)
	}
	return f.Encode(r.NormFloat64(), eval.Nearest)
}
