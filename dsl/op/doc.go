// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package op has a Go method for every PTX instruction and modifier. The methods are generated
// from the instruction set. Do appends the instruction to a kernel of package dsl, which checks
// it.
//
//	ptx := op.On(k)
//	ptx.MbarrierTryWait().Acquire().CTA().SharedCTA().Do(done, bar, state)
//	ptx.Ld().Global().NC().V4().F32().Do(dsl.List(a, b, c, d), dsl.At(x, 16))
//	ptx.Mma().M16N8K16().Row().Col().F32().BF16().BF16().F32().Do(d, a, b, c)
//
// # Names
//
// A method of [PTX] returns an instruction without modifiers and has the instruction's name:
// MbarrierArriveExpectTx starts mbarrier.arrive.expect_tx. Its result has a method for each
// modifier that some form of the instruction takes. An editor can list them, and an unknown
// modifier is a Go compile error.
//
// Names follow PTX: SharedCTA is .shared::cta, MulticastCluster is .multicast::cluster and E4M3x2
// is .e4m3x2. Modifiers that are acronyms are in capitals: RN, FTZ, GE, NaN, ReLU. The
// comparisons .nan and .num are IsNaN and IsNum, since NaN is the modifier .NaN. A name that
// cannot start with a digit gets a letter or a word in front: D2 is .2d, Shape16x64b is .16x64b
// and Sp2Of4 is .sp::2:4.
//
// Modifiers can be added in any order; the opcode is written in the order of the PTX manual. Only
// types, as in cvt and mma, must be in the order of PTX. Modifiers that all forms of an
// instruction have may be omitted, such as .sync and .aligned of mma. Mod adds modifiers that are
// computed at build time, and MNK the shape of wgmma.
//
// # Opcodes are values
//
// No instruction is appended before Do is called. A modifier method returns a new value and does
// not change its receiver, so an opcode can be stored, passed to a function and reused:
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
// Operands are in PTX order and of the types that [dsl.Kernel.Ins] takes: values, addresses, Go
// numbers, labels, functions, names of special registers, and slices for {a, b}. [dsl.Bracket]
// returns [a, {b, c}], [dsl.Pair] a|b and [dsl.NotP] !p. A result is a register from
// [dsl.NewReg]. Pass nil for an optional operand. If all forms of an instruction start with the
// same operands, they are parameters of Do.
//
// # Mistakes
//
// The Go compiler checks the names of modifiers. Combinations of modifiers, the target and the
// operands are checked at build time; mistakes are reported at the line that calls Do.
package op
