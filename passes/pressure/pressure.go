// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package pressure says how many registers a kernel will need: what is in use at each point once copies,
// constants and dead code are gone, how the assembler will order it, and the number that `ptxas -v` would
// report. The simulation is explained in docs/explanation/register-prediction.md; its result is corrected by a model that was
// fitted to kernels whose counts are known. It estimates and proves nothing, and leaves the module as it is.
package pressure

import (
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Kernel is what a kernel is expected to need.
type Kernel struct {
	Func      *ir.Func
	Target    isa.Target
	Registers int  // for each thread, as ptxas -v counts them
	Least     int  // words in use at once at least, however each block is ordered
	Wanted    int  // what Registers would be if no directive or machine set a limit
	Limit     int  // the most that directives allow, 0 where they say nothing
	Threads   int  // of a block, where directives say it
	Spills    bool // more may be wanted than there is: likely, not certain
	Peak      Point
	Occupancy Occupancy
	Shared    int64 // bytes of shared memory that are declared with a size
	Budgets   Budgets
}

// A Point is where in the text most registers are in use.
type Point struct {
	Instr *ir.Instr // nil in a kernel that needs none; of the kernel or what it calls
	Words int       // 32-bit registers in use there, those of the instruction's own among them
	Live  []Live    // in the order of their declarations, those of functions that are called behind
}

// A Live is a register of the text that is in use, and in how many 32-bit registers.
type Live struct {
	Reg   *ir.Reg
	Words int
}

// Of is what each kernel of a module is expected to need, in the order of the text.
func Of(m *ir.Module) []Kernel {
	r := newMeasurer(m)
	var list []Kernel
	for _, f := range m.Funcs() {
		if f.Kernel {
			list = append(list, r.kernel(f))
		}
	}
	return list
}

func (r *measurer) kernel(f *ir.Func) Kernel {
	x := r.measure(f)
	k := Kernel{Func: f, Target: r.module.Target, Limit: x.limit, Threads: x.threads}
	features := x.features()
	m := Calibrated()
	k.Wanted = wanted(m, features)
	k.Registers = Predict(m, features)
	k.Budgets = budgets(f, k.Threads, x)
	most := mostRegisters
	if k.Limit > 0 {
		most = k.Limit
	}
	k.Least = x.lean
	k.Spills = !k.Budgets.pinned() && k.Least+1 > most // one more is the stack's address
	k.Peak = x.graph.point
	if of := r.inliner.from[k.Peak.Instr]; of != nil {
		k.Peak.Instr = of
	}
	k.Shared = r.shared(f)
	k.Occupancy = machineOf(x.number).occupancy(k.Registers, k.Threads, k.Shared)
	return k
}

// A Measured is a kernel with the features that a model is asked about, in the order of Names.
type Measured struct {
	Func     *ir.Func
	Features []float64
}

// Measure is what there is to know of each kernel of a module for a model to be fitted.
func Measure(m *ir.Module) []Measured {
	r := newMeasurer(m)
	var list []Measured
	for _, f := range m.Funcs() {
		if f.Kernel {
			list = append(list, Measured{f, r.measure(f).features()})
		}
	}
	return list
}

// Bases are two counts that the simulation alone makes of a kernel: by the words in use when blocks are ordered for speed, as long as that lets
// all threads run, with what the assembler needs besides; and by the registers that words take as seats. They err in different places, so trees
// are fitted to what each of them leaves, and all are asked.
func Bases(features []float64) [2]float64 {
	most := float64(mostRegisters)
	if limit := features[featureLimit]; limit > 0 {
		most = limit
	}
	return [2]float64{
		max(features[featureLean], features[featureEarlyFull]) + margin - setAside,
		min(most, max(leastSeats, 2*math.Ceil((features[featureRested]+setAside)/2))),
	}
}

// leastSeats is about the least count of a kernel that uses registers at all.
const leastSeats = 8

// Base is the middle between the Bases, on the scale of factors.
func Base(features []float64) float64 {
	b := Bases(features)
	return math.Sqrt(b[0] * b[1])
}

// wanted is a count without limits.
func wanted(m *Model, features []float64) int {
	if features[featureOps] <= 1 || features[featureLean] == 0 && features[featureCalls] == 0 {
		return leastCount // nothing is ever in a register
	}
	return max(leastCount, even(Base(features)*m.Factor(features)))
}

// even is the nearest even number: nine of ten counts are even, since values of 64 bits lie in pairs of
// registers and two are set aside.
func even(x float64) int { return 2 * int(math.Round(x/2)) }

// Predict is the count for a kernel with these features.
func Predict(m *Model, features []float64) int {
	most := mostRegisters
	if n := int(features[featureLimit]); n > 0 {
		most = n
		if features[featureKinds+kindBudget] > 0 {
			// Who changes the count on the way starts with all that the directives allow.
			return most
		}
	}
	return min(wanted(m, features), most)
}

// pointAt is a peak in the terms of the text.
func (g *graph) pointAt(out [][]word, p peak) Point {
	if p.count == 0 {
		return Point{}
	}
	at := p.at
	for g.ops[p.block][at].upper && at > 0 {
		at-- // to the load in the text
	}
	point := Point{Instr: g.ops[p.block][at].in, Words: p.count}
	count := make([]int, len(g.words.f.Regs))
	for _, w := range g.livePlace(out, p) {
		count[g.words.owner[w]]++
	}
	for i, n := range count {
		if n > 0 {
			point.Live = append(point.Live, Live{g.words.f.Regs[i], n})
		}
	}
	return point
}

// shared is the bytes of shared memory with a size that a kernel and the module declare.
func (r *measurer) shared(f *ir.Func) int64 {
	var sum int64
	for _, v := range f.Vars {
		if v.Space == isa.Shared {
			sum += v.Size()
		}
	}
	for _, d := range r.module.Decls {
		if v, ok := d.(*ir.Var); ok && v.Space == isa.Shared && v.Linkage != ".extern" && names(f, v) {
			sum += v.Size()
		}
	}
	return sum
}

// names reports whether a function names a variable.
func names(f *ir.Func, v *ir.Var) bool {
	found := false
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				in.Args[i].Walk(func(o *ir.Operand) { found = found || o.Var() == v })
			}
		}
	}
	return found
}
