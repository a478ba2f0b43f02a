// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

// families returns the functions that can build the operation of an opcode head. A builder returns
// nil for types it does not support.
func families(head string) []func(s *spec) *Op {
	type list = []func(s *spec) *Op
	switch head {
	case "add", "sub":
		return list{intSum, floatArithmetic, halfArithmetic, mixedArithmetic, microArithmetic}
	case "addc", "subc":
		return list{intCarry}
	case "mul":
		return list{intProduct, floatArithmetic, halfArithmetic, mixedArithmetic, microArithmetic}
	case "mad":
		return list{intProduct, floatArithmetic}
	case "madc":
		return list{intProduct}
	case "fma":
		return list{floatArithmetic, halfArithmetic, mixedArithmetic, microArithmetic}
	case "mul24", "mad24":
		return list{intProduct24}
	case "clmad":
		return list{carryless}
	case "sad":
		return list{intSad}
	case "rem":
		return list{intQuotient}
	case "div", "rcp", "sqrt":
		return list{intQuotient, floatArithmetic, approximate}
	case "rsqrt", "sin", "cos", "lg2", "ex2", "tanh":
		return list{approximate}
	case "abs", "neg":
		return list{intSign, floatSign}
	case "copysign":
		return list{floatSign}
	case "min", "max":
		return list{intExtreme, func(s *spec) *Op { return floatExtreme(s, 2) }}
	case "testp":
		return list{test}
	case "set":
		return list{set}
	case "setp":
		return list{setPredicate}
	case "selp":
		return list{selectByPredicate}
	case "slct":
		return list{selectBySign}
	case "mov":
		return list{move}
	case "cvt":
		return list{pack, convert, convertPacked}
	}
	return bitFamilies(head)
}

// bitFamilies returns the builders for bit operations.
func bitFamilies(head string) []func(s *spec) *Op {
	type list = []func(s *spec) *Op
	switch head {
	case "and", "or", "xor", "not", "cnot":
		return list{logic}
	case "popc", "clz", "brev":
		return list{bitCount}
	case "bfind":
		return list{bfind}
	case "fns":
		return list{fns}
	case "bfe":
		return list{bitField}
	case "bfi":
		return list{bitInsert}
	case "szext":
		return list{signZeroExtend}
	case "bmsk":
		return list{bitMask}
	case "dp4a", "dp2a":
		return list{dot}
	case "lop3":
		return list{lop3}
	case "shf":
		return list{funnel}
	case "shl", "shr":
		return list{shift}
	case "prmt":
		return list{permute}
	}
	return nil
}
