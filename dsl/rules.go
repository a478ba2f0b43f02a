// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/diag"

// Rules returns the rules of the builder: mistakes in builder calls other than the form of an
// instruction.
func Rules() diag.Rules {
	var list diag.Rules
	for _, r := range allRules {
		list = append(list, *r)
	}
	return list
}

var allRules = []*diag.Rule{
	&ruleTarget, &ruleKernel, &ruleValue, &ruleScope, &ruleForeign, &ruleConstant, &ruleLoop, &ruleMemory, &ruleOperand,
	&ruleLabel, &ruleWay, &ruleSize, &ruleFunction, &ruleLacks, &ruleShape, &ruleProtocol, &ruleRole, &ruleAuthor,
}

var (
	ruleTarget = diag.Rule{
		ID: "D101", Layer: "build", Title: "unknown target or PTX version",
		What:  "The target and the PTX version of a module must be known to the instruction set.",
		Why:   "Instructions are checked for a target, so nothing can be checked without one.",
		Wrong: `dsl.New("m", "sm_9a")`, Right: `dsl.New("m", "sm_90a")`, Fix: "Name a target of `ptxdsl isa -stats`.",
	}
	ruleLacks = diag.Rule{
		ID: "D102", Layer: "build", Title: "not available on the target",
		What:  "Tiles, pipelines and memory spaces must be supported by the target.",
		Why:   "The assembler would reject the instructions.",
		Wrong: `k.TMEM("acc", 128, 256, 2) // on sm_90a`, Right: `acc := k.Accumulator(64, 256, isa.F32)`,
		Fix: "Use the alternative that the message names, or build the module for another target.",
	}
	ruleKernel = diag.Rule{
		ID: "D103", Layer: "build", Title: "invalid kernel declaration",
		What:  "Names must be identifiers and unique; blocks, clusters and register limits must be within what the hardware can launch.",
		Why:   "The launch would fail, or the assembler would reject the directive.",
		Wrong: `m.Kernel("k", dsl.Threads(2048))`, Right: `m.Kernel("k", dsl.Threads(1024))`, Fix: "Stay within the limits that the message gives.",
	}
	ruleValue = diag.Rule{
		ID: "D201", Layer: "build", Title: "use of a zero value",
		What:  "A value in an expression must come from a builder call, not from the zero value of its Go type.",
		Why:   "It has no register.",
		Wrong: "var x dsl.Reg[dsl.F32]\ny := x.Add(x)", Right: "x := k.F32(0)\ny := x.Add(x)",
		Fix: "Create the value before it is used; declare a variable that branches assign with Var, before the branch.",
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
		Why:   "Kernels do not share registers or parameters.",
		Wrong: "n := dsl.Param[dsl.U32](k1, \"n\")\nk2.If(i.LT(n), f)", Right: "n := dsl.Param[dsl.U32](k2, \"n\")\nk2.If(i.LT(n), f)",
		Fix: "Declare the parameter in the other kernel too.",
	}
	ruleConstant = diag.Rule{
		ID: "D204", Layer: "build", Title: "constant out of range for its type",
		What:  "A Go number that becomes a constant must fit the type of the value it is combined with.",
		Why:   "It would be truncated silently.",
		Wrong: "k.U8(300)", Right: "k.U16(300)", Fix: "Use a wider type or a smaller number.",
	}
	ruleOperand = diag.Rule{
		ID: "D205", Layer: "build", Title: "invalid operand, or operation that the type does not support",
		What:  "Operands of Ins must be values, addresses, numbers, slices of them, or similar; operations must exist for the type.",
		Why:   "PTX has no instruction for it.",
		Wrong: `x.ShlI(1) // x is a Reg[F32]`, Right: `dsl.Bits[dsl.U32](x).ShlI(1)`, Fix: "Convert with To, or reinterpret with Bits.",
	}
	ruleLoop = diag.Rule{
		ID: "D206", Layer: "build", Title: "Go break or return out of a kernel loop",
		What:  "The body of a range-over-func loop must run to its end, once, while the kernel is built.",
		Why:   "A Go break ends the building of the body, not the loop of the kernel.",
		Wrong: "for i := range k.Range(k.U32(0), n) { if done { break } }", Right: "for i := range k.Range(k.U32(0), n) { k.BreakIf(p) }",
		Fix: "Use k.Break or k.BreakIf, which leave the loop when the kernel runs.",
	}
	ruleLabel = diag.Rule{
		ID: "D207", Layer: "build", Title: "unresolved label or call",
		What:  "A label that is branched to must be placed exactly once; a called function must be defined.",
		Why:   "The assembler cannot resolve it.",
		Wrong: "l := k.NewLabel(\"l\")\nk.Branch(l)", Right: "l := k.NewLabel(\"l\")\nk.Branch(l)\nk.PlaceLabel(l)", Fix: "Place the label.",
	}
	ruleMemory = diag.Rule{
		ID: "D301", Layer: "build", Title: "invalid memory access",
		What:  "Vectors must have a length that the hardware supports, offsets must keep them aligned, and constant offsets must be in bounds.",
		Why:   "A misaligned access aborts the kernel; an out-of-bounds access reads or corrupts other memory.",
		Wrong: "x.LoadVec(i, 3)", Right: "x.LoadVec(i, 4)", Fix: "Use a length and an offset that the message names.",
	}
	ruleWay = diag.Rule{
		ID: "D208", Layer: "build", Title: "infinite loop, or unreachable code",
		What:  "A loop must end by its condition, Break, Return or Exit; all code must be reachable.",
		Why:   "The kernel would never return, or the code would never run.",
		Wrong: "k.While(func() dsl.Reg[dsl.Pred] { return i.LT(n) }, func() { i = i.AddI(1) })",
		Right: "i := k.U32(0).Var()\nk.While(func() dsl.Reg[dsl.Pred] { return i.LT(n) }, func() { i.Set(i.AddI(1)) })",
		Fix:   "Assign what the condition depends on with Set, or leave the loop; remove code after Return, or make Return conditional.",
	}
	ruleSize = diag.Rule{
		ID: "D302", Layer: "build", Title: "memory limit of the target exceeded",
		What:  "Shared memory of a block, constant memory and parameters must fit the target.",
		Why:   "The kernel could not be launched.",
		Wrong: "dsl.Shared[dsl.F32](k, \"t\", 1<<20)", Right: "dsl.Shared[dsl.F32](k, \"t\", 1<<14)", Fix: "Use smaller tiles or fewer stages.",
	}
	ruleFunction = diag.Rule{
		ID: "D303", Layer: "build", Title: "call that does not match its function",
		What:  "A device function must be called with as many arguments as it has parameters, of the same types.",
		Why:   "Arguments are passed by position and size.",
		Wrong: "f.Call(x)", Right: "dsl.Call[dsl.F32](k, f, x)", Fix: "Pass the arguments that the function declares.",
	}
	ruleShape = diag.Rule{
		ID: "D401", Layer: "build", Title: "tiles, fragments or layouts that do not match",
		What:  "Shapes, element types, swizzles and boxes of tiles must match the instruction that copies or multiplies them.",
		Why:   "The result would be wrong, or the copy would fail at run time.",
		Wrong: "k.TensorMap(\"a\", isa.Bf16, dsl.Box{Rows: 300, Cols: 64}, dsl.Swizzle128)", Right: "k.TensorMap(\"a\", isa.Bf16, dsl.Box{Rows: 128, Cols: 64}, dsl.Swizzle128)",
		Fix: "A copy has at most 256 rows and 256 columns.",
	}
	ruleProtocol = diag.Rule{
		ID: "D501", Layer: "build", Title: "broken barrier or pipeline protocol",
		What:  "Stages, arrivals, byte counts and phases of mbarriers and pipelines must be consistent.",
		Why:   "A wait would never return, or return too early.",
		Wrong: "k.Pipeline(\"ab\", 0, a.Feed())", Right: "k.Pipeline(\"ab\", 4, a.Feed())", Fix: "See the message for the counts that differ.",
	}
	ruleRole = diag.Rule{
		ID: "D502", Layer: "build", Title: "invalid warp roles or register budgets",
		What:  "Each warp must exist and be in at most one role. Register budgets must fit the registers of the launch, and must be larger than the accumulators of the role.",
		Why:   "Two roles in one warp deadlock. setmaxnreg waits forever for registers that no warp releases. If accumulators take the whole budget, ptxas ignores setmaxnreg or spills.",
		Wrong: "k.Roles(dsl.OnWarp(0, \"load\", f), dsl.OnWarps(0, 4, \"math\", g))", Right: "k.Roles(dsl.OnWarp(0, \"load\", f), dsl.OnWarps(1, 4, \"math\", g))",
		Fix: "Give each warp one role.",
	}
	ruleAuthor = diag.Rule{
		ID: "D601", Layer: "build", Title: "error reported by the author of a kernel",
		What:  "A function that builds kernels was given arguments that it does not support; it reports this with Kernel.Errorf.",
		Why:   "Its author knows the requirements of the kernel.",
		Wrong: "rmsnorm.Build(m, isa.Bf16, 1000)", Right: "rmsnorm.Build(m, isa.Bf16, 1024)", Fix: "See the message.",
	}
)
