// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package op is every instruction of PTX as a Go method, for the places where a kernel wants one instruction and no
// abstraction over it. It is generated from the instruction set, and it builds nothing by itself: Do appends the
// instruction to a kernel of package dsl, which judges it.
//
//	ptx := op.On(k)
//	ptx.MbarrierTryWait().Acquire().CTA().SharedCTA().Do(done, bar, state)
//	ptx.Ld().Global().NC().V4().F32().Do(dsl.List(a, b, c, d), dsl.At(x, 16))
//	ptx.Mma().M16N8K16().Row().Col().F32().BF16().BF16().F32().Do(d, a, b, c)
//
// # Names
//
// A method of [PTX] begins an instruction. Its name is that of the instruction: MbarrierArriveExpectTx begins
// mbarrier.arrive.expect_tx. What it returns has a method for each modifier that some form of the instruction takes, so
// that an editor lists them, and a word that the instruction does not know is a Go compile error. The names follow PTX:
// SharedCTA is .shared::cta, MulticastCluster .multicast::cluster, E4M3x2 .e4m3x2, RN .rn. A name that cannot begin with a
// digit has a letter or a word in front: D2 is .2d, Shape16x64b .16x64b, Sp2Of4 .sp::2:4.
//
// Modifiers can be written in any order, as the printed instruction has them in the manual's; only types, as in cvt and
// mma, stand in the order that PTX gives them. Modifiers that all forms of an instruction have, such as .sync and .aligned
// of mma or .b64 of mbarrier.init, may be left out. Those that a kernel works out while it is built are added by Mod; the shape of wgmma by MNK.
//
// # Opcodes are values
//
// Nothing is appended until Do, and a modifier changes nothing but what it returns. An opcode can be kept, handed to a
// function, and used again:
//
//	load := ptx.Ld().Global()
//	if readOnly {
//		load = load.NC()
//	}
//	for i := range n {
//		load.F32().Do(x[i], dsl.At(p, 4*i))
//	}
//
// # Operands
//
// They come in PTX's order and are what [dsl.Kernel.Ins] takes: values, addresses, Go numbers, labels, functions, names of
// special registers, slices for {a, b}; [dsl.Bracket] makes [a, {b, c}], [dsl.Pair] a|b, [dsl.NotP] !p. A result is a
// register that [dsl.NewReg] made. nil stands for an operand that may be left out. Where all forms of an instruction begin
// with the same operands, Do has them as parameters.
//
// # Mistakes
//
// The Go compiler knows the words, not what goes together. That is judged while the kernel is built, against the table,
// for its target: a combination that no form has, a form that the target lacks, or an operand that does not fit is a
// finding at the line that calls Do.
package op
