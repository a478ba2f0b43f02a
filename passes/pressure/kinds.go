// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A kind is a group of instructions with similar register needs.
type kind uint8

const (
	kindDivide32 kind = iota
	kindDivide64
	kindDivideSingle
	kindDivideDouble
	kindRoot
	kindRootDouble
	kindFunction
	kindDouble
	kindSingle
	kindHalf
	kindInteger
	kindInteger64
	kindShort
	kindLoadGlobal
	kindLoadShared
	kindLoadLocal
	kindLoadConst
	kindStoreGlobal
	kindStoreShared
	kindStoreLocal
	kindGeneric
	kindAtomic
	kindShuffle
	kindBarrier
	kindTexture
	kindMatrix
	kindWarpgroup
	kindTensor
	kindCopy
	kindMatrixLoad
	kindSpecial
	kindBudget
	kindConvert
	kindSelect
	kindCompare
	kindMbarrier
	kindMove
	kindCount
)

// kindNames holds the names of the kinds, as they occur in feature names.
var kindNames = [kindCount]string{
	"div32", "div64", "divf32", "divf64", "root", "rootf64", "function", "f64", "f32", "f16",
	"int32", "int64", "int16",
	"ldglobal", "ldshared", "ldlocal", "ldconst", "stglobal", "stshared", "stlocal", "generic",
	"atom", "shfl", "bar", "tex",
	"mma", "wgmma", "tcgen05", "cp", "ldmatrix", "special", "setmaxnreg", "cvt", "selp", "setp",
	"mbarrier", "mov",
}

// heads holds the kinds of instructions that are determined by the first word of the opcode.
var heads = map[isa.Head]kind{
	isa.HeadEx2: kindFunction, isa.HeadLg2: kindFunction, isa.HeadSin: kindFunction,
	isa.HeadCos: kindFunction, isa.HeadTanh: kindFunction, isa.HeadRsqrt: kindFunction,
	isa.HeadAtom: kindAtomic, isa.HeadRed: kindAtomic, isa.HeadShfl: kindShuffle,
	isa.HeadVote: kindShuffle, isa.HeadMatch: kindShuffle, isa.HeadRedux: kindShuffle,
	isa.HeadBar: kindBarrier, isa.HeadBarrier: kindBarrier, isa.HeadTex: kindTexture,
	isa.HeadTld4: kindTexture, isa.HeadSuld: kindTexture, isa.HeadSust: kindTexture,
	isa.HeadMma: kindMatrix, isa.HeadWmma: kindMatrix, isa.HeadWgmma: kindWarpgroup,
	isa.HeadTcgen05: kindTensor, isa.HeadLdmatrix: kindMatrixLoad,
	isa.HeadSetmaxnreg: kindBudget, isa.HeadCvt: kindConvert, isa.HeadSelp: kindSelect,
	isa.HeadSetp: kindCompare, isa.HeadMbarrier: kindMbarrier, isa.HeadCp: kindCopy,
}

// kindOf returns the kind of an instruction.
func kindOf(in *ir.Instr) kind {
	head := in.Kind().Head()
	if k, ok := heads[head]; ok {
		return k
	}
	switch head {
	case isa.HeadDiv, isa.HeadRem:
		switch {
		case in.HasMod(isa.ModF64):
			return kindDivideDouble
		case in.HasMod(isa.ModF32):
			return kindDivideSingle
		case in.HasMod(isa.ModS64, isa.ModU64):
			return kindDivide64
		}
		return kindDivide32
	case isa.HeadSqrt, isa.HeadRcp:
		switch {
		case in.HasMod(isa.ModF64):
			return kindRootDouble
		case in.HasMod(isa.ModRN):
			return kindRoot
		}
		return kindFunction
	case isa.HeadLd:
		switch {
		case in.HasMod(isa.ModGlobal):
			return kindLoadGlobal
		case in.HasMod(isa.ModShared):
			return kindLoadShared
		case in.HasMod(isa.ModLocal):
			return kindLoadLocal
		case in.HasMod(isa.ModConst):
			return kindLoadConst
		}
		return kindGeneric
	case isa.HeadSt:
		switch {
		case in.HasMod(isa.ModGlobal):
			return kindStoreGlobal
		case in.HasMod(isa.ModShared):
			return kindStoreShared
		case in.HasMod(isa.ModLocal):
			return kindStoreLocal
		}
		return kindGeneric
	case isa.HeadMov:
		if special(in) {
			return kindSpecial
		}
		return kindMove
	}
	switch {
	case in.HasMod(isa.ModF64):
		return kindDouble
	case in.HasMod(isa.ModF32):
		return kindSingle
	case halves(in):
		return kindHalf
	}
	switch lastType(in).Bits() {
	case 64:
		return kindInteger64
	case 16:
		return kindShort
	}
	return kindInteger
}

// halves reports whether an instruction computes with half-precision numbers.
func halves(in *ir.Instr) bool {
	return in.HasMod(isa.ModF16, isa.ModBF16, isa.ModF16x2, isa.ModBF16x2)
}

// lastType returns the last type modifier of in, or the zero Type if it has none.
func lastType(in *ir.Instr) (last isa.Type) {
	for _, m := range in.Mods() {
		if t := m.Type(); t != 0 {
			last = t
		}
	}
	return last
}
