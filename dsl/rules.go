// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/diag"

// Rules returns the rules of the builder: what a builder call can get wrong besides the form of an
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
		ID: "D101", Layer: "build", Title: "no such target or version",
		What:  "The target and the PTX version that a module is built for are ones of the instruction set.",
		Why:   "Every form is judged for a target; without one nothing can be.",
		Wrong: `dsl.New("m", "sm_9a")`, Right: `dsl.New("m", "sm_90a")`, Fix: "Name a target of `ptxdsl isa -stats`.",
	}
	ruleLacks = diag.Rule{
		ID: "D102", Layer: "build", Title: "the target lacks what is asked for",
		What:  "A tile, pipeline or memory is used on a target that has the hardware for it.",
		Why:   "The assembler would refuse the instructions that it stands for.",
		Wrong: `k.TMEM(256) // on sm_90a`, Right: `acc := k.Accumulator(dsl.WGMMA(64, 256, 16), isa.F32)`,
		Fix: "Use what the message names, or build the module for another target.",
	}
	ruleKernel = diag.Rule{
		ID: "D103", Layer: "build", Title: "a kernel's head is wrong",
		What:  "Names are identifiers and used once; blocks, clusters and register bounds are within what the hardware launches.",
		Why:   "The launch would fail, or the assembler would refuse the directive.",
		Wrong: `m.Kernel("k", dsl.Threads(2048))`, Right: `m.Kernel("k", dsl.Threads(1024))`, Fix: "Keep to the bounds that the message gives.",
	}
	ruleValue = diag.Rule{
		ID: "D201", Layer: "build", Title: "a value that was never made",
		What:  "A value in an expression comes from a builder call, not from the zero of its Go type.",
		Why:   "No register stands behind it.",
		Wrong: "var x dsl.Reg[dsl.F32]\ny := x.Add(x)", Right: "x := k.F32(0)\ny := x.Add(x)",
		Fix: "Make the value before it is used; a variable that branches set is made before the branch with Var.",
	}
	ruleScope = diag.Rule{
		ID: "D202", Layer: "build", Title: "a value used where it may not have been computed",
		What:  "A value made inside If, a loop or a role is used inside it only.",
		Why:   "Outside, the instruction that computes it may not have run.",
		Wrong: "var x dsl.Reg[dsl.F32]\nk.If(p, func() { x = a.Load(i) })\nb.Store(i, x)",
		Right: "x := k.F32(0).Var()\nk.If(p, func() { x.Set(a.Load(i)) })\nb.Store(i, x)",
		Fix:   "Make a variable before the branch and Set it inside.",
	}
	ruleForeign = diag.Rule{
		ID: "D203", Layer: "build", Title: "a value of another kernel",
		What:  "The operands of an instruction belong to the kernel that it is built into.",
		Why:   "Kernels share no registers and no parameters.",
		Wrong: "n := dsl.Param[dsl.U32](k1, \"n\")\nk2.If(i.Lt(n), f)", Right: "n := dsl.Param[dsl.U32](k2, \"n\")\nk2.If(i.Lt(n), f)",
		Fix: "Give the other kernel a parameter of its own.",
	}
	ruleConstant = diag.Rule{
		ID: "D204", Layer: "build", Title: "a constant that its type cannot hold",
		What:  "A Go number that becomes a constant fits the type of the value it stands beside.",
		Why:   "It would be cut off without a word.",
		Wrong: "k.U8(300)", Right: "k.U16(300)", Fix: "Use a wider type or a smaller number.",
	}
	ruleOperand = diag.Rule{
		ID: "D205", Layer: "build", Title: "not an operand, or no such operation on this type",
		What:  "Operands of Ins are values, addresses, numbers, slices of them and the like; operations are ones that the type has.",
		Why:   "There is no instruction for it.",
		Wrong: `x.Shl(1) // x is a Reg[F32]`, Right: `dsl.Bits[dsl.U32](x).ShlI(1)`, Fix: "Convert with To, or reinterpret with Bits.",
	}
	ruleLoop = diag.Rule{
		ID: "D206", Layer: "build", Title: "a Go break or return out of a loop of the kernel",
		What:  "The body of a loop that is written as range-over-func runs once, to its end, while the kernel is built.",
		Why:   "A Go break would end the building of the body, not the loop of the kernel.",
		Wrong: "for i := range k.Range(k.U32(0), n) { if done { break } }", Right: "for i := range k.Range(k.U32(0), n) { k.BreakIf(p) }",
		Fix: "Use k.Break or k.BreakIf, which leave the loop when the kernel runs.",
	}
	ruleLabel = diag.Rule{
		ID: "D207", Layer: "build", Title: "a label or call that leads nowhere",
		What:  "A label that is branched to is placed, and once; a called function is defined.",
		Why:   "The assembler cannot resolve it.",
		Wrong: "l := k.NewLabel(\"l\")\nk.Branch(l)", Right: "l := k.NewLabel(\"l\")\nk.Branch(l)\nk.Place(l)", Fix: "Place the label.",
	}
	ruleMemory = diag.Rule{
		ID: "D301", Layer: "build", Title: "a memory access that cannot be right",
		What:  "Vectors are as long as the hardware moves, offsets keep them aligned, and constant offsets lie inside what they index.",
		Why:   "A misaligned access stops the kernel; one outside reads or destroys what belongs to others.",
		Wrong: "x.LoadVec(i, 3)", Right: "x.LoadVec(i, 4)", Fix: "Use a length and an offset that the message names.",
	}
	ruleWay = diag.Rule{
		ID: "D208", Layer: "build", Title: "a loop that nothing ends, or code that nothing leads to",
		What:  "A loop ends by its condition, by Break, Return or Exit; what is built can be reached when the kernel runs.",
		Why:   "The kernel would never return; or what the author wrote would never run.",
		Wrong: "k.While(func() dsl.Reg[dsl.Pred] { return i.Lt(n) }, func() { i = i.AddI(1) })",
		Right: "i := k.U32(0).Var()\nk.While(func() dsl.Reg[dsl.Pred] { return i.Lt(n) }, func() { i.Set(i.AddI(1)) })",
		Fix:   "Change what the condition rests on with Set, or leave the loop; drop what stands behind Return, or put Return under a condition.",
	}
	ruleSize = diag.Rule{
		ID: "D302", Layer: "build", Title: "more memory than the target has",
		What:  "Shared memory of a block, constant memory and parameters fit the target.",
		Why:   "The kernel could not be launched.",
		Wrong: "dsl.Shared[dsl.F32](k, \"t\", 1<<20)", Right: "dsl.Shared[dsl.F32](k, \"t\", 1<<14)", Fix: "Use smaller tiles or fewer stages.",
	}
	ruleFunction = diag.Rule{
		ID: "D303", Layer: "build", Title: "a call that does not fit its function",
		What:  "A device function is called with as many arguments as it has parameters, of their types.",
		Why:   "Arguments are passed by position and size.",
		Wrong: "f.Call(x)", Right: "f.Call(x, y)", Fix: "Pass what the function declares.",
	}
	ruleShape = diag.Rule{
		ID: "D401", Layer: "build", Title: "tiles, fragments or layouts that do not fit together",
		What:  "Shapes, element types, swizzles and boxes of tiles fit the instruction that moves or multiplies them.",
		Why:   "The result would be garbage, or the copy would be refused at run time.",
		Wrong: "k.TensorMap(\"a\", isa.Bf16, dsl.Box(64, 128), dsl.Swizzle128)", Right: "k.TensorMap(\"a\", isa.Bf16, dsl.Box(128, 64), dsl.Swizzle128)",
		Fix: "A row of a swizzled box has at most as many bytes as the swizzle.",
	}
	ruleProtocol = diag.Rule{
		ID: "D501", Layer: "build", Title: "a protocol that cannot work",
		What:  "Stages, arrivals, byte counts and phases of barriers and pipelines add up.",
		Why:   "A wait would never return, or return too early.",
		Wrong: "k.Pipeline(\"ab\", 0)", Right: "k.Pipeline(\"ab\", 4)", Fix: "See the message for the counts that do not agree.",
	}
	ruleRole = diag.Rule{
		ID: "D502", Layer: "build", Title: "roles that do not cover the block",
		What:  "The warps of a block are each in at most one role, exist, and register budgets fit the pool that the launch gives, and leave more than the sums of the role take.",
		Why:   "A warp without a role falls through; two roles in one warp deadlock; setmaxnreg waits forever for registers that no one frees; where sums take all of a budget, the assembler leaves setmaxnreg out or keeps numbers in local memory.",
		Wrong: "k.Roles(dsl.Warp(0, \"load\", f), dsl.Warps(0, 4, \"math\", g))", Right: "k.Roles(dsl.Warp(0, \"load\", f), dsl.Warps(1, 4, \"math\", g))",
		Fix: "Give each warp one role.",
	}
	ruleAuthor = diag.Rule{
		ID: "D601", Layer: "build", Title: "what the author of a kernel checks",
		What:  "A function that builds kernels was asked for something that it does not make; it says so with Kernel.Fault.",
		Why:   "Its author knows what its kernels need.",
		Wrong: "rmsnorm.Build(m, isa.Bf16, 1000)", Right: "rmsnorm.Build(m, isa.Bf16, 1024)", Fix: "See the message.",
	}
)
