// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"math"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// rooms are the register targets for which blocks are scheduled: no limit, and the limits for
// decreasing occupancy. The limit for full occupancy is added.
var rooms = [...]int{math.MaxInt, 20, 42, 58, 74, 122}

// margin is what ptxas needs in addition to live words: the stack pointer, and losses to alignment.
const margin = 6

// A measure holds the features of a function that the model uses.
type measure struct {
	number           int // of the target
	full             int
	order, loops     peak // in the order of the text; and with loops' counters in registers of the warp
	lean, leanLoops  int
	early            [len(rooms)]int
	registers        [3]int // registers taken, by style
	registersLoops   int    // with the counters of loops in registers of the warp
	slow             int    // ops that call a subroutine in rare cases
	debug            int    // 1 in code for a debugger
	shorts           int    // words of 16 bits where most are in use
	inlined          int    // calls that the body of what is called took the place of
	earlyLoops       int
	earlyFull        int // ordered for as many registers as all threads leave each
	earlyLoopsFull   int
	blocks, ops      int
	largest          int // ops of the largest block
	back, unrolled   int // loops
	crossing         int // most words in use between blocks
	limit, threads   int // of the directives
	callee           int // most words that what it calls needs
	outside, calls   int // calls to what is not here, and all
	local, params    int // bytes
	widest           int // operand that is a vector
	loads, loadWords int // most in a block
	across           int // words in use across calls
	pairs            int // words that are halves of 64 bits where most are in use
	vectors          int // vector loads
	kinds            [kindCount]int
	graph            *graph
	out              [][]word
}

// fullOccupancy returns how many registers each thread may have when as many threads run as ever
// can.
func fullOccupancy(number int) int { return machineOf(number).fullRegisters() }

// Names returns the names of the features, in their order.
func Names() []string {
	names := []string{
		"number", "full", "order", "orderwarp", "loops", "loopswarp", "lean", "leanloops", "early", "early20", "early42", "early58", "early74",
		"early122", "earlyloops", "earlyfull", "earlyloopsfull", "blocks", "ops", "largest", "back", "unrolled", "crossing", "limit", "threads",
		"callee", "outside", "calls", "local", "params", "widest", "loads", "loadwords", "across", "pairs", "vectors", "dense", "banked", "rested", "restedloops", "slow", "debug", "inlined", "predicates", "shorts", "inner",
	}
	return append(names, kindNames[:]...)
}

// features returns the numbers that belong to Names.
func (x *measure) features() []float64 {
	list := []int{
		x.number, x.full, x.order.count, x.order.warp, x.loops.count, x.loops.warp, x.lean, x.leanLoops, x.early[0], x.early[1], x.early[2], x.early[3],
		x.early[4], x.early[5], x.earlyLoops, x.earlyFull, x.earlyLoopsFull, x.blocks, x.ops, x.largest, x.back, x.unrolled, x.crossing, x.limit, x.threads,
		x.callee, x.outside, x.calls, x.local, x.params, x.widest, x.loads, x.loadWords, x.across, x.pairs, x.vectors, x.registers[0], x.registers[1], x.registers[2], x.registersLoops, x.slow, x.debug, x.inlined, x.order.flags, x.shorts, x.order.inner,
	}
	list = append(list, x.kinds[:]...)
	values := make([]float64, len(list))
	for i, n := range list {
		values[i] = float64(n)
	}
	return values
}

// Places of features that are read back.
const (
	featureLean      = 6
	featureEarlyFull = 15
	featureOps       = 18
	featureLimit     = 23
	featureCalls     = 27
	featureRested    = 38
	featureKinds     = 46
)

// A measurer measures the functions of a module, each once.
type measurer struct {
	module  *ir.Module
	defined map[string]*ir.Func
	known   map[*ir.Func]*measure
	inliner *inliner
	room    int  // instructions that each kernel may gain by inlining
	debug   bool // code for a debugger, which the assembler does not optimise
}

func newMeasurer(m *ir.Module) *measurer {
	r := &measurer{module: m, defined: make(map[string]*ir.Func), known: make(map[*ir.Func]*measure)}
	kernels, size := 0, 0
	for _, f := range m.Funcs() {
		r.defined[f.Name] = f
		if f.Kernel {
			kernels++
		}
		for _, b := range f.Blocks {
			size += len(b.Instrs)
		}
	}
	r.debug = slices.Contains(m.Options, "debug")
	r.inliner = newInliner(m, r.defined)
	kernels = max(1, kernels)
	r.room = max(inlineShare*size/kernels, min(inlineLeast, inlineTotal/kernels))
	return r
}

func (r *measurer) measure(f *ir.Func) *measure {
	if x, ok := r.known[f]; ok {
		return x
	}
	x := &measure{number: r.module.Target.Info().Number}
	r.known[f] = x // a function that calls itself finds what is known so far
	x.full = fullOccupancy(x.number)
	if r.debug {
		x.debug = 1
		x.debugged(f)
	} else {
		body := r.inliner.inlined(f, r.room)
		if body != f {
			x.inlined = 1
		}
		x.optimised(body)
	}
	g, out := x.graph, x.out
	f = g.words.f // with what it calls
	x.pairs = g.atPeak(out, x.order, func(r *ir.Reg) bool { return r.Type.Bits() > 32 })
	x.shorts = g.atPeak(out, x.order, func(r *ir.Reg) bool { return r.Type.Bits() == 16 })
	x.unrolled, x.slow = g.unrolled, g.slow
	for b := range out {
		n := 0
		for _, w := range out[b] {
			if g.words.class[w] == general {
				n++
			}
		}
		x.crossing = max(x.crossing, n)
	}
	x.limit, x.threads = limits(f, machineOf(x.number))
	for _, v := range f.Vars {
		if v.Space == isa.Local {
			x.local += int(v.Size())
		}
	}
	for _, p := range f.Params {
		x.params += int(p.Size())
	}
	for b := range g.ops {
		x.block(b)
		for i := range g.ops[b] {
			if in := g.ops[b][i].in; in.Head() == "call" {
				x.across = max(x.across, len(out[b]))
				r.call(x, in)
			}
		}
	}
	return x
}

// optimised measures a function as the assembler translates it by default.
func (x *measure) optimised(f *ir.Func) {
	g := newGraph(f, x.number)
	out := g.live()
	x.graph, x.out = g, out
	g.classify(x.number, true)
	x.loops = g.inOrder(out)
	allocators := g.allocators(x.full, rested)
	least, peaks := g.scheduled(out, []int{math.MaxInt, x.full - margin}, allocators...)
	x.registersLoops = allocators[0].most
	x.leanLoops, x.earlyLoops, x.earlyLoopsFull = least, peaks[0], peaks[1]
	g.classify(x.number, false)
	x.order = g.inOrder(out)
	allocators = g.allocators(x.full, dense, banked, rested)
	least, peaks = g.scheduled(out, append(rooms[:], x.full-margin), allocators...)
	for i, a := range allocators {
		x.registers[i] = a.most
	}
	x.lean, x.earlyFull = least, peaks[len(rooms)]
	copy(x.early[:], peaks)
}

// call adds what a call needs.
func (r *measurer) call(x *measure, in *ir.Instr) {
	x.calls++
	for i := range in.Args {
		in.Args[i].Walk(func(o *ir.Operand) {
			f, ok := o.Ref().(*ir.Func)
			if !ok {
				return
			}
			d := r.defined[f.Name]
			if d == nil {
				x.outside++
				if r.debug {
					x.debugRegisters(max(x.registers[0], callLeast))
				}
				return
			}
			y := r.measure(d)
			x.callee = max(x.callee, y.order.count, y.callee)
			if r.debug {
				x.debugRegisters(max(x.registers[0], y.registers[0], callLeast))
			}
			x.outside += y.outside
		})
	}
}

// block counts what a block holds.
func (x *measure) block(b int) {
	g := x.graph
	if len(g.ops[b]) > 0 {
		x.blocks++
	}
	x.ops += len(g.ops[b])
	x.largest = max(x.largest, len(g.ops[b]))
	loads, words := 0, 0
	for i := range g.ops[b] {
		o := &g.ops[b][i]
		x.kinds[kindOf(o.in)]++
		for j := range o.in.Args {
			if o.in.Args[j].Kind == ir.Vector {
				x.widest = max(x.widest, len(o.in.Args[j].Args()))
			}
		}
		if o.in.Head() == "ld" && !o.in.Mod("param") {
			loads++
			words += len(o.defs)
			if len(o.defs) > 1 {
				x.vectors++
			}
		}
	}
	x.loads, x.loadWords = max(x.loads, loads), max(x.loadWords, words)
	for _, s := range g.flow.Succs[b] {
		if s <= b {
			x.back++
		}
	}
}

// limits returns the most registers that the directives of a kernel allow each thread, and the
// threads of a block; 0 where they say nothing. More blocks at once than the machine can run are no
// wish that the assembler heeds.
func limits(f *ir.Func, m machine) (registers, threads int) {
	blocks := 1
	for i := range f.Attrs {
		a := &f.Attrs[i]
		switch a.Name {
		case ".maxnreg":
			registers = product(a.Text)
		case ".maxntid", ".reqntid":
			threads = product(a.Text)
		case ".minnctapersm":
			blocks = max(1, product(a.Text))
		}
	}
	if blocks > m.blocks || threads*blocks > m.warps*warpThreads {
		blocks = 1
	}
	if threads > 0 {
		warps := (threads + 31) / 32
		most := min(mostRegisters, fileWords/(warps*32*blocks)/8*8)
		if registers == 0 || most < registers {
			registers = most
		}
	}
	return registers, threads
}

// product returns the product of the numbers in a directive's text: "32, 4, 1" is 128. What is no
// number counts as one, and nothing grows beyond what a thread block can be by far.
func product(text string) int {
	p := 1
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		n := 0
		for _, c := range word {
			n = min(n*10+int(c-'0'), 1<<16)
		}
		p = min(p*max(1, n), 1<<20)
	}
	return p
}
