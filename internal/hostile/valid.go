// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hostile

import "fmt"

// validTexts returns modules that pass the form checks, so that later phases process them too.
func validTexts() []Text {
	const callee = head + ".extern .func f(.param .b32 x);\n.visible .entry k(.param .u64 a)\n{\n"
	list := []Text{
		body("additions", "add.s32 %r1, %r1, %r2;\n"),
		body("additions in a line", "add.s32 %r1, %r1, %r2; "),
		bodyOf("chain of additions", ".reg .b32 x%[1]d; add.s32 x%[1]d, %%r1, %[1]d;\n"),
		bodyOf("live registers",
			".reg .b32 x%[1]d; ld.param.b32 x%[1]d, [a]; st.volatile.shared.b32 [%%r1], x%[1]d;\n"),
		bodyOf("registers", ".reg .b32 x%[1]d;\n"),
		bodyOf("ranges", ".reg .b32 x%[1]d_<10>;\n"),
		bodyOf("shared variables", ".shared .b32 x%[1]d;\n"),
		bodyOf("local variables", ".local .align 4 .b8 x%[1]d[4]; mov.u32 %%r1, x%[1]d;\n"),
		bodyOf("barriers in shared memory",
			".shared .b64 m%[1]d; mbarrier.init.shared.b64 [m%[1]d], 1;\n"),
		bodyOf("barriers that are waited for",
			".shared .b64 m%[1]d; mbarrier.init.shared.b64 [m%[1]d], 1; bar.sync 0; mbarrier.arrive.shared.b64 _, [m%[1]d]; W%[1]d: mbarrier.try_wait.parity.shared.b64 %%p1, [m%[1]d], 0; @!%%p1 bra W%[1]d;\n"),
		bodyOf("named barriers",
			"add.s32 %%r1, %%r2, %[1]d; and.b32 %%r1, %%r1, 7; bar.sync %%r1;\n"),
		body("barriers of the block", "bar.sync 0;\n"),
		body("copies", "cp.async.ca.shared.global [%r1], [%rd1], 16; cp.async.commit_group;\n"),
		body("fences", "fence.proxy.async;\n"),
		bodyOf("labels that nothing uses", "L%[1]d:\n"),
		bodyOf("branches", "bra L%[1]d;\nL%[1]d:\n"),
		bodyOf("diamonds",
			"setp.eq.s32 %%p1, %%r1, %[1]d; @%%p1 bra L%[1]d; add.s32 %%r1, %%r1, 1; L%[1]d:\n"),
		bodyOf("diamonds on loads",
			"ld.global.u32 %%r2, [%%rd1+%[1]d]; setp.eq.s32 %%p1, %%r2, 0; @%%p1 bra L%[1]d; st.global.u32 [%%rd1], %%r2; L%[1]d:\n"),
		bodyOf("diamonds with barriers",
			"ld.global.u32 %%r2, [%%rd1]; setp.eq.s32 %%p1, %%r2, %[1]d; @%%p1 bra L%[1]d; st.shared.u32 [%%r1], %%r2; L%[1]d: bar.sync 0;\n"),
		bodyOf("loops",
			"L%[1]d: add.s32 %%r1, %%r1, 1; setp.lt.s32 %%p1, %%r1, %[1]d; @%%p1 bra L%[1]d;\n"),
		bodyOf("exits", "setp.eq.s32 %%p1, %%r1, %[1]d; @%%p1 ret;\n"),
		bodyOf("branches back", "L%[1]d: setp.eq.s32 %%p1, %%r1, %[1]d; @%%p1 bra L0;\n"),
		{Name: "branches to the end", Before: kernel + regs,
			Unit:  indexedUnit("setp.eq.s32 %%p1, %%r1, %[1]d; @%%p1 bra E;\n"),
			After: "E: ret;\n}\n"},
		{Name: "loops in loops", Before: kernel + regs,
			Unit:  indexedUnit("L%[1]d: add.s32 %%r1, %%r1, %[1]d;\n"),
			Close: "setp.lt.s32 %p1, %r1, 9; @%p1 bra L0;\n", After: ending},
		body("scopes of a kernel", "{ .reg .b32 x; mov.b32 x, 1; }\n"),
		body("pragmas of a kernel", ".pragma \"nounroll\";\n"),
		{Name: "calls of one function", Before: callee + regs, After: ending,
			Unit: constantUnit("{ .param .b32 x; st.param.b32 [x], %r1; call f, (x); }\n")},
		{Name: "calls with many names", Before: callee + regs, After: ending,
			Unit: indexedUnit(
				"{ .param .b32 x%[1]d; st.param.b32 [x%[1]d], %%r1; call f, (x%[1]d); }\n")},
		{Name: "branch targets", Before: kernel + regs, Unit: indexedUnit("L%[1]d:\n"),
			Middle: "t: .branchtargets L0, L0, L0;\nbrx.idx %r1, t;", After: ending},
		{Name: "same branch targets", Before: kernel + regs + "L:\nt: .branchtargets ",
			Unit: constantUnit("L, "), Middle: "L;\nbrx.idx %r1, t;", After: ending},
		{Name: "lists of branch targets", Before: kernel + regs + "L:\n",
			Unit: indexedUnit("t%[1]d: .branchtargets L, L;\n"), Middle: "brx.idx %r1, t0;",
			After: ending},
		bodyOf("branches by index",
			"t%[1]d: .branchtargets L%[1]d, M%[1]d; brx.idx %%r1, t%[1]d; L%[1]d: add.s32 %%r1, %%r1, 1; M%[1]d:\n"),
		bodyOf("prototypes",
			"q%[1]d: .callprototype _ (.param .b32 x); { .param .b32 x; st.param.b32 [x], %%r1; call %%rd1, (x), q%[1]d; }\n"),
		bodyOf("locations", ".loc 1 %[1]d 1\nadd.s32 %%r1, %%r1, 1;\n"),
		{Name: "locations that are inlined",
			Before: head + ".section .debug_str {\nL: .b8 1\n}\n" + kernel[len(head):] + regs,
			After:  ending,
			Unit: indexedUnit(
				".loc 1 1 1\n.loc 1 2 1, function_name L, inlined_at 1 1 1\nadd.s32 %%r1, %%r1, %[1]d;\n")},
		{Name: "kernels", Before: head,
			Unit: indexedUnit(".visible .entry k%[1]d(.param .u64 a) { ret; }\n")},
		{Name: "kernels with barriers", Before: head,
			Unit: indexedUnit(".visible .entry k%[1]d() { bar.sync 0; ret; }\n")},
		{Name: "parameters of a function", Before: ".version 8.8\n.target sm_90\n.visible .func f(",
			Unit: indexedUnit(".param .b8 p%[1]d, "), Middle: ".param .b8 z) { ret; }"},
		{Name: "global variables", Before: head,
			Unit: indexedUnit(".global .b32 x%[1]d = %[1]d;\n")},
		{Name: "variables of addresses", Before: head + ".global .b32 x;\n.global .u64 y[] = {",
			Unit: constantUnit("x, "), Middle: "x};\n"},
		{Name: "external functions", Before: head,
			Unit: indexedUnit(".extern .func f%[1]d(.param .b32 x);\n")},
		{Name: "functions", Before: head, Unit: indexedUnit(".func f%[1]d() { ret; }\n")},
		{Name: "chain of calls", Before: head + ".func f0() { ret; }\n", Unit: func(i int) string {
			return fmt.Sprintf(".func f%d() { call f%d; ret; }\n", i+1, i)
		}, After: ".visible .entry k() { ret; }\n"},
		{Name: "calls that double", Before: head + ".func f0() { bar.sync 0; ret; }\n",
			Unit: func(i int) string {
				return fmt.Sprintf(".visible .func f%d() { call f%d; call f%d; ret; }\n", i+1, i, i)
			}},
		{Name: "kernels of calls that double",
			Before: head + ".visible .func f0() { bar.sync 0; ret; }\n", Unit: func(i int) string {
				return fmt.Sprintf(
					".visible .func f%d() { call f%d; call f%d; ret; }\n.visible .entry k%d() { call f%d; ret; }\n",
					i+1, i, i, i, i+1)
			}},
		{Name: "functions that call one another", Before: head,
			Unit: indexedUnit(
				".visible .func f%[1]d();\n.visible .func g%[1]d() { call f%[1]d; ret; }\n.visible .func f%[1]d() { call g%[1]d; ret; }\n")},
		{Name: "comments of a kernel", Before: kernel, Unit: indexedUnit("// %[1]d\n"),
			After: ending},
		{Name: "debug sections",
			Before: ".version 8.8\n.target sm_90, debug\n.section .debug_info {\n",
			Unit:   constantUnit(".b8 1\n"), After: "}\n.visible .entry k() { ret; }\n"},
		bodyOf("constants", "mov.b32 %%r1, 1+2*%[1]d;\n"),
		bodyOf("stores", "st.global.u32 [%%rd1+%[1]d], %%r1;\n"),
		bodyOf("stores to shared memory", "st.shared.u32 [%%r1+%[1]d], %%r1;\n"),
		bodyOf("loads and stores of shared memory",
			"ld.shared.u32 %%r2, [%%r1+%[1]d]; st.shared.u32 [%%r1+%[1]d], %%r2;\n"),
		body("shifts", "shl.b32 %r1, %r1, 1; add.s32 %r1, %r1, %r2;\n"),
		body("squares", "mul.lo.s32 %r1, %r1, %r1;\n"),
		body("products and sums", "mad.lo.s32 %r1, %r1, %r1, %r1; add.s32 %r2, %r1, %r1;\n"),
		body("selections", "setp.eq.s32 %p1, %r1, %r2; selp.b32 %r1, %r1, %r2, %p1;\n"),
		body("registers of the warpgroup", "setmaxnreg.inc.sync.aligned.u32 64;\n"),
		body("waits for groups of wgmma",
			"wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"),
		body("elections", "elect.sync %r1|%p1, -1;\n"),
	}
	for i := range list {
		list[i].Valid = true
	}
	return list
}
