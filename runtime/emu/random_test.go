// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/ptxdsl/ptxdsl/runtime"
	"github.com/ptxdsl/ptxdsl/runtime/emu"
	"github.com/ptxdsl/ptxdsl/runtime/emu/inspect"
)

// A reference executes a block of a program statement by statement, all threads side by side.
type reference struct {
	p        *program
	block    int
	vars     [][variables]uint32
	own      [][8]uint32
	private  [][4]uint32
	gone     []int // why a thread skips statements, or 0 if it does not
	counters []uint32
}

// Reasons to skip statements. Larger ones are left(n) and again(n) of loop n.
const (
	returned = 1
	exited   = -1
)

func left(n int) int    { return 2*n + 2 }
func skipped(n int) int { return 2*n + 3 }

// expected returns what the program leaves in out and in the counters.
func (p *program) expected() (out, counters []uint32) {
	counters = make([]uint32, 32)
	for block := range p.blocks {
		m := &reference{p: p, block: block, vars: make([][variables]uint32, p.threads),
			own:     make([][8]uint32, p.threads),
			private: make([][4]uint32, p.threads), gone: make([]int, p.threads), counters: counters}
		for t := range p.threads {
			m.vars[t] = [variables]uint32{uint32(t), uint32(block), uint32(block*p.threads + t), 3,
				40, 0x3fc00000}
		}
		m.all(p.body, slices.Repeat([]bool{true}, p.threads))
		for t, v := range m.vars {
			if m.gone[t] == exited {
				v = [variables]uint32{}
			}
			out = append(append(out, v[:]...), m.private[t][:]...)
		}
	}
	return out, counters
}

func (m *reference) all(list []*statement, mask []bool) {
	for _, x := range list {
		m.statement(x, mask)
	}
}

// chosen returns the active threads of a mask for which a condition holds.
func (m *reference) chosen(mask []bool, holds func(v *[variables]uint32) bool) []bool {
	out := make([]bool, len(mask))
	for t := range mask {
		out[t] = mask[t] && m.gone[t] == 0 && holds(&m.vars[t])
	}
	return out
}

func always(*[variables]uint32) bool { return true }

// statement executes a statement for the threads of a mask.
func (m *reference) statement(x *statement, mask []bool) {
	bit := func(v *[variables]uint32) bool { return v[x.c]>>(x.n&3)&1 != 0 }
	unless := func(v *[variables]uint32) bool { return !bit(v) }
	greater := func(v *[variables]uint32) bool { return v[x.c] > v[x.a] }
	switch x.verb {
	case branch:
		yes, no := m.chosen(mask, bit), m.chosen(mask, unless)
		m.all(x.list, yes)
		m.all(x.others, no)
	case blockBranch:
		if m.block&1 == 1 {
			m.all(x.list, mask)
		} else {
			m.all(x.others, mask)
		}
	case loop:
		m.loop(x, m.chosen(mask, always))
	case uniformLoop:
		for range x.n {
			m.all(x.list, mask)
		}
	case leave:
		m.skip(m.chosen(mask, greater), left(x.n))
	case again:
		m.skip(m.chosen(mask, greater), skipped(x.n))
	case finish:
		yes := m.chosen(mask, bit)
		for t := range yes {
			if yes[t] {
				m.vars[t][0] = m.vars[t][x.a]
			}
		}
		m.skip(yes, returned)
	case quit:
		m.skip(m.chosen(mask, bit), exited)
	case jump:
		var lists [4][]bool
		for i := range lists {
			lists[i] = m.chosen(mask, func(v *[variables]uint32) bool { return int(v[x.a]&3) == i })
		}
		for i, list := range x.cases {
			m.all(list, lists[i])
		}
	case call:
		m.call(x, x.n&1, m.chosen(mask, always))
	case callAny:
		odd := m.chosen(mask, func(v *[variables]uint32) bool { return v[x.c]&1 == 1 })
		even := m.chosen(mask, func(v *[variables]uint32) bool { return v[x.c]&1 == 0 })
		m.call(x, 0, even)
		m.call(x, 1, odd)
	default:
		before := slices.Clone(m.vars)
		for t := range mask {
			if mask[t] && m.gone[t] == 0 {
				m.thread(x, t, before)
			}
		}
	}
}

// skip makes threads skip statements.
func (m *reference) skip(mask []bool, why int) {
	for t := range mask {
		if mask[t] {
			m.gone[t] = why
		}
	}
}

// back lets the threads that skip statements for a reason execute statements again.
func (m *reference) back(why int) {
	for t := range m.gone {
		if m.gone[t] == why {
			m.gone[t] = 0
		}
	}
}

func (m *reference) loop(x *statement, mask []bool) {
	counts := make([]uint32, len(mask))
	for t := range mask {
		counts[t] = m.vars[t][x.a] & 3
	}
	for slices.Contains(mask, true) {
		m.all(x.list, mask)
		m.back(skipped(x.n))
		for t := range mask {
			if mask[t] = mask[t] && m.gone[t] == 0 && counts[t] > 0; mask[t] {
				counts[t]--
			}
		}
	}
	m.back(left(x.n))
}

func (m *reference) call(x *statement, function int, mask []bool) {
	vars, own := m.vars, m.own
	m.vars, m.own = make([][variables]uint32, len(vars)), make([][8]uint32, len(own))
	for t := range vars {
		m.vars[t] = [variables]uint32{vars[t][x.a], vars[t][x.b], 2, 3, 4, 5}
	}
	m.all(m.p.functions[function], mask)
	m.back(returned)
	results := m.vars
	m.vars, m.own = vars, own
	for t := range mask {
		if mask[t] {
			m.vars[t][x.to] = results[t][0]
		}
	}
}

// thread executes a statement for one thread. Before holds the registers of all threads.
func (m *reference) thread(x *statement, t int, before [][variables]uint32) {
	v := &m.vars[t]
	a, b, c := v[x.a], v[x.b], v[x.c]
	switch x.verb {
	case set:
		v[x.to] = compute2(x.op, a, b)
	case guarded:
		if int32(c) < int32(a) {
			v[x.to] = compute2(x.op, a, b)
		}
	case poke:
		m.own[t][a&7] = b
	case peek:
		v[x.to] = m.own[t][a&7]
	case hold:
		m.private[t][a&3] = b
	case recall:
		v[x.to] = m.private[t][a&3]
	case fetch:
		v[x.to] = m.p.in[a&1023]
	case reduce:
		i := a & 15
		if x.n&1 == 1 && !m.p.exits {
			i += 16
		}
		m.counters[i] += b
	case exchange:
		v[x.to] = before[(t+1+7*x.n)%m.p.threads][x.a]
	case shuffle:
		v[x.to] = before[t^1<<x.n][x.a]
	case ballot:
		votes := uint32(0)
		for lane := range 32 {
			if w := &before[t&^31+lane]; int32(w[x.c]) > int32(w[x.a]) {
				votes |= 1 << lane
			}
		}
		v[x.to] = votes
	case bulk:
		v[x.to] = m.p.in[x.n*((4*m.p.threads+15)&^15)/4+t]
	}
}

// compute2 computes one of operations.
func compute2(op string, a, b uint32) uint32 {
	float := func(x float32) uint32 {
		if x != x {
			return 0x7fffffff
		}
		return math.Float32bits(x)
	}
	switch op {
	case "add.u32":
		return a + b
	case "sub.u32":
		return a - b
	case "mul.lo.u32":
		return a * b
	case "and.b32":
		return a & b
	case "or.b32":
		return a | b
	case "xor.b32":
		return a ^ b
	case "min.u32":
		return min(a, b)
	case "max.s32":
		return uint32(max(int32(a), int32(b)))
	case "shl.b32":
		return a << b
	case "shr.u32":
		return a >> b
	case "shr.s32":
		return uint32(int32(a) >> b)
	case "mul.hi.u32":
		hi, _ := bits.Mul32(a, b)
		return hi
	case "add.rn.f32":
		return float(math.Float32frombits(a) + math.Float32frombits(b))
	}
	return float(math.Float32frombits(a) * math.Float32frombits(b))
}

// variants are the ways in which TestPrograms runs a program.
func variants(seed uint64) []emu.Options {
	return []emu.Options{
		{Workers: 1, Completion: emu.Late},
		{Workers: 2, Completion: emu.Eager, Seed: seed + 1, Unchecked: true},
		{Workers: 2, Completion: emu.Random, Seed: seed + 2, Strict: true},
		{Workers: 1, Completion: emu.Random, Seed: seed + 3, Interleave: true},
		{Workers: 1, Completion: emu.Late, Seed: seed + 4, Observer: inspect.NewStats()},
	}
}

// compare runs the program in all variants and compares the results with the reference.
func (p *program) compare(t *testing.T, seed uint64) {
	text := p.text()
	out, counters := p.expected()
	for i, o := range variants(seed) {
		o.Output = io.Discard
		d := open(t, o)
		to := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, len(out))))
		in := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, p.in))
		sums := must[*runtime.Buffer[uint32]](t)(runtime.Upload(d, make([]uint32, 32)))
		if err := kernel(t, d, text).Launch(runtime.Grid(p.blocks).Block(p.threads), to, in,
			sums); err != nil {
			t.Fatalf("program %d, variant %d: %v\n%s", seed, i, err, text)
		}
		got := append(must[[]uint32](t)(runtime.Download(to)),
			must[[]uint32](t)(runtime.Download(sums))...)
		for j, want := range append(slices.Clone(out), counters...) {
			if got[j] != want {
				t.Fatalf("program %d, variant %d: word %d is %#x, want %#x\n%s", seed, i, j, got[j],
					want, text)
			}
		}
	}
}

// programs is the number of programs that TestPrograms runs, if EMU_PROGRAMS does not say
// otherwise.
const programs = 60

// TestPrograms compares random programs with divergent branches, loops, switches, calls, atomics,
// barriers, shuffles and asynchronous copies with a reference in Go, which executes their
// statements and not their PTX. All orders of warps, completion policies, levels of checks and
// numbers of workers must give that result.
func TestPrograms(t *testing.T) {
	n := uint64(programs)
	if text := os.Getenv("EMU_PROGRAMS"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("EMU_PROGRAMS=%s: a number is expected", text)
		}
	}
	for seed := range n {
		newProgram(seed).compare(t, seed)
	}
}

// FuzzPrograms does the same with other seeds.
func FuzzPrograms(f *testing.F) {
	f.Add(uint64(programs))
	f.Fuzz(func(t *testing.T, seed uint64) { newProgram(seed).compare(t, seed) })
}
