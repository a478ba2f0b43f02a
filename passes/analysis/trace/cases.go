// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// The inputs of a kernel are its parameters, the memory that it reads, and the grid dimensions.
// They are first treated as symbols, and both sides of a branch on them are analyzed. This may
// yield too many paths, or paths on which n and n%4 contradict each other. Constants are then
// substituted for the inputs, one set after another. With constants, branches are decided, loops
// run to their end, and roles that compute the same count in different ways agree.

// sampleSizes lists the values that are substituted for an input, before multiplication by its
// divisor.
var sampleSizes = [...]int64{9, 0, 1, 2, 3, 4, 5, 6, 7, 12, 17}

// maxRounds limits the passes in which constants are substituted for inputs that the previous pass
// found relevant.
const maxRounds = 5

// sharedLimitReason is the message for a kernel that would be analyzed further if it were the
// only one in its module.
const sharedLimitReason = "paths beyond this kernel's share of the work limit of a large module (a larger " +
	"-effort follows them)"

// analyzeCases analyzes the kernel once for each set of constants. It returns false if this adds no
// traces.
func (p *program) analyzeCases(l Limits) bool {
	before := *p.k
	chosen := make(map[*value.Atom]int64) // inputs with constants, and the divisor of each
	var order []*value.Atom
	for last := range maxRounds {
		found := p.findInputs(chosen)
		if len(found) == 0 {
			break
		}
		order = append(order, found...)
		p.k.Traces, p.k.Missed, p.k.Loops, p.k.Tried = nil, slices.Clone(p.missed), false, nil
		p.analyzeSets(l, order, chosen, last == maxRounds-1)
		p.k.Cases = len(order)
	}
	if len(order) == 0 {
		return false
	}
	if len(p.k.Missed) > len(before.Missed) || len(p.k.Traces) == 0 {
		p.k.Traces, p.k.Missed, p.k.Loops, p.k.Cases = before.Traces, before.Missed, before.Loops, 0
		p.k.Tried = nil
		if p.k.Within(1) == 0 {
			p.miss(sharedLimitReason)
		}
		return false
	}
	return true
}

// smallConstants is the limit that replaces larger constants (before scaling) if they make nested
// loops too long.
const smallConstants = 5

// analyzeSets analyzes the kernel with one set of constants after another. With nested loops, a set
// may make a path too long to analyze to its end. From that set on, smaller values are used. A
// set that is still too long is omitted if there are enough others.
//
// If a set shows that further inputs matter, the remaining sets are left to the next pass. The
// last pass leaves none.
func (p *program) analyzeSets(l Limits, order []*value.Atom, scales map[*value.Atom]int64,
	last bool) {
	const enough, tries = 6, 3
	p.scales = scales
	whole, left, below := 0, p.k.Within(l.Steps), int64(math.MaxInt64)
	var dropped []string
	var all []attempt
	for i := range sampleSizes {
		if whole == 0 && i == tries || left <= 0 {
			if p.k.Within(1) == 0 {
				p.miss(sharedLimitReason)
			}
			break // even few iterations are too long
		}
		known := setConstants(order, i, scales, below)
		steps, missed, ok := p.analyzeSet(l, i+1, left, order, known)
		left -= steps
		if smaller := setConstants(order, i, scales, smallConstants); !ok && left > 0 &&
			!maps.Equal(known, smaller) {
			if steps, missed, ok = p.analyzeSet(l, i+1, left, order, smaller); ok {
				known, below = smaller, smallConstants
			}
			left -= steps
		}
		all = append(all, attempt{known, steps, ok})
		if !ok {
			dropped = missed
			continue
		}
		whole++
		if !last && len(p.findInputs(maps.Clone(scales))) > 0 {
			return
		}
	}
	p.k.Tried = p.triedConstants(order, all)
	if whole < enough && dropped != nil {
		p.k.Missed = dropped
		return
	}
	if c := findEndless(all); c != nil {
		p.miss("a loop with too many iterations, where " + p.describeConstants(order, c.known))
	}
	if last || len(p.findInputs(maps.Clone(scales))) == 0 {
		p.analyzeOtherBlocks(l, order, scales)
	}
}

// analyzeSet analyzes the kernel with one set of constants, and returns the number of steps. If it
// exceeds the limits, ok is false, dropped holds the reasons, and the traces are discarded.
func (p *program) analyzeSet(l Limits, pass, left int, order []*value.Atom,
	known map[*value.Atom]int64) (steps int, dropped []string, ok bool) {
	traces, missed, loops := len(p.k.Traces), p.k.Missed, p.k.Loops
	one := l
	one.Steps, one.Work = min(l.Steps/4, left), p.k.rest()
	w := &walk{program: p, limits: one, known: known, pass: pass, tracesBefore: traces}
	w.with = p.describeConstants(order, known)
	for w.rank = range p.k.Ranks {
		w.start()
	}
	p.k.Spent += w.spent()
	if w.limitReached() {
		dropped = p.k.Missed
		p.k.Traces, p.k.Missed, p.k.Loops = p.k.Traces[:traces], missed, loops
		return w.steps, dropped, false
	}
	return w.steps, nil, true
}

// setConstants returns the constants of set i for all inputs. Each constant is less than below
// times the divisor of its input.
func setConstants(order []*value.Atom, i int, scales map[*value.Atom]int64,
	below int64) map[*value.Atom]int64 {
	known := make(map[*value.Atom]int64)
	for j, a := range order {
		known[a] = setConstant(a, i, j, scales[a], below)
	}
	return known
}

// setConstant returns the constant of input j in set i.
func setConstant(a *value.Atom, i, j int, scale, below int64) int64 {
	if name := a.Name; a.Op == value.OpRegister {
		if strings.HasPrefix(name, "%n") || strings.Contains(name, "_n") {
			return int64(1 + i%2)
		}
		return 0
	}
	n := sampleSizes[(i*(2*j+1)+j)%len(sampleSizes)] % below * scale
	switch i { // add a remainder for even and for odd sets
	case 5, 8:
		n += scale / 2
	case 7:
		n += scale - 1
	case 9:
		n += 1 % scale
	}
	return n
}

// findInputs returns the inputs on which branches depend and that have no constant yet. It records
// the divisor of each in chosen.
func (p *program) findInputs(chosen map[*value.Atom]int64) []*value.Atom {
	places := p.addressInputs()
	usable := func(leaf *value.Atom) bool { return !places[leaf] && leaf.Level <= value.Block }
	seen := make(map[*value.Atom]bool)
	steps, scales := make(map[*value.Atom]int64), make(scales)
	for _, t := range p.k.Traces {
		for _, c := range t.Choices {
			a, _ := c.Cond.Condition()
			if a == nil || seen[a] || a.Tid || a.Op == value.OpDone || c.Soft {
				continue
			}
			seen[a] = true
			scales.record(a, 1)
			if leaf, k := comparedInput(a); k > 1 && usable(leaf) {
				steps[leaf] = gcd(steps[leaf], k)
			}
		}
	}
	var order []*value.Atom
	for leaf, scale := range scales {
		if !isInput(leaf) || !usable(leaf) {
			continue
		}
		if _, known := chosen[leaf]; !known {
			order = append(order, leaf)
		}
		chosen[leaf] = max(chosen[leaf], scale)
	}
	for leaf, k := range steps {
		chosen[leaf] = max(chosen[leaf], k)
	}
	slices.SortFunc(order, func(a, b *value.Atom) int { return cmp.Compare(a.ID, b.ID) })
	return order
}

// scales maps operands of conditions to the largest divisor that is applied to each.
type scales map[*value.Atom]int64

// record records an atom and its operands. It visits shared operands only once for the same
// divisor.
func (s scales) record(a *value.Atom, scale int64) {
	if a.Op == value.OpRegister {
		scale = 1
	}
	if was, seen := s[a]; seen && was >= scale {
		return
	}
	s[a] = scale
	switch a.Op {
	case value.OpShr, value.OpSar:
		if k := a.Args[1]; k.Const() && k.K >= 0 && k.K < 16 {
			scale <<= k.K
		}
	case value.OpDiv, value.OpSDiv:
		if k := a.Args[1]; k.Const() && k.K > 0 && k.K < 1<<16 {
			scale *= k.K
		}
	}
	for inner, factor := range operandAtoms(a) {
		s.record(inner, min(scale/gcd(scale, max(factor, -factor)), 1<<16))
	}
}

// isInput reports whether an atom is a kernel input for which a constant can be substituted.
func isInput(a *value.Atom) bool {
	switch a.Op {
	case value.OpParameter:
		return true
	case value.OpLoad:
		// Shared memory may hold different values over time, so it is not an input.
		return a.ReadsGlobal()
	case value.OpRegister:
		return strings.HasPrefix(a.Name, "%ctaid") || strings.HasPrefix(a.Name, "%nctaid") ||
			strings.HasPrefix(a.Name, "%clusterid") || strings.HasPrefix(a.Name, "%nclusterid")
	}
	return false
}

// operandAtoms returns the operands of an atom, each with its factor. It returns none for an input.
func operandAtoms(a *value.Atom) iter.Seq2[*value.Atom, int64] {
	return func(yield func(*value.Atom, int64) bool) {
		if a.Op == value.OpParameter || a.Op == value.OpLoad || a.Op == value.OpRegister {
			return
		}
		for _, arg := range a.Args {
			for _, t := range arg.Terms {
				if !yield(t.Atom, t.Factor) {
					return
				}
			}
		}
	}
}

// comparedInput returns the input and the constant of a comparison of an input with a constant. The
// constant is a multiple of a loop step. The input is nil if a is no such comparison.
func comparedInput(a *value.Atom) (leaf *value.Atom, k int64) {
	if a.Op != value.OpLt || len(a.Args) != 2 {
		return nil, 0
	}
	for i := range 2 {
		if leaf := a.Args[i].Single(); leaf != nil && isInput(leaf) && a.Args[1-i].Const() {
			return leaf, a.Args[1-i].K
		}
	}
	return nil, 0
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// addressInputs returns the inputs that are used as addresses.
func (p *program) addressInputs() map[*value.Atom]bool {
	found := make(map[*value.Atom]bool)
	for _, t := range p.k.Traces {
		for i := range t.Events {
			e := &t.Events[i]
			for n, v := range e.Vals {
				if v == nil || e.In.Args[n].Kind != ir.Address {
					continue
				}
				for _, term := range v.Terms {
					if term.Factor == 1 && v.Width == 64 {
						found[term.Atom] = true
					}
				}
			}
		}
	}
	return found
}

// mayContradict reports whether branches depend on an input both directly and through a non-linear
// operation, or through two non-linear operations. Paths may then contradict each other.
func (p *program) mayContradict() bool {
	direct, inside := make(map[*value.Atom]bool), make(insides)
	seen := make(map[*value.Atom]bool)
	for _, t := range p.k.Traces {
		for _, c := range t.Choices {
			a, _ := c.Cond.Condition()
			if a == nil || seen[a] || a.Tid || a.Op != value.OpLt && a.Op != value.OpEq {
				continue
			}
			seen[a] = true
			for _, arg := range a.Args {
				for _, term := range arg.Terms {
					if term.Atom.Op == value.OpParameter || term.Atom.Op == value.OpLoad {
						direct[term.Atom] = true
					} else if _, twice := inside.record(term.Atom, term.Atom); twice {
						return true
					}
				}
			}
		}
	}
	for a := range inside {
		if direct[a] && isInput(a) {
			return true
		}
	}
	return false
}

// insides maps each atom that occurs in other atoms to the first of the other atoms, and records
// whether it depends on kernel inputs.
type insides map[*value.Atom]inside

type inside struct {
	of    *value.Atom
	given bool
}

// record records the atoms inside atom a, which is an operand of of. found reports whether one of
// them is a kernel input, and twice whether such an input was already recorded inside another
// atom.
func (s insides) record(a, of *value.Atom) (found, twice bool) {
	if was, seen := s[a]; seen {
		return was.given, was.given && was.of != of
	}
	found = isInput(a)
	for inner := range operandAtoms(a) {
		nested, again := s.record(inner, of)
		if again {
			return true, true
		}
		found = found || nested
	}
	s[a] = inside{of, found}
	return found, false
}

// hasIncompatibleTrace reports whether some trace is compatible with no trace of other threads.
// This happens, for example, if roles were analyzed for different iteration counts.
func (p *program) hasIncompatibleTrace() bool {
	if len(p.k.Traces) < 2 || !p.k.Needs(Wait, BarrierSync) {
		return false
	}
	_, whole := p.k.Scenes(0)
	return !whole
}

// start analyzes all threads from the first instruction.
func (w *walk) start() {
	w.forks, w.evaluations = make(map[*ir.Instr]int), make(map[evaluationKey]*value.Value)
	w.round++
	facts := newFacts(w.pool, w.pass)
	facts.With = w.with
	for a, n := range w.known {
		// the first block also has work
		facts.empty = facts.empty || n == 0 && a.Op != value.OpRegister
		if n <= w.scales[a] && a.Op != value.OpRegister {
			facts.few = w.with
		}
	}
	w.work = []*state{
		{facts: facts, regs: newTable[*value.Value](len(w.kept)), threads: w.pool.All()}}
	w.run()
}

// substitute returns the constant of an input, or v if v is no input with a constant.
func (w *walk) substitute(v *value.Value) *value.Value {
	if a := v.Single(); a != nil {
		if n, ok := w.known[a]; ok {
			return w.pool.Const(v.Width, n)
		}
	}
	return v
}
