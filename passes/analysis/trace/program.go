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

// A program is a kernel prepared for following.
type program struct {
	k          *Kernel
	sets       map[value.Set]*value.Set // see interned
	latest     *value.Set               // the last result of interned
	pool       *value.Pool
	flow       *ir.Flow
	place      map[*ir.Block]int
	kept       []*ir.Reg // registers whose values matter
	slot       []int32   // index in kept of each register, or -1
	blocks     [][]step  // steps of each block
	busy       []bool    // blocks that have events
	hard       []bool    // blocks that have events other than memory accesses
	ends       []*ir.Instr
	post       *graph.Tree
	loops      []*graph.Loop        // innermost loop of each block
	doomed     []bool               // blocks from which every path ends in a trap
	parted     map[int][]int        // registers written before the paths of a branch join, by block
	ruled      map[int]bool         // whether a block runs in whole warps; cached
	whole      map[*value.Atom]bool // predicates that an active mask holds all lanes; see executing
	active     map[*graph.Loop]bool
	spins      map[*graph.Loop]bool // loops that only wait
	iterations map[*graph.Loop]int  // iterations to follow
	// For inner loops: additional iteration counts to end after; see endings.
	lasts  []bool
	quiet  map[*ir.Func]bool     // device functions without relevant instructions
	defs   map[*ir.Func]*ir.Func // definitions of declared functions
	acc    map[*ir.Reg]bool      // registers that asynchronous matrix operations use
	wrote  map[int][]int         // registers written, by block
	skips  map[int]region
	params map[*ir.Var]bool
	missed []string        // reasons known before following
	round  int             // number of the pass
	global bool            // accesses to global memory are events, see FollowGlobal
	taken  map[[2]int]bool // control-flow edges that were followed
	scales scales          // divisors of inputs; see choices
	// unknowns holds new values for results that the analysis cannot compute, by execution.
	unknowns map[execution][]*value.Value
}

// An execution is the nth execution of an instruction on a path.
type execution struct {
	in *ir.Instr
	n  int
}

// A region is the code between a branch and the point, end, where its paths join.
type region struct {
	end  int
	regs []int
	ok   bool // contains nothing relevant
	mild bool // contains only memory accesses, and waits that are repeated at end
	soft bool // likewise, and the branch is not in a loop of the region
	// reads are registers that are read in the region. If apart is set, lanes may differ regardless
	// of them.
	reads []*ir.Reg
	apart bool
	// blind reports whether the region loads values that its addresses do not determine.
	blind bool
}

// Size returns the number of instructions of a kernel that must be followed, or 0 if none of them
// is relevant.
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
				follows = generic(in)
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

// newProgram prepares a kernel for Follow.
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
		acc: make(map[*ir.Reg]bool), skips: make(map[int]region), wrote: make(map[int][]int),
		params: make(map[*ir.Var]bool)}
	p.taken = make(map[[2]int]bool)
	p.ruled, p.whole, p.parted = make(map[int]bool), make(map[*value.Atom]bool), make(map[int][]int)
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
				k.Generic = k.Generic || generic(in)
			}
		}
	}
	k.Shares = k.Shares || k.Generic
	p.pruneTraps()
	return p
}

// generic reports whether an instruction converts a shared address to a generic one.
func generic(in *ir.Instr) bool {
	return in.Kind() == isa.KindCvta && in.HasMod(isa.ModShared)
}

// number returns the index of a register in the kernel, or -1.
func (p *program) number(r *ir.Reg) int {
	if n := int(r.Number); n < len(p.k.Func.Regs) && p.k.Func.Regs[n] == r {
		return n
	}
	return -1
}

// at returns the index of a register in the states, or -1 if its value does not matter.
func (p *program) at(r *ir.Reg) int {
	if n := p.number(r); n >= 0 {
		return int(p.slot[n])
	}
	return -1
}

// prepare computes data that is needed only for kernels that are followed.
func (p *program) prepare() {
	f := p.k.Func
	p.post = graph.Postdominators(p.flow.Succs, p.flow.Preds, p.flow.Leaves)
	p.k.Post = p.post
	if p.k.Needs(GroupMultiply, TensorLoad) {
		p.accumulators()
	}
	kinds := p.kinds()
	relevant := p.relevant(kinds)
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

// afterGridWait returns the blocks that cannot reach a wait for the preceding grid, if global
// memory matters only before such a wait. It returns nil if global memory matters for other
// reasons.
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

// kind returns the kind of an instruction if it is an event in this kernel, else Other.
func (p *program) kind(in *ir.Instr) Kind {
	k := Of(in)
	switch k {
	case Other:
		if len(p.acc) > 0 && p.touches(in) {
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
		if k == Other && len(p.acc) > 0 && p.touches(in) {
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

func (p *program) touches(in *ir.Instr) bool {
	found := false
	in.Registers(func(r *ir.Reg, a isa.Access) { found = found || p.acc[r] })
	return found
}

// accumulators finds the registers that wgmma and tcgen05.ld access asynchronously, and copies of
// what tcgen05.ld writes.
func (p *program) accumulators() {
	defer p.copies()
	for _, b := range p.k.Func.Blocks {
		for _, in := range b.Instrs {
			if k := Of(in); k != GroupMultiply && k != TensorLoad {
				continue
			}
			for i := range in.Args {
				if in.Args[i].Kind == ir.Vector {
					in.Args[i].Walk(func(o *ir.Operand) {
						if r := o.Reg; r != nil {
							p.acc[r] = true
						}
					})
				}
			}
		}
	}
}

// copies adds the registers that moves copy the results of tcgen05.ld to.
func (p *program) copies() {
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
				in.Args[1].Walk(func(o *ir.Operand) { from = from || o.Reg != nil && p.acc[o.Reg] })
				in.Args[0].Walk(func(o *ir.Operand) {
					if from && o.Reg != nil && !p.acc[o.Reg] {
						p.acc[o.Reg], grown = true, true
					}
				})
			}
		}
	}
}

// miss records a reason why some code is not followed.
func (p *program) miss(why string) {
	if !slices.Contains(p.k.Missed, why) {
		p.k.Missed = append(p.k.Missed, why)
	}
}

// interned returns the one copy of a thread set that events refer to.
func (p *program) interned(s value.Set) *value.Set {
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
