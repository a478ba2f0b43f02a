// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package pressure predicts how many registers a kernel needs: the live registers at each
// point after removing copies, constants and dead code, how the assembler will schedule the
// code, and the number that `ptxas -v` would report. A model fitted to kernels with known
// counts corrects the simulated count. docs/explanation/register-prediction.md explains both.
// The prediction is an estimate and leaves the module unchanged.
package pressure

import (
	"math"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Kernel is the prediction for one kernel.
type Kernel struct {
	Func      *ir.Func
	Target    isa.Target
	Registers int // per thread, as ptxas -v reports them: an estimate
	// Low and High bound the true count in 90 % of the kernels of producers (compilers) that the
	// estimate was not fitted to.
	Low, High int
	// Exact reports whether Registers and Spills come from ptxas.
	Exact     bool
	Least     int  // minimum number of live words, for any order within the blocks
	Wanted    int  // Registers without the limits of directives or the target
	Limit     int  // the maximum that directives allow, 0 if they do not say
	Threads   int  // threads per block, if directives give it
	Spills    bool // the kernel may need more registers than allowed: likely, not certain
	Peak      Point
	Occupancy Occupancy
	Shared    int64 // declared shared memory in bytes
	Budgets   Budgets
}

// A Point is the instruction at which the most registers are live.
type Point struct {
	// in the kernel or a function it calls, or nil if the kernel needs no registers
	Instr *ir.Instr
	Words int    // live 32-bit registers, including the instruction's own
	Live  []Live // in the order of their declarations, those of called functions last
}

// A Live is a live virtual register, and how many 32-bit registers it takes.
type Live struct {
	Reg   *ir.Reg
	Words int
}

// Of returns the prediction for each kernel of a module, in the order of the text.
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
	k.Wanted = unlimitedCount(m, features)
	k.Registers = Predict(m, features)
	k.Low, k.High = Between(m, features)
	k.Budgets = budgets(f, k.Threads, x)
	most := maxRegisters
	if k.Limit > 0 {
		most = k.Limit
	}
	k.Least = x.lean
	k.Spills = !k.Budgets.usesSetmaxnreg() && k.Least+1 > most // one more for the stack pointer
	k.Peak = x.graph.point
	if of := r.inliner.from[k.Peak.Instr]; of != nil {
		k.Peak.Instr = of
	}
	k.Shared = r.shared(f)
	k.Occupancy = machineOf(x.number).occupancy(k.Registers, k.Threads, k.Shared)
	return k
}

// Counted replaces the estimate by the register count and the spills that ptxas reports.
func (k *Kernel) Counted(registers int, spills bool) {
	k.Registers, k.Low, k.High, k.Exact, k.Spills = registers, registers, registers, true, spills
	k.Occupancy = machineOf(k.Target.Info().Number).occupancy(registers, k.Threads, k.Shared)
}

// A Measured is a kernel with its features for a model, in the order of Names.
type Measured struct {
	Func     *ir.Func
	Features []float64
}

// Measure returns the features of each kernel of a module, for fitting a model.
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

// Bases returns two register counts from the simulation. The first counts live words in blocks
// scheduled for speed at full occupancy, plus what ptxas needs. The second counts registers after
// they are assigned to words. Their errors differ, so trees are fitted to both.
func Bases(features []float64) [2]float64 {
	most := float64(maxRegisters)
	if limit := features[featureLimit]; limit > 0 {
		most = limit
	}
	return [2]float64{
		max(features[featureLean], features[featureEarlyFull]) + margin - setAside,
		min(most, max(leastRegisters, 2*math.Ceil((features[featureRested]+setAside)/2))),
	}
}

// leastRegisters is the approximate minimum count of a kernel that uses registers.
const leastRegisters = 8

// Base returns the geometric mean of the two Bases.
func Base(features []float64) float64 {
	b := Bases(features)
	return math.Sqrt(b[0] * b[1])
}

// unlimitedCount returns the predicted count without the limits of directives.
func unlimitedCount(m *Model, features []float64) int {
	if features[featureOps] <= 1 || features[featureLean] == 0 && features[featureCalls] == 0 {
		return leastCount // the kernel uses no registers
	}
	return max(leastCount, roundToEven(Base(features)*m.Factor(features)))
}

// roundToEven rounds to the nearest even number. 90 % of register counts are even, because 64-bit
// values occupy aligned register pairs and ptxas reserves two registers.
func roundToEven(x float64) int { return 2 * int(math.Round(x/2)) }

// Predict returns the predicted register count for a kernel with these features.
func Predict(m *Model, features []float64) int {
	most := maxRegisters
	if n := int(features[featureLimit]); n > 0 {
		most = n
		if features[featureKinds+kindBudget] > 0 {
			// A kernel with setmaxnreg starts with all registers that the directives allow.
			return most
		}
	}
	return min(unlimitedCount(m, features), most)
}

// Between returns the range that contains 90 % of true counts for kernels with these features.
func Between(m *Model, features []float64) (low, high int) {
	n, most := Predict(m, features), maxRegisters
	if limit := int(features[featureLimit]); limit > 0 {
		most = limit
		if features[featureKinds+kindBudget] > 0 {
			return n, n
		}
	}
	low, high = m.Between(unlimitedCount(m, features))
	return min(low, most), min(high, most)
}

// pointAt returns a peak as a Point: the instruction and registers of the text.
func (g *graph) pointAt(out [][]word, p peak) Point {
	if p.count == 0 {
		return Point{}
	}
	at := p.at
	for g.ops[p.block][at].upper && at > 0 {
		at-- // the load that the text has
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

// shared returns the bytes of shared memory of known size that a kernel and the module declare.
func (r *measurer) shared(f *ir.Func) int64 {
	var sum int64
	for _, v := range f.Vars {
		if v.Space == isa.Shared {
			sum += v.Size()
		}
	}
	for _, d := range r.module.Decls {
		if v, ok := d.(*ir.Var); ok && v.Space == isa.Shared && v.Linkage != ".extern" &&
			names(f, v) {
			sum += v.Size()
		}
	}
	return sum
}

// names reports whether an operand of function f names variable v.
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
