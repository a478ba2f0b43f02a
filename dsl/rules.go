// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/passes/verify/annotated"
)

// Rules returns the rules of findings that the builder reports about its own calls. Rules about
// the form of an instruction belong to package isa.
func Rules() diag.Rules {
	list := annotated.Rules()
	for _, r := range allRules {
		list = append(list, *r)
	}
	return list
}

var allRules = []*diag.Rule{
	&ruleTarget, &ruleKernel, &ruleScope, &ruleForeign, &ruleConstant, &ruleLoop, &ruleOperand,
	&ruleLabel, &ruleSize, &ruleFunction, &ruleLacks, &ruleAuthor,
}

// Rules that the analyzers of annotations report too.
var (
	ruleValue    = annotated.Value
	ruleWay      = annotated.Flow
	ruleMemory   = annotated.Memory
	ruleShape    = annotated.Shape
	ruleProtocol = annotated.Protocol
	ruleRole     = annotated.Role
)

var (
	ruleTarget = diag.Rule{
		ID: "D101", Layer: "build", Title: "unknown target or PTX version",
		What:  "The target and the PTX version of a module must be known to the instruction set.",
		Why:   "Instructions are checked for a target, so nothing can be checked without one.",
		Wrong: `dsl.New("m", "sm_9a")`, Right: `dsl.New("m", "sm_90a")`,
		Fix: "Name a target of `ptxdsl isa -stats`.",
	}
	ruleLacks = diag.Rule{
		ID: "D102", Layer: "build", Title: "not available on the target",
		What:  "Tiles, pipelines and memory spaces must be supported by the target.",
		Why:   "The assembler would reject the instructions.",
		Wrong: `k.TMEM("acc", 128, 256, 2) // on sm_90a`,
		Right: `acc := k.Accumulator(64, 256, isa.F32)`,
		Fix:   "Use the alternative that the message names, or build the module for another target.",
	}
	ruleKernel = diag.Rule{
		ID: "D103", Layer: "build", Title: "invalid kernel declaration",
		What:  "Names must be identifiers and unique; blocks, clusters and register limits must be within what the hardware can launch.",
		Why:   "The launch would fail, or the assembler would reject the directive.",
		Wrong: `m.Kernel("k", dsl.Threads(2048))`, Right: `m.Kernel("k", dsl.Threads(1024))`,
		Fix: "Stay within the limits that the message gives.",
	}
	ruleScope = diag.Rule{
		ID: "D202", Layer: "build", Title: "value used where it may be undefined",
		What:  "A value defined inside If, a loop or a role must be used inside it only.",
		Why:   "After it, the instruction that defines the value may not have run.",
		Wrong: "var x dsl.Reg[dsl.F32]\nk.If(p, func() { x = a.Load(i) })\nb.Store(i, x)",
		Right: "x := k.F32(0).Var()\nk.If(p, func() { x.Set(a.Load(i)) })\nb.Store(i, x)",
		Fix:   "Declare a variable with Var before the branch, and assign it with Set inside.",
	}
	ruleForeign = diag.Rule{
		ID: "D203", Layer: "build", Title: "value of another kernel",
		What:  "The operands of an instruction must belong to its kernel.",
		Why:   "Each kernel has its own registers and parameters.",
		Wrong: "n := dsl.Param[dsl.U32](k1, \"n\")\nk2.If(i.LT(n), f)",
		Right: "n := dsl.Param[dsl.U32](k2, \"n\")\nk2.If(i.LT(n), f)",
		Fix:   "Declare the parameter in the other kernel too.",
	}
	ruleConstant = diag.Rule{
		ID: "D204", Layer: "build", Title: "constant out of range for its type",
		What:  "A Go constant operand must be representable in the type of the other operand.",
		Why:   "It would be truncated silently.",
		Wrong: "k.U8(300)", Right: "k.U16(300)", Fix: "Use a wider type or a smaller number.",
	}
	ruleOperand = diag.Rule{
		ID: "D205", Layer: "build",
		Title: "invalid operand, or operation that the type does not support",
		What:  "An operand of Ins must be a value, an address, a number, a string, a label, a function, or a slice of operands; an operation must exist for the type.",
		Why:   "PTX has no instruction for the operation on this type, or the Go value is no operand of PTX.",
		Wrong: `x.ShlI(1) // x is a Reg[F32]`, Right: `dsl.Bits[dsl.U32](x).ShlI(1)`,
		Fix: "Convert with To, or reinterpret with Bits.",
	}
	ruleLoop = diag.Rule{
		ID: "D206", Layer: "build", Title: "Go break or return out of a kernel loop",
		What:  "The body of a range-over-func loop must run to its end, once, while the kernel is built.",
		Why:   "A Go break ends the building of the body, not the loop of the kernel.",
		Wrong: "for i := range k.Range(k.U32(0), n) { if done { break } }",
		Right: "for i := range k.Range(k.U32(0), n) { k.BreakIf(p) }",
		Fix:   "Use k.Break or k.BreakIf, which leave the loop when the kernel runs.",
	}
	ruleLabel = diag.Rule{
		ID: "D207", Layer: "build", Title: "unresolved label or call",
		What:  "A label that is branched to must be placed exactly once; a called function must be defined.",
		Why:   "ptxas rejects a label that is never placed and a function that is never defined.",
		Wrong: "l := k.NewLabel(\"l\")\nk.Branch(l)",
		Right: "l := k.NewLabel(\"l\")\nk.Branch(l)\nk.PlaceLabel(l)", Fix: "Place the label with PlaceLabel, or give the function a body.",
	}
	ruleSize = diag.Rule{
		ID: "D302", Layer: "build", Title: "memory limit of the target exceeded",
		What:  "Shared memory of a block, constant memory and parameters must fit the target.",
		Why:   "The kernel could not be launched.",
		Wrong: "dsl.Shared[dsl.F32](k, \"t\", 1<<20)",
		Right: "dsl.Shared[dsl.F32](k, \"t\", 1<<14)", Fix: "Use smaller tiles or fewer stages.",
	}
	ruleFunction = diag.Rule{
		ID: "D303", Layer: "build", Title: "call that does not match its function",
		What:  "A device function must be called with as many arguments as it has parameters, of the same types.",
		Why:   "Arguments are passed by position and size.",
		Wrong: "f.Call(x)", Right: "dsl.Call[dsl.F32](k, f, x)",
		Fix: "Pass the arguments that the function declares.",
	}
	ruleAuthor = diag.Rule{
		ID: "D601", Layer: "build", Title: "error reported by the author of a kernel",
		What:  "A function that builds kernels was given arguments that it does not support; it reports this with Kernel.Errorf.",
		Why:   "Its author knows the requirements of the kernel.",
		Wrong: "rmsnorm.Build(m, isa.Bf16, 1000)", Right: "rmsnorm.Build(m, isa.Bf16, 1024)",
		Fix: "Pass arguments that satisfy the condition in the message.",
	}
)
