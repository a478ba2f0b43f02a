// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package unused reports results and accumulators that are never read.
package unused

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Analyzer returns the analyzer for results that are never read.
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

// Accumulators returns the analyzer for accumulators that are never read.
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
		switch number := !isFloat(r.Type); {
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

// isFloat reports whether t is a floating-point type. An unused result of such a type is
// suspicious.
func isFloat(t isa.Type) bool { return t.Class() == isa.Float || t.Class() == isa.Half }

// reportDropped reports at most n results that are never read.
func reportDropped(p *annotated.Pass, n int) {
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if len(in.Args) < 2 || in.Args[0].Kind != ir.Register || in.Args[0].Reg.Uses != 1 ||
				!isFloat(in.Args[0].Reg.Type) {
				continue
			}
			if isFloatArithmetic(in) {
				p.Warn(in.Pos, &annotated.Protocol,
					"result of %s is unused: operations return a new value and do not modify their operands; keep it with Set or Store",
					in.Head()).Repair.Kind = annotated.AssignResult
			}
			if n--; n == 0 {
				return
			}
		}
	}
}

// isFloatArithmetic reports whether an instruction is written for its floating-point result.
func isFloatArithmetic(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadAdd, isa.HeadSub, isa.HeadMul, isa.HeadFma, isa.HeadDiv, isa.HeadMin, isa.HeadMax,
		isa.HeadNeg, isa.HeadAbs,
		isa.HeadEx2, isa.HeadLg2, isa.HeadRcp, isa.HeadRsqrt, isa.HeadSqrt, isa.HeadSin,
		isa.HeadCos, isa.HeadTanh:
		return true
	}
	return false
}

// reportUnset reports unused integers that are computed from a variable that is never assigned.
// They were probably meant to be assigned to the variable.
func reportUnset(p *annotated.Pass) {
	var unread []*ir.Instr
	for _, b := range p.Func.Blocks {
		for _, in := range b.Instrs {
			if isIntegerArithmetic(in) && in.Args[0].Reg.Uses == 1 {
				unread = append(unread, in)
			}
		}
	}
	if len(unread) == 0 {
		return
	}
	once := definitions(p.Func)
	for _, in := range unread {
		if dependsOnUnset(in, once) {
			p.Warn(in.Pos, &annotated.Protocol,
				"result of %s on a variable that is never assigned is unused: operations return a new value, so assign the result with Set",
				in.Head()).Repair.Kind = annotated.AssignResult
		}
	}
}

// definitions returns the instruction that writes each register, or nil for a register with
// several writes.
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

// dependsOnUnset reports whether the result of an instruction is computed from a variable that is
// never assigned, through at most three other instructions.
func dependsOnUnset(in *ir.Instr, once map[*ir.Reg]*ir.Instr) bool {
	for range 4 {
		from := in.Args[1].Reg
		def := once[from]
		switch {
		case from == nil || def == nil:
			return false
		case from.Varies && !from.Set && def.Kind() == isa.KindMov:
			return true
		case from.Varies || from.Uses != 2 || !isIntegerArithmetic(def):
			return false
		}
		in = def
	}
	return false
}

// isIntegerArithmetic reports whether an instruction computes an integer from other integers.
func isIntegerArithmetic(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadAdd, isa.HeadSub, isa.HeadMul, isa.HeadMad, isa.HeadAnd, isa.HeadOr, isa.HeadXor,
		isa.HeadShl, isa.HeadShr, isa.HeadMin, isa.HeadMax:
		return len(in.Args) > 2 && in.Args[0].Kind == ir.Register &&
			!isFloat(in.Args[0].Reg.Type) && in.Args[0].Reg.Type != isa.Predicate &&
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
