// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package value

// An Op specifies how an atom is computed: from its operands, or from a source outside the
// registers.
type Op uint8

// Operations of atoms.
const (
	NoOp  Op = iota
	OpMul    // low half of a product
	OpShl
	OpShr // logical shift
	OpSar // arithmetic shift
	OpAnd
	OpOr
	OpXor
	OpDiv // unsigned, like OpRem, OpMin and OpMax
	OpRem
	OpSDiv // signed, like OpSRem, OpSMin and OpSMax
	OpSRem
	OpMin
	OpMax
	OpSMin
	OpSMax
	OpAdd // used only by methods of Pool; a sum is not an atom
	OpEq  // comparison; only OpEq and OpLt occur in atoms
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpSelect    // one of two operands, selected by a predicate
	OpShfl      // the value in another lane
	OpCvt       // a wider value, zero extended
	OpSCvt      // a wider value, sign extended
	OpSpecial   // a special register that distinguishes threads
	OpElect     // whether the lane is elected
	OpVariable  // the address of a variable
	OpParameter // a parameter of the kernel
	OpLoad      // a value from memory
	OpRegister  // a register whose value is not computed here, or a special register
	OpDone      // whether a wait succeeded
	OpMapa      // an address in another block of the cluster
	OpPart      // a part of a register
	OpPack      // a register that consists of parts
	OpVote      // result of a vote of a warp
	OpExchange  // result of an exchange between lanes
	OpResult    // result of any other instruction
	OpAfter     // a register after a loop
	OpLane      // the value of one lane
	OpClock     // a clock value
	OpSince     // difference of clock values
	OpUnknown
	OpLeader // index of the elected lane
)

// opNames holds the name of each operation.
var opNames = [...]string{"", "mul", "shl", "shr", "sar", "and", "or", "xor", "div", "rem", "sdiv",
	"srem", "min", "max", "smin", "smax", "add", "eq", "ne", "lt", "le", "gt", "ge", "select",
	"shfl", "cvt", "scvt", "special", "elect", "variable", "parameter", "load", "register", "done",
	"mapa", "part", "pack", "vote", "exchange", "op", "after", "lane", "clock", "since", "unknown",
	"leader"}

// String returns the name of o in lower case.
func (o Op) String() string {
	if int(o) >= len(opNames) {
		return ""
	}
	return opNames[o]
}
