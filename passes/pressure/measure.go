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

// registerLimits lists the register limits for which blocks are scheduled: no limit, and the limits
// of decreasing occupancy. Each target adds its limit for full occupancy.
var registerLimits = [...]int{math.MaxInt, 20, 42, 58, 74, 122}

// margin is the number of registers that ptxas needs besides live words: for the stack pointer, and
// for losses to alignment.
const margin = 6

// A measure holds the features of a function that the correction model uses.
type measure struct {
	number           int // compute capability of the target, such as 90
	full             int
	order, loops     peak // peaks in text order; loops: with loop counters in uniform registers
	lean, leanLoops  int
	early            [len(registerLimits)]int
	registers        [3]int // assigned registers, by style
	registersLoops   int    // the same with loop counters in uniform registers
	slow             int    // ops that call a subroutine for rare operands
	debug            int    // 1 in code for a debugger
	shorts           int    // 16-bit words at the peak
	inlined          int    // inlined calls
	earlyLoops       int
	earlyFull        int // peak if scheduled for the register limit of full occupancy
	earlyLoopsFull   int
	blocks, ops      int
	largest          int // ops of the largest block
	back, unrolled   int // number of loops
	crossing         int // maximum number of words live between blocks
	limit, threads   int // register limit and threads that directives give
	callee           int // maximum number of words of a called function
	outside, calls   int // calls to undefined functions, and all calls
	local, params    int // bytes
	widest           int // size of the widest vector operand
	loads, loadWords int // maximum in a block
	across           int // words live across calls
	pairs            int // words at the peak that are halves of 64-bit values
	vectors          int // vector loads
	kinds            [kindCount]int
	graph            *graph
	out              [][]word
}

// fullOccupancy returns the number of registers per thread when the maximum number of threads is
// resident.
func fullOccupancy(number int) int { return machineOf(number).fullRegisters() }

// Names returns the names of the features, in their order.
func Names() []string {
	names := []string{
		"number", "full", "order", "orderwarp", "loops", "loopswarp", "lean", "leanloops", "early",
		"early20", "early42", "early58", "early74",
		"early122", "earlyloops", "earlyfull", "earlyloopsfull", "blocks", "ops", "largest", "back",
		"unrolled", "crossing", "limit", "threads",
		"callee", "outside", "calls", "local", "params", "widest", "loads", "loadwords", "across",
		"pairs", "vectors", "dense", "banked", "rested", "restedloops", "slow", "debug", "inlined",
		"predicates", "shorts", "inner",
	}
	return append(names, kindNames[:]...)
}

// features returns the values of the features in the order of Names.
func (x *measure) features() []float64 {
	list := []int{
		x.number, x.full, x.order.count, x.order.warp, x.loops.count, x.loops.warp, x.lean,
		x.leanLoops, x.early[0], x.early[1], x.early[2], x.early[3],
		x.early[4], x.early[5], x.earlyLoops, x.earlyFull, x.earlyLoopsFull, x.blocks, x.ops,
		x.largest, x.back, x.unrolled, x.crossing, x.limit, x.threads,
		x.callee, x.outside, x.calls, x.local, x.params, x.widest, x.loads, x.loadWords, x.across,
		x.pairs, x.vectors, x.registers[0], x.registers[1], x.registers[2], x.registersLoops,
		x.slow, x.debug, x.inlined, x.order.flags, x.shorts, x.order.inner,
	}
	list = append(list, x.kinds[:]...)
	values := make([]float64, len(list))
	for i, n := range list {
		values[i] = float64(n)
	}
	return values
}

// Indices of the features that this package reads from a list of features.
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
	room    int  // instructions that inlining may add to each kernel
	debug   bool // code for a debugger, which ptxas does not optimize
}

func newMeasurer(m *ir.Module) *measurer {
	r := &measurer{module: m, defined: make(map[string]*ir.Func),
		known: make(map[*ir.Func]*measure)}
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
	r.known[f] = x // a recursive function uses the features known so far
	x.full = fullOccupancy(x.number)
	if r.debug {
		x.debug = 1
		x.debugged(f)
	} else {
		body := r.inliner.inlined(f, r.room)
		if body != f {
			x.inlined = 1
		}
		x.optimized(body)
	}
	g, out := x.graph, x.out
	f = g.words.f // including the inlined functions
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
			if in := g.ops[b][i].in; in.Kind() == isa.KindCall {
				x.across = max(x.across, len(out[b]))
				r.call(x, in)
			}
		}
	}
	return x
}

// optimized measures a function as ptxas compiles it by default.
func (x *measure) optimized(f *ir.Func) {
	g := newGraph(f, x.number)
	out := g.live()
	x.graph, x.out = g, out
	g.classify(x.number, true)
	x.loops = g.inOrder(out)
	allocators := g.allocators(x.full, rested)
	least, peaks := g.scheduled(out, []int{math.MaxInt, x.full - margin}, allocators...)
	x.registersLoops = allocators[0].used
	x.leanLoops, x.earlyLoops, x.earlyLoopsFull = least, peaks[0], peaks[1]
	g.classify(x.number, false)
	x.order = g.inOrder(out)
	allocators = g.allocators(x.full, dense, banked, rested)
	least, peaks = g.scheduled(out, append(registerLimits[:], x.full-margin), allocators...)
	for i, a := range allocators {
		x.registers[i] = a.used
	}
	x.lean, x.earlyFull = least, peaks[len(registerLimits)]
	copy(x.early[:], peaks)
}

// call adds to x the registers that a call needs: those of the called function, or those that the
// calling convention reserves.
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

// block counts the instructions of a block by kind.
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
		if o.in.Kind() == isa.KindLd && !o.in.HasMod(isa.ModParam) {
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

// limits returns the maximum number of registers per thread that a kernel's directives allow, and
// the number of threads of a block. Each is 0 if no directive specifies it. A .minnctapersm that
// the multiprocessor cannot satisfy is ignored, as ptxas ignores it.
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
		most := min(maxRegisters, fileWords/(warps*32*blocks)/8*8)
		if registers == 0 || most < registers {
			registers = most
		}
	}
	return registers, threads
}

// product returns the product of the numbers in a directive's text: 128 for "32, 4, 1". Text that
// is not a number counts as one. The result is capped far above the size of a thread block.
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
