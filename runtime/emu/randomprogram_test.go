// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A program is a random kernel without races, and two functions that it calls. Its result does not
// depend on the order of warps or on when copies complete. TestPrograms compares it with reference.
type program struct {
	blocks, threads int
	in              []uint32 // input array, a power of two
	body            []*statement
	functions       [2][]*statement
	labels          int
	loops           int
	exits           bool // threads may leave early, so there are no collectives
}

// variables is the number of registers that statements of a function use.
const variables = 6

// A verb is what a statement does.
type verb uint8

// Verbs. Those after collective need all threads of a block.
const (
	set         verb = iota // to = a op b
	guarded                 // if c: to = a op b, with a predicate
	branch                  // if c: list, else: others
	loop                    // list, (a & 3) + 1 times
	leave                   // if c: leave the loop n
	again                   // if c: next iteration of the loop n
	jump                    // one of four lists, with brx.idx
	call                    // to = function n of a and b
	callAny                 // to = function 0 or 1 of a and b, by the lowest bit of c
	finish                  // if c: return from the function
	quit                    // if c: the thread ends
	poke                    // local array: [a & 7] = b
	peek                    // to = local array [a & 7]
	hold                    // private words of global memory: [a & 3] = b
	recall                  // to = private word [a & 3]
	fetch                   // to = in[a mod len], through cp.async
	reduce                  // counter [a & 15] += b, in global or shared memory
	collective              // no statement
	exchange                // to = a of the thread n later
	shuffle                 // to = a of the lane xor n
	ballot                  // to = lanes where c holds
	bulk                    // to = in[n*threads + tid], through a bulk copy
	uniformLoop             // list, n times
	blockBranch             // if the block is odd: list, else: others
)

// A statement is a step of a program: what it does, and to which registers.
type statement struct {
	verb         verb
	op           string
	to, a, b, c  int // registers
	n            int
	list, others []*statement
	cases        [4][]*statement
}

// newProgram returns a random program.
func newProgram(seed uint64) *program {
	r := rand.New(rand.NewPCG(seed, 26))
	p := &program{blocks: 1 + r.IntN(3), threads: []int{32, 64, 96, 33, 20, 128}[r.IntN(6)],
		exits: r.IntN(4) == 0}
	p.in = make([]uint32, 1024)
	for i := range p.in {
		p.in[i] = r.Uint32()
	}
	for i := range p.functions {
		p.functions[i] = p.list(r, scope{function: true}, 3)
	}
	p.body = p.list(r, scope{uniform: true}, 4)
	return p
}

// A scope is where a statement is.
type scope struct {
	function bool // in a function
	uniform  bool // all threads of a block execute it
	loop     int  // number of the innermost loop, 0 if there is none
}

// list returns random statements that nest at most depth deep.
func (p *program) list(r *rand.Rand, s scope, depth int) (list []*statement) {
	for range 1 + r.IntN(5) {
		list = append(list, p.statement(r, s, depth))
	}
	return list
}

// operations are the operations of set, with the rules of reference.
var operations = []string{"add.u32", "sub.u32", "mul.lo.u32", "and.b32", "or.b32", "xor.b32",
	"min.u32", "max.s32", "shl.b32", "shr.u32", "shr.s32", "mul.hi.u32", "add.rn.f32", "mul.rn.f32"}

func (p *program) statement(r *rand.Rand, s scope, depth int) *statement {
	x := &statement{op: operations[r.IntN(len(operations))], to: r.IntN(variables),
		a: r.IntN(variables), b: r.IntN(variables), c: r.IntN(variables), n: r.IntN(4)}
	inner := scope{function: s.function, loop: s.loop}
	simple := []verb{set, set, guarded, poke, peek, hold, recall, fetch, reduce}
	nested := []verb{branch, branch, loop, jump, call, callAny}
	if s.function {
		simple, nested = append(simple[:5:5], finish), nested[:4] // no global memory
	} else if p.exits {
		simple = append(simple, quit)
	}
	if s.loop > 0 && !s.uniform {
		simple = append(simple, leave, again)
	}
	choices := append(simple, nested...)
	if depth == 0 {
		choices = simple
	}
	if s.uniform && !p.exits {
		choices = append(choices, exchange, bulk, blockBranch, uniformLoop)
		if p.threads%32 == 0 {
			choices = append(choices, shuffle, ballot)
		}
	}
	x.verb = choices[r.IntN(len(choices))]
	if depth == 0 && x.verb >= uniformLoop {
		x.verb = set
	}
	switch x.verb {
	case branch:
		x.list, x.others = p.list(r, inner, depth-1), p.list(r, inner, depth-1)
	case blockBranch:
		inner.uniform = true
		x.list, x.others = p.list(r, inner, depth-1), p.list(r, inner, depth-1)
	case loop:
		p.loops++
		x.n, inner.loop = p.loops, p.loops
		x.list = p.list(r, inner, depth-1)
	case uniformLoop:
		inner.uniform = true
		x.list = p.list(r, inner, depth-1)
	case jump:
		for i := range x.cases {
			x.cases[i] = p.list(r, inner, depth-1)
		}
	case leave, again:
		x.n = s.loop
	}
	return x
}

// A writer writes the PTX of a program.
type writer struct {
	strings.Builder
	p        *program
	function bool
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// label returns a new label.
func (w *writer) label() string {
	w.p.labels++
	return fmt.Sprintf("L%d", w.p.labels)
}

// registers declares the registers of a function.
const registers = `.reg .pred %p<4>; .reg .b32 %v<6>; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .b32 %n<LOOPS>; .local .align 8 .b8 own[32];
mov.u32 %r0, 0; st.local.v2.b32 [own], {%r0, %r0}; st.local.v2.b32 [own+8], {%r0, %r0}; st.local.v2.b32 [own+16], {%r0, %r0}; st.local.v2.b32 [own+24], {%r0, %r0};
`

// text returns the PTX of the program: kernel k with parameters out, in and counters.
func (p *program) text() string {
	w := &writer{p: p, function: true}
	w.line(".version 8.3\n.target sm_90a\n.address_size 64")
	for i, list := range p.functions {
		w.line(".func (.param .b32 r) f%d(.param .b32 a, .param .b32 b) {\n%s", i, registers)
		w.line("ld.param.b32 %%v0, [a]; ld.param.b32 %%v1, [b]; mov.u32 %%v2, 2; mov.u32 %%v3, 3; mov.u32 %%v4, 4; mov.u32 %%v5, 5;")
		w.all(list)
		w.line("st.param.b32 [r], %%v0; ret;\n}")
	}
	w.function = false
	w.line(".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 counters) {\n%s",
		registers)
	w.line(`.shared .align 16 .b8 s[512]; .shared .align 16 .b8 copy[512]; .shared .align 16 .b8 box[512]; .shared .align 4 .b8 count[64]; .shared .align 8 .b64 bar;
.reg .b32 %%thread, %%block, %%threads, %%parity; .reg .b64 %%out, %%in, %%sum;
ld.param.u64 %%out, [out]; ld.param.u64 %%in, [in]; ld.param.u64 %%sum, [counters]; mov.u32 %%thread, %%tid.x; mov.u32 %%block, %%ctaid.x; mov.u32 %%threads, %%ntid.x; mov.u32 %%parity, 0;
mad.lo.u32 %%r1, %%block, %%threads, %%thread; mul.wide.u32 %%d1, %%r1, %d; add.u64 %%out, %%out, %%d1;
setp.lt.u32 %%p0, %%thread, 16; shl.b32 %%r2, %%thread, 2; mov.u32 %%r3, count; add.u32 %%r2, %%r2, %%r3; @%%p0 st.shared.u32 [%%r2], %%r0;
setp.eq.u32 %%p0, %%thread, 0; @%%p0 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;
mov.u32 %%v0, %%thread; mov.u32 %%v1, %%block; mov.u32 %%v2, %%r1; mov.u32 %%v3, 3; mov.u32 %%v4, 40; mov.u32 %%v5, 0x3fc00000;`, 4*(variables+4))
	w.all(p.body)
	for i := range variables {
		w.line("st.global.u32 [%%out+%d], %%v%d;", 4*i, i)
	}
	if !p.exits {
		w.line(`bar.sync 0; setp.ge.u32 %%p0, %%thread, 16; @%%p0 ret; shl.b32 %%r2, %%thread, 2; mov.u32 %%r3, count; add.u32 %%r3, %%r3, %%r2; ld.shared.u32 %%r4, [%%r3];
cvt.u64.u32 %%d1, %%r2; add.u64 %%d1, %%d1, %%sum; red.global.add.u32 [%%d1+64], %%r4;`)
	}
	w.line("ret;\n}")
	return strings.ReplaceAll(w.String(), "LOOPS", strconv.Itoa(p.loops+1))
}

func (w *writer) all(list []*statement) {
	for _, x := range list {
		w.statement(x)
	}
}

// jumpUnless writes a branch to a label for threads where the condition does not hold.
func (w *writer) jumpUnless(x *statement, label string) {
	w.line("and.b32 %%r1, %%v%d, %d; setp.ne.u32 %%p1, %%r1, 0; @!%%p1 bra %s;", x.c, 1<<(x.n&3),
		label)
}

// statement writes one statement.
func (w *writer) statement(x *statement) {
	switch x.verb {
	case set:
		w.line("%s %%v%d, %%v%d, %%v%d;", x.op, x.to, x.a, x.b)
	case guarded:
		w.line("setp.lt.s32 %%p1, %%v%d, %%v%d; @%%p1 %s %%v%d, %%v%d, %%v%d;", x.c, x.a, x.op,
			x.to, x.a, x.b)
	case branch, blockBranch:
		others, end := w.label(), w.label()
		if x.verb == branch {
			w.jumpUnless(x, others)
		} else {
			w.line("and.b32 %%r1, %%block, 1; setp.eq.u32 %%p1, %%r1, 0; @%%p1 bra.uni %s;", others)
		}
		w.all(x.list)
		w.line("bra %s;\n%s:", end, others)
		w.all(x.others)
		w.line("%s:", end)
	case loop:
		w.line("and.b32 %%n%d, %%v%d, 3;\nB%d:", x.n, x.a, x.n)
		w.all(x.list)
		w.line("C%d: setp.eq.u32 %%p1, %%n%d, 0; sub.u32 %%n%d, %%n%d, 1; @!%%p1 bra B%d;\nE%d:",
			x.n, x.n, x.n, x.n, x.n, x.n)
	case uniformLoop:
		for range x.n { // unrolled, with the same registers
			w.all(relabelled(x.list, w.p))
		}
	case leave, again:
		w.line("setp.gt.u32 %%p1, %%v%d, %%v%d; @%%p1 bra %s%d;", x.c, x.a,
			map[verb]string{leave: "E", again: "C"}[x.verb], x.n)
	case jump:
		w.jump(x)
	case finish:
		end := w.label()
		w.jumpUnless(x, end)
		w.line("st.param.b32 [r], %%v%d; ret;\n%s:", x.a, end)
	case quit:
		end := w.label()
		w.jumpUnless(x, end)
		w.line("exit;\n%s:", end)
	case poke, peek:
		w.line("and.b32 %%r1, %%v%d, 7; mul.wide.u32 %%d1, %%r1, 4; mov.u64 %%d2, own; add.u64 %%d1, %%d1, %%d2;", x.a)
		if x.verb == poke {
			w.line("st.local.u32 [%%d1], %%v%d;", x.b)
		} else {
			w.line("cvta.local.u64 %%d1, %%d1; ld.u32 %%v%d, [%%d1];", x.to)
		}
	default:
		w.memory(x)
	}
}

// relabelled returns a copy of statements whose loops have new numbers.
func relabelled(list []*statement, p *program) []*statement {
	return renumber(list, p, map[int]int{})
}

func renumber(list []*statement, p *program, numbers map[int]int) []*statement {
	out := make([]*statement, len(list))
	for i, x := range list {
		y := *x
		switch x.verb {
		case loop:
			p.loops++
			numbers[x.n] = p.loops
			y.n = p.loops
		case leave, again:
			y.n = numbers[x.n]
		}
		y.list, y.others = renumber(x.list, p, numbers), renumber(x.others, p, numbers)
		for j := range x.cases {
			y.cases[j] = renumber(x.cases[j], p, numbers)
		}
		out[i] = &y
	}
	return out
}

// jump writes a switch.
func (w *writer) jump(x *statement) {
	var labels []string
	for range x.cases {
		labels = append(labels, w.label())
	}
	end, table := w.label(), w.label()
	w.line("and.b32 %%r1, %%v%d, 3;\n%s: .branchtargets %s;\nbrx.idx %%r1, %s;", x.a, table,
		strings.Join(labels, ", "), table)
	for i, list := range x.cases {
		w.line("%s:", labels[i])
		w.all(list)
		w.line("bra %s;", end)
	}
	w.line("%s:", end)
}

// memory writes statements that access memory of several threads, and calls.
func (w *writer) memory(x *statement) {
	switch x.verb {
	case call, callAny:
		w.line("{ .param .b32 a; .param .b32 b; .param .b32 r; st.param.b32 [a], %%v%d; st.param.b32 [b], %%v%d;", x.a, x.b)
		if x.verb == call {
			w.line("call (r), f%d, (a, b);", x.n&1)
		} else {
			proto := w.label()
			w.line("and.b32 %%r1, %%v%d, 1; setp.eq.u32 %%p1, %%r1, 0; mov.u64 %%d1, f0; mov.u64 %%d2, f1; selp.b64 %%d1, %%d1, %%d2, %%p1;", x.c)
			w.line("%s: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\ncall (r), %%d1, (a, b), %s;", proto, proto)
		}
		w.line("ld.param.b32 %%v%d, [r]; }", x.to)
	case hold, recall:
		w.line("and.b32 %%r1, %%v%d, 3; mul.wide.u32 %%d1, %%r1, 4; add.u64 %%d1, %%d1, %%out;",
			x.a)
		if x.verb == hold {
			w.line("st.global.u32 [%%d1+%d], %%v%d;", 4*variables, x.b)
		} else {
			w.line("ld.global.u32 %%v%d, [%%d1+%d];", x.to, 4*variables)
		}
	case fetch:
		w.line("and.b32 %%r1, %%v%d, 1023; mul.wide.u32 %%d1, %%r1, 4; add.u64 %%d1, %%d1, %%in; shl.b32 %%r2, %%thread, 2; mov.u32 %%r3, copy; add.u32 %%r2, %%r2, %%r3;", x.a)
		w.line("cp.async.ca.shared.global [%%r2], [%%d1], 4; cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %%v%d, [%%r2];", x.to)
	case reduce:
		w.line("and.b32 %%r1, %%v%d, 15; shl.b32 %%r1, %%r1, 2;", x.a)
		if x.n&1 == 0 || w.p.exits {
			w.line("cvt.u64.u32 %%d1, %%r1; add.u64 %%d1, %%d1, %%sum; red.relaxed.gpu.global.add.u32 [%%d1], %%v%d;", x.b)
		} else {
			w.line("mov.u32 %%r2, count; add.u32 %%r2, %%r2, %%r1; atom.shared.add.u32 %%r3, [%%r2], %%v%d;", x.b)
		}
	case exchange:
		w.line("shl.b32 %%r1, %%thread, 2; mov.u32 %%r2, s; add.u32 %%r1, %%r1, %%r2; st.shared.u32 [%%r1], %%v%d; bar.sync 0;", x.a)
		w.line("add.u32 %%r3, %%thread, %d; rem.u32 %%r3, %%r3, %%threads; shl.b32 %%r3, %%r3, 2; add.u32 %%r3, %%r3, %%r2; ld.shared.u32 %%v%d, [%%r3]; bar.sync 0;", 1+7*x.n, x.to)
	case shuffle:
		w.line("shfl.sync.bfly.b32 %%v%d, %%v%d, %d, 31, 0xffffffff;", x.to, x.a, 1<<x.n)
	case ballot:
		w.line("setp.gt.s32 %%p1, %%v%d, %%v%d; vote.sync.ballot.b32 %%v%d, %%p1, 0xffffffff;", x.c,
			x.a, x.to)
	case bulk:
		size, wait := (4*w.p.threads+15)&^15, w.label()
		w.line("setp.eq.u32 %%p1, %%thread, 0; @%%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %d;", size)
		w.line("@%%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%%in+%d], %d, [bar];", x.n*size, size)
		w.line("%s: mbarrier.try_wait.parity.shared.b64 %%p2, [bar], %%parity; @!%%p2 bra %s; xor.b32 %%parity, %%parity, 1;", wait, wait)
		w.line("shl.b32 %%r1, %%thread, 2; mov.u32 %%r2, box; add.u32 %%r1, %%r1, %%r2; ld.shared.u32 %%v%d, [%%r1]; bar.sync 0;", x.to)
	}
}
