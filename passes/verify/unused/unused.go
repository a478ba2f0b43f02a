// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package unused reports results and accumulators that nothing reads.
package unused

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for results that nothing reads.
func Analyzer() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "unused",
		Doc: `Unused reports floating-point results that nothing reads, and integers computed from a variable
that is never set: operations return a new value and do not change their operands. Other integers
are mostly indices, and the builder itself computes some that stay unused.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Late:  true,
		Run:   run,
	}
}

// Accumulators returns the analyzer for accumulators that nothing reads.
func Accumulators() *annotated.Analyzer {
	return &annotated.Analyzer{
		Name: "unused-accumulators",
		Doc: `It reports accumulators that are never read in kernels that read other accumulators. Usually
the kernel reads the wrong accumulator.`,
		Rules: []*diag.Rule{&annotated.Protocol},
		Run:   runAccumulators,
	}
}

func run(p *annotated.Pass) {
	dropped, unread, unset := 0, 0, 0
	for _, r := range p.Func.Regs {
		switch number := !floating(r.Type); {
		case r.Uses == 1 && number:
			unread++
		case r.Uses == 1:
			dropped++
		case number && r.Varies && !r.Set:
			unset++
		}
	}
	if dropped > 0 {
		reportDropped(p, dropped)
	}
	if unread > 0 && unset > 0 && !p.Notes.Labels {
		reportUnset(p)
	}
}

// floating reports whether an unused result of a type is suspicious.
func floating(t isa.Type) bool { return t.Class() == isa.Float || t.Class() == isa.Half }

// reportDropped reports up to n results that nothing reads.
func reportDropped(p *annotated.Pass, n int) {
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if len(in.Args) < 2 || in.Args[0].Kind != ir.Register || in.Args[0].Reg.Uses != 1 ||
				!floating(in.Args[0].Reg.Type) {
				continue
			}
			if arithmetic(in) {
				p.Warn(in.Pos, &annotated.Protocol,
					"result of %s is unused: operations return a new value and do not modify their operands; keep it with Set or Store",
					in.Head())
			}
			if n--; n == 0 {
				return
			}
		}
	}
}

// arithmetic reports whether the author wrote an instruction for its floating-point result.
func arithmetic(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadAdd, isa.HeadSub, isa.HeadMul, isa.HeadFma, isa.HeadDiv, isa.HeadMin, isa.HeadMax,
		isa.HeadNeg, isa.HeadAbs,
		isa.HeadEx2, isa.HeadLg2, isa.HeadRcp, isa.HeadRsqrt, isa.HeadSqrt, isa.HeadSin,
		isa.HeadCos, isa.HeadTanh:
		return true
	}
	return false
}

// reportUnset reports unused integers computed from a variable that is never set: the author
// probably meant to assign them to the variable.
func reportUnset(p *annotated.Pass) {
	var unread []*ir.Instr
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if counts(in) && in.Args[0].Reg.Uses == 1 {
				unread = append(unread, in)
			}
		}
	}
	if len(unread) == 0 {
		return
	}
	once := definitions(p.Func)
	for _, in := range unread {
		if fromUnset(in, once) {
			p.Warn(in.Pos, &annotated.Protocol,
				"result of %s on a variable that is never assigned is unused: operations return a new value, so assign the result with Set",
				in.Head())
		}
	}
}

// definitions returns the only instruction that writes each register, or nil if there are several.
func definitions(f *ir.Func) map[*ir.Reg]*ir.Instr {
	once := make(map[*ir.Reg]*ir.Instr)
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			in.Registers(func(r *ir.Reg, a isa.Access) {
				switch _, met := once[r]; {
				case a == isa.Read:
				case met:
					once[r] = nil
				default:
					once[r] = in
				}
			})
		}
	}
	return once
}

// fromUnset reports whether the result of an instruction is computed from a variable that is never
// set, through at most three other instructions.
func fromUnset(in *ir.Instr, once map[*ir.Reg]*ir.Instr) bool {
	for range 4 {
		from := in.Args[1].Reg
		def := once[from]
		switch {
		case from == nil || def == nil:
			return false
		case from.Varies && !from.Set && def.Kind() == isa.KindMov:
			return true
		case from.Varies || from.Uses != 2 || !counts(def):
			return false
		}
		in = def
	}
	return false
}

// counts reports whether an instruction computes an integer from other integers.
func counts(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadAdd, isa.HeadSub, isa.HeadMul, isa.HeadMad, isa.HeadAnd, isa.HeadOr, isa.HeadXor,
		isa.HeadShl, isa.HeadShr, isa.HeadMin, isa.HeadMax:
		return len(in.Args) > 2 && in.Args[0].Kind == ir.Register &&
			!floating(in.Args[0].Reg.Type) && in.Args[0].Reg.Type != isa.Predicate &&
			in.Args[1].Kind == ir.Register
	}
	return false
}

func runAccumulators(p *annotated.Pass) {
	var left []ir.Pos
	read := false
	for i := range p.Notes.Accumulators {
		a := &p.Notes.Accumulators[i]
		if a.Owned == 0 {
			continue
		}
		if own := a.Read(); own {
			read = true
		} else {
			left = append(left, a.Pos)
		}
	}
	for _, pos := range left {
		if read {
			p.Warn(pos, &annotated.Protocol,
				"accumulator is never read; either the kernel reads the wrong accumulator, or the MMA is unnecessary")
		}
	}
}
