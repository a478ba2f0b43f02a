// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// A program is a kernel that is prepared for analysis.
type program struct {
	k         *Kernel
	sets      map[value.Set]*value.Set // see intern
	latest    *value.Set               // the last result of interned
	pool      *value.Pool
	flow      *ir.Flow
	place     map[*ir.Block]int
	kept      []*ir.Reg // registers whose values matter
	slot      []int32   // index in kept of each register, or -1
	blocks    [][]step  // steps of each block
	busy      []bool    // whether each block has events
	hard      []bool    // whether each block has events other than memory accesses
	ends      []*ir.Instr
	post      *graph.Tree
	loops     []*graph.Loop // innermost loop of each block
	onlyTraps []bool        // whether every path from each block ends in a trap
	// by block: registers that are written before the paths of its branch join
	joinWrites map[int][]int
	wholeWarps map[int]bool // cache: whether a block is executed by whole warps
	// predicates that an active mask contains all lanes; see activeMask
	notWhole   map[*value.Atom]bool
	active     map[*graph.Loop]bool
	spins      map[*graph.Loop]bool // whether each loop only waits
	iterations map[*graph.Loop]int  // number of iterations to analyze
	// for inner loops: additional iteration counts after which the loop may end; see addEndings
	endIterations []bool
	quiet         map[*ir.Func]bool     // cache of isQuiet
	defs          map[*ir.Func]*ir.Func // cache of definition
	asyncRegs     map[*ir.Reg]bool      // registers that asynchronous matrix operations use
	writtenBy     map[int][]int         // registers that each block writes
	skips         map[int]region        // cache of region
	params        map[*ir.Var]bool
	missed        []string        // reasons that are known before the analysis
	round         int             // number of the pass
	global        bool            // accesses to global memory are events; see AnalyzeGlobal
	takenEdges    map[[2]int]bool // control-flow edges that were taken
	scales        scales          // divisors of inputs; see analyzeSets
	// unknowns holds the symbols for results that the analysis cannot compute, by execution.
	unknowns map[execution][]*value.Value
}

// An execution is the execution number n of an instruction on a path.
type execution struct {
	in *ir.Instr
	n  int
}

// A region is the code between a branch and the block end, where the paths of the branch join.
type region struct {
	end  int
	regs []int
	ok   bool // contains nothing relevant
	mild bool // contains only memory accesses, and waits that are repeated at end
	soft bool // as mild, and the branch is not in a loop of the region
	// reads holds the registers that the region reads. apart is set if the results may differ
	// between lanes even if these registers do not.
	reads []*ir.Reg
	apart bool
	// blind is set if the region loads values that their addresses do not determine.
	blind bool
}

// Size returns the number of instructions of a kernel that must be analyzed, or 0 if no
// instruction is relevant.
func Size(f *ir.Func) int {
	n, follows := 0, false
	for _, b := range f.Blocks {
		n += len(b.Instrs)
		for _, in := range b.Instrs {
			if follows || in.Directive() {
				continue
			}
			switch Of(in) {
			case Other:
				follows = makesGeneric(in)
			case Load, Atomic, Exit, Fence:
			case Store:
				follows = in.NamesShared()
			default:
				follows = true
			}
		}
	}
	if !follows {
		return 0
	}
	return n
}

// newProgram prepares a kernel for Analyze.
func newProgram(m *ir.Module, f *ir.Func) *program {
	g := ir.FlowOf(f)
	k := &Kernel{Module: m, Func: f, Flow: g, extent: clusterOf(m, f)}
	k.Cluster = k.extent[0] * k.extent[1] * k.extent[2]
	x, y, z, exact := shape(f)
	if !exact && y == 1 && z == 1 {
		if n := blockSizeBound(f, g); n > 0 {
			x, exact, k.Guessed = n, true, true
		}
	}
	p := &program{k: k, unknowns: make(map[execution][]*value.Value),
		pool: value.NewPool(x, y, z, exact), flow: g, place: make(map[*ir.Block]int, len(f.Blocks)),
		iterations: make(map[*graph.Loop]int), active: make(map[*graph.Loop]bool),
		quiet: make(map[*ir.Func]bool), defs: make(map[*ir.Func]*ir.Func),
		asyncRegs: make(map[*ir.Reg]bool), skips: make(map[int]region),
		writtenBy: make(map[int][]int),
		params:    make(map[*ir.Var]bool)}
	p.takenEdges = make(map[[2]int]bool)
	p.wholeWarps, p.notWhole, p.joinWrites = make(map[int]bool), make(map[*value.Atom]bool),
		make(map[int][]int)
	k.Pool = p.pool
	k.Most = exact && f.Attr(".reqntid") == nil
	f.Number()
	for i, b := range f.Blocks {
		p.place[b] = i
	}
	for _, v := range f.Params {
		p.params[v] = true
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if !in.Directive() {
				kind := Of(in)
				k.Uses[kind] = true
				k.Shares = k.Shares || kind == Store && in.NamesShared()
				k.Generic = k.Generic || makesGeneric(in)
			}
		}
	}
	k.Shares = k.Shares || k.Generic
	p.pruneTraps()
	return p
}

// makesGeneric reports whether an instruction converts a shared address to a generic address.
func makesGeneric(in *ir.Instr) bool {
	return in.Kind() == isa.KindCvta && in.HasMod(isa.ModShared)
}

// number returns the index of a register in the kernel, or -1.
func (p *program) number(r *ir.Reg) int {
	if n := int(r.Number); n < len(p.k.Func.Regs) && p.k.Func.Regs[n] == r {
		return n
	}
	return -1
}

// at returns the index of a register in the states, or -1 if the value of the register does not
// matter.
func (p *program) at(r *ir.Reg) int {
	if n := p.number(r); n >= 0 {
		return int(p.slot[n])
	}
	return -1
}

// prepare computes data that is needed only for kernels that are analyzed.
func (p *program) prepare() {
	f := p.k.Func
	p.post = graph.Postdominators(p.flow.Succs, p.flow.Preds, p.flow.Leaves)
	p.k.Post = p.post
	if p.k.Needs(GroupMultiply, TensorLoad) {
		p.findAsyncRegs()
	}
	kinds := p.findKinds()
	relevant := p.findRelevant(kinds)
	p.slot = make([]int32, len(f.Regs))
	for i, r := range f.Regs {
		p.slot[i] = -1
		if relevant[i] {
			p.slot[i] = int32(len(p.kept))
			p.kept = append(p.kept, r)
		}
	}
	p.steps(kinds, relevant)
	p.findLoops()
}

// afterGridWait reports, for each block, whether it cannot reach a wait for the preceding grid.
// It returns nil if global memory also matters for other reasons.
func (p *program) afterGridWait() []bool {
	if p.global || !p.k.Needs(GridWait) || p.k.Needs(BulkStore, MapFence, MapCopy, MapEdit) {
		return nil
	}
	late := make([]bool, len(p.k.Func.Blocks))
	var work []int
	for i, b := range p.k.Func.Blocks {
		late[i] = !slices.ContainsFunc(b.Instrs, func(in *ir.Instr) bool {
			return !in.Directive() && Of(in) == GridWait
		})
		if !late[i] {
			work = append(work, i)
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, before := range p.flow.Preds[b] {
			if late[before] {
				late[before] = false
				work = append(work, before)
			}
		}
	}
	return late
}

// kind returns the kind of an instruction if the instruction is an event in this kernel, or else
// Other.
func (p *program) kind(in *ir.Instr) Kind {
	k := Of(in)
	switch k {
	case Other:
		if len(p.asyncRegs) > 0 && p.touchesAsync(in) {
			return Touch
		}
	case Load, Store, Atomic:
		where := in.Space().Base()
		switch where {
		case isa.Param, isa.Local, isa.Const:
			k = Other
		case isa.Global:
			if !p.global && !p.k.Needs(BulkStore, GridWait, MapFence, MapCopy, MapEdit) {
				k = Other
			}
		default:
			if where == isa.Generic && !p.global && !p.k.Generic &&
				!p.k.Needs(Copy, BulkLoad, BulkStore, GroupMultiply, TensorMultiply, TensorCopy,
					TensorAlloc, RemoteStore, MapEdit, Answer, Init, ClusterArrive) {
				k = Other
			}
		}
		if k == Other && len(p.asyncRegs) > 0 && p.touchesAsync(in) {
			return Touch
		}
	case Call:
		f := callee(in)
		if f != nil && p.isQuiet(f, 0) {
			return Other
		}
	}
	return k
}

func (p *program) touchesAsync(in *ir.Instr) bool {
	found := false
	in.Registers(func(r *ir.Reg, a isa.Access) { found = found || p.asyncRegs[r] })
	return found
}

// findAsyncRegs finds the registers that wgmma and tcgen05.ld access asynchronously, and the
// copies of results of tcgen05.ld.
func (p *program) findAsyncRegs() {
	defer p.addCopies()
	for _, b := range p.k.Func.Blocks {
		for _, in := range b.Instrs {
			if k := Of(in); k != GroupMultiply && k != TensorLoad {
				continue
			}
			for i := range in.Args {
				if in.Args[i].Kind == ir.Vector {
					in.Args[i].Walk(func(o *ir.Operand) {
						if r := o.Reg; r != nil {
							p.asyncRegs[r] = true
						}
					})
				}
			}
		}
	}
}

// addCopies adds the registers to which moves copy the results of tcgen05.ld.
func (p *program) addCopies() {
	if !p.k.Needs(TensorLoad) {
		return
	}
	for grown := true; grown; {
		grown = false
		for _, b := range p.k.Func.Blocks {
			for _, in := range b.Instrs {
				if in.Directive() || in.Kind() != isa.KindMov || len(in.Args) != 2 {
					continue
				}
				from := false // a mov may pack several registers
				in.Args[1].Walk(func(o *ir.Operand) {
					from = from || o.Reg != nil && p.asyncRegs[o.Reg]
				})
				in.Args[0].Walk(func(o *ir.Operand) {
					if from && o.Reg != nil && !p.asyncRegs[o.Reg] {
						p.asyncRegs[o.Reg], grown = true, true
					}
				})
			}
		}
	}
}

// miss records a reason why some code is not analyzed.
func (p *program) miss(why string) {
	if !slices.Contains(p.k.Missed, why) {
		p.k.Missed = append(p.k.Missed, why)
	}
}

// intern returns the shared copy of a thread set. Events refer to it, so that equal sets are
// stored once.
func (p *program) intern(s value.Set) *value.Set {
	if p.latest != nil && *p.latest == s {
		return p.latest
	}
	known := p.sets[s]
	if known == nil {
		if p.sets == nil {
			p.sets = make(map[value.Set]*value.Set)
		}
		known = new(value.Set)
		*known = s
		p.sets[s] = known
	}
	p.latest = known
	return known
}
