// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package globalsync

import (
	"maps"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/reach"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// electors finds the predicates that select which threads of a block execute an instruction:
// comparisons of a thread, lane or warp index with one value, and elect.sync. A predicate is
// identified by the instruction that computes it, since registers are reused.
type electors struct {
	flow   *ir.Flow
	level  *uniform.Levels // see levels
	writes *reach.Writes
	every  map[*ir.Reg][]*ir.Instr
	asked  int // see onlyWrite
	left   int // instructions and branches that may still be visited
	picked map[*ir.Instr]selection
	blocks map[int]picks // results of block
	bases  map[*ir.Reg]base
	used   map[*ir.Reg]blockUse // results of uses
}

// picks is a set of predicates that all select the same threads.
type picks map[*ir.Instr]bool

// A selection is the kind of thread that a predicate selects.
type selection uint8

const (
	unknown selection = iota // not computed yet
	many                     // any threads
	one                      // threads of a block by their index
	lane                     // lanes of a warp
)

// most limits the instructions and branches that are visited for all flags of a kernel.
const most = 2_000_000

func newElectors(f *ir.Flow) *electors {
	return &electors{left: most, flow: f, writes: reach.Of(f), every: make(map[*ir.Reg][]*ir.Instr),
		picked: make(map[*ir.Instr]selection), blocks: make(map[int]picks),
		bases: make(map[*ir.Reg]base),
		used:  make(map[*ir.Reg]blockUse)}
}

// levels returns the uniformity of each register.
func (w *electors) levels() *uniform.Levels {
	if w.level == nil {
		w.level = uniform.Of(w.flow)
	}
	return w.level
}

// mostAsked limits the reaching-definition queries for registers that are written more than once,
// which are slow.
const mostAsked = 2000

// all returns every write of a register.
func (w *electors) all(r *ir.Reg) []*ir.Instr {
	list, met := w.every[r]
	if !met {
		list = w.writes.All(r)
		w.every[r] = list
	}
	return list
}

// onlyWrite returns the only write of a register that reaches an instruction, or nil if there are
// several.
func (w *electors) onlyWrite(at *ir.Instr, r *ir.Reg) *ir.Instr {
	if r == nil {
		return nil
	}
	list := w.all(r)
	if len(list) > 1 && w.asked < mostAsked {
		w.asked++
		list, _ = w.writes.At(at, r)
	}
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

// picks returns the threads that the predicate computed by an instruction selects.
func (w *electors) picks(in *ir.Instr) selection {
	if in == nil {
		return many
	}
	if p := w.picked[in]; p != unknown {
		return p
	}
	w.picked[in] = many // the assumption if the instruction depends on itself
	p := many
	switch in.Kind() {
	case isa.KindElect:
		p = lane
	case isa.KindSetp:
		first := in.Args[0].Reg
		if in.HasMod(isa.ModEQ, isa.ModNE) && first != nil &&
			w.levels().Value(first) < uniform.Block && !w.compares(in) {
			p = one
			if w.lanes(in) {
				p = lane
			}
		}
	case isa.KindAnd, isa.KindOr, isa.KindXor, isa.KindNot, isa.KindSelp:
		for i := range in.Args[1:] {
			if from := in.Args[i+1].Reg; from != nil && from.Type.Class() == isa.Pred {
				p = max(p, w.picks(w.onlyWrite(in, from)))
			}
		}
	}
	w.picked[in] = p
	return p
}

// compares reports whether a comparison is certainly of a value from memory.
func (w *electors) compares(in *ir.Instr) bool {
	for i := range in.Args[1:] {
		if from := in.Args[i+1].Reg; from != nil && w.loaded(in, from, mostSteps) {
			return true
		}
	}
	return false
}

// loaded reports whether the value of a register is certainly computed from memory, such as the
// result of an atomic operation. It selects threads by what they found, and not by their index.
func (w *electors) loaded(at *ir.Instr, r *ir.Reg, steps int) bool {
	in := w.onlyWrite(at, r)
	if in == nil || steps == 0 {
		return false
	}
	switch in.Kind().Head() {
	case isa.HeadAtom:
		return true
	case isa.HeadLd:
		return !in.HasMod(isa.ModParam)
	case isa.HeadAnd, isa.HeadAdd, isa.HeadSub, isa.HeadMov:
		for i := range in.Args[1:] {
			if from := in.Args[i+1].Reg; from != nil && w.loaded(in, from, steps-1) {
				return true
			}
		}
	}
	return false
}

// lanes reports whether a comparison tests a lane index.
func (w *electors) lanes(in *ir.Instr) bool {
	for i := range in.Args {
		o := &in.Args[i]
		if o.Kind == ir.Special && o.Text() == "%laneid" {
			return true
		}
		from := w.onlyWrite(in, o.Reg)
		if i == 0 || from == nil {
			continue
		}
		switch from.Kind() {
		case isa.KindMov:
			if o := &from.Args[1]; o.Kind == ir.Special && o.Text() == "%laneid" {
				return true
			}
		case isa.KindAnd, isa.KindRem:
			for j := range from.Args[1:] {
				if o := &from.Args[j+1]; o.Kind == ir.Int &&
					o.Value == map[isa.Kind]int64{isa.KindAnd: 31, isa.KindRem: 32}[from.Kind()] {
					return true
				}
			}
		// an elected lane's predicate as an integer, which inline assembly returns
		case isa.KindSelp:
			return len(from.Args) == 4 && w.picks(w.onlyWrite(from, from.Args[3].Reg)) == lane
		}
	}
	return false
}

// at returns the predicates that select the threads which execute an instruction.
func (w *electors) at(m mark) picks {
	set := w.block(m.block)
	in := w.flow.Func.Blocks[m.block].Instrs[m.at]
	by := w.onlyWrite(in, in.Guard.Reg)
	if set[by] || w.picks(by) < one {
		return set
	}
	own := maps.Clone(set)
	own[by] = true
	return own
}

// block returns the predicates that select the threads which execute a block.
func (w *electors) block(b int) picks {
	if set, met := w.blocks[b]; met {
		return set
	}
	set := make(picks)
	seen := map[int]bool{b: true}
	for work := []int{b}; len(work) > 0 && w.left >= 0; {
		w.left--
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for _, from := range w.levels().Rests(at) {
			if seen[from] {
				continue
			}
			seen[from] = true
			work = append(work, from)
			if in := w.flow.Func.Blocks[from].Last(); in != nil {
				if by := w.onlyWrite(in, in.Guard.Reg); w.picks(by) >= one {
					set[by] = true
				}
			}
		}
	}
	w.blocks[b] = set
	return set
}

// wider reports whether one instruction is executed by more threads than another: by all threads
// that execute the other, and by threads that one of its predicates excludes.
func wider(all, some picks) bool {
	for r := range all {
		if !some[r] {
			return false
		}
	}
	return len(some) > len(all)
}

// asks reports whether an access may only poll. An atomic operation whose operand was loaded before
// is not a poll: it changes the value, and is repeated until it succeeds.
func (w *electors) asks(in *ir.Instr) bool {
	if trace.Of(in) != trace.Atomic {
		return true
	}
	for i := 2; i < len(in.Args); i++ {
		o := &in.Args[i]
		if from := w.onlyWrite(in, o.Reg); from != nil && from.Kind() == isa.KindMov {
			o = &from.Args[1]
		}
		if o.Kind != ir.Int {
			return false
		}
	}
	return true
}

// A base is the parameter from which an address is derived. It is empty if there is none, or more
// than one.
type base struct {
	v  *ir.Var
	at int64
}

// array returns the base of the address of an access, or of the source of a copy.
func (w *electors) array(in *ir.Instr) base {
	n := 0
	if trace.Of(in) == trace.BulkLoad {
		n = 1
	}
	if at := verify.Address(in, n); at >= 0 {
		if o := &in.Args[at]; o.Kind == ir.Address && len(o.Args()) == 1 {
			if r := o.Args()[0].Reg; r != nil {
				return w.base(r)
			}
		}
	}
	return base{}
}

// base returns the parameter that an address in a register is derived from.
func (w *electors) base(r *ir.Reg) base {
	if b, met := w.bases[r]; met {
		return b
	}
	w.bases[r] = base{} // assumed for a register that depends on itself in a loop
	var found base
	for _, in := range w.all(r) {
		b := w.origin(in)
		if b.v == nil {
			continue
		}
		if found.v != nil && b != found {
			return base{}
		}
		found = b
	}
	w.bases[r] = found
	return found
}

// origin returns the base of the result of an instruction.
func (w *electors) origin(in *ir.Instr) (found base) {
	switch in.Kind().Head() {
	case isa.HeadLd:
		if o := &in.Args[1]; in.HasMod(isa.ModParam) && o.Kind == ir.Address &&
			len(o.Args()) == 1 && o.Args()[0].Var() != nil {
			return base{o.Args()[0].Var(), o.Args()[0].Value}
		}
	case isa.HeadMov, isa.HeadCvta, isa.HeadAdd, isa.HeadSub, isa.HeadMad, isa.HeadSelp:
		for i := range in.Args[1:] {
			from := in.Args[i+1].Reg
			if from == nil || from.Type.Bits() != 64 {
				continue
			}
			b := w.base(from)
			if b.v != nil && found.v != nil && b != found {
				return base{}
			}
			if b.v != nil {
				found = b
			}
		}
	}
	return found
}

// isPrivate reports whether an instruction certainly accesses a shared or local variable through a
// generic address. Other blocks cannot observe such an access.
func (w *electors) isPrivate(in *ir.Instr) bool {
	at := verify.Address(in, 0)
	if at < 0 {
		return false
	}
	o := &in.Args[at]
	return o.Kind == ir.Address && len(o.Args()) == 1 && o.Args()[0].Reg != nil &&
		w.named(o.Args()[0].Reg, mostSteps)
}

// mostSteps limits the instructions between a variable and an address derived from it.
const mostSteps = 8

// named reports whether every write of a register is an address in a shared or local variable. The
// result of mapa does not count, because it is an address in another block.
func (w *electors) named(r *ir.Reg, steps int) bool {
	list := w.all(r)
	if w.left--; len(list) == 0 || steps == 0 || w.left < 0 {
		return false
	}
	for _, in := range list {
		switch in.Kind().Head() {
		case isa.HeadMov, isa.HeadCvt, isa.HeadCvta, isa.HeadAdd:
		default:
			return false
		}
		found := false
		for i := range in.Args[1:] {
			switch o := &in.Args[i+1]; {
			case o.Var() != nil:
				found = found || o.Var().Space == isa.Shared || o.Var().Space == isa.Local
			case o.Reg == r: // an increment in a loop
				found = true
			case o.Reg != nil:
				found = found || w.named(o.Reg, steps-1)
			}
		}
		if !found {
			return false
		}
	}
	return true
}
