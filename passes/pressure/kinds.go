// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
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

// kindNames are the names of the kinds in feature names.
var kindNames = [kindCount]string{
	"div32", "div64", "divf32", "divf64", "root", "rootf64", "function", "f64", "f32", "f16", "int32", "int64", "int16",
	"ldglobal", "ldshared", "ldlocal", "ldconst", "stglobal", "stshared", "stlocal", "generic", "atom", "shfl", "bar", "tex",
	"mma", "wgmma", "tcgen05", "cp", "ldmatrix", "special", "setmaxnreg", "cvt", "selp", "setp", "mbarrier", "mov",
}

// heads are the kinds of instructions that the first word of the opcode decides.
var heads = map[string]kind{
	"ex2": kindFunction, "lg2": kindFunction, "sin": kindFunction, "cos": kindFunction, "tanh": kindFunction, "rsqrt": kindFunction,
	"atom": kindAtomic, "red": kindAtomic, "shfl": kindShuffle, "vote": kindShuffle, "match": kindShuffle, "redux": kindShuffle,
	"bar": kindBarrier, "barrier": kindBarrier, "tex": kindTexture, "tld4": kindTexture, "suld": kindTexture, "sust": kindTexture,
	"mma": kindMatrix, "wmma": kindMatrix, "wgmma": kindWarpgroup, "tcgen05": kindTensor, "ldmatrix": kindMatrixLoad,
	"setmaxnreg": kindBudget, "cvt": kindConvert, "selp": kindSelect, "setp": kindCompare, "mbarrier": kindMbarrier, "cp": kindCopy,
}

// kindOf returns the kind of an instruction.
func kindOf(in *ir.Instr) kind {
	head := in.Head()
	if k, ok := heads[head]; ok {
		return k
	}
	switch head {
	case "div", "rem":
		switch {
		case in.Mod("f64"):
			return kindDivideDouble
		case in.Mod("f32"):
			return kindDivideSingle
		case in.Mod("s64") || in.Mod("u64"):
			return kindDivide64
		}
		return kindDivide32
	case "sqrt", "rcp":
		switch {
		case in.Mod("f64"):
			return kindRootDouble
		case in.Mod("rn"):
			return kindRoot
		}
		return kindFunction
	case "ld":
		switch {
		case in.Mod("global"):
			return kindLoadGlobal
		case in.Mod("shared"):
			return kindLoadShared
		case in.Mod("local"):
			return kindLoadLocal
		case in.Mod("const"):
			return kindLoadConst
		}
		return kindGeneric
	case "st":
		switch {
		case in.Mod("global"):
			return kindStoreGlobal
		case in.Mod("shared"):
			return kindStoreShared
		case in.Mod("local"):
			return kindStoreLocal
		}
		return kindGeneric
	case "mov":
		if special(in) {
			return kindSpecial
		}
		return kindMove
	}
	switch {
	case in.Mod("f64"):
		return kindDouble
	case in.Mod("f32"):
		return kindSingle
	case strings.Contains(in.Op, "f16"):
		return kindHalf
	case strings.HasSuffix(in.Op, "64"):
		return kindInteger64
	case strings.HasSuffix(in.Op, "16"):
		return kindShort
	}
	return kindInteger
}
