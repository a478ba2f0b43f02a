// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// access describes the memory effect of an op, to the extent that it restricts the order of ops.
type access uint8

const (
	untouched access = iota
	loads            // load from memory that is never stored to
	loadsGlobal
	loadsShared
	storesGlobal
	storesShared
	ordered // no access may be reordered across it
)

// memory returns how an instruction accesses memory.
func memory(in *ir.Instr) access {
	switch head := in.Kind().Head(); head {
	case isa.HeadLd, isa.HeadLdu, isa.HeadLdmatrix:
		switch {
		case in.HasMod(isa.ModVolatile, isa.ModAcquire, isa.ModMMIO):
			return ordered
		case in.HasMod(isa.ModParam, isa.ModConst, isa.ModNC):
			return loads
		case in.HasMod(isa.ModShared) || head == isa.HeadLdmatrix:
			return loadsShared
		}
		return loadsGlobal
	case isa.HeadTex, isa.HeadTld4, isa.HeadSuld:
		return loads
	case isa.HeadSt:
		switch {
		case in.HasMod(isa.ModVolatile, isa.ModRelease, isa.ModMMIO):
			return ordered
		case in.HasMod(isa.ModShared, isa.ModParam):
			return storesShared
		}
		return storesGlobal
	case isa.HeadStmatrix:
		return storesShared
	case isa.HeadAtom, isa.HeadRed:
		if in.HasMod(isa.ModShared) {
			return storesShared
		}
		return storesGlobal
	}
	if in.Has(isa.EffectPure) {
		return untouched
	}
	switch in.Kind() {
	case isa.KindShfl, isa.KindVote, isa.KindMatch, isa.KindRedux, isa.KindActivemask, isa.KindMma,
		isa.KindElect, isa.KindBra, isa.KindSetp, isa.KindMovmatrix:
		return untouched
	}
	return ordered
}

// locate finds the base and the offset of the address of a load or store.
func (s *words) locate(o *op) {
	o.base = noWord
	switch o.memory {
	case loadsGlobal, loadsShared, storesGlobal, storesShared:
	default:
		return
	}
	if h := o.in.Kind().Head(); h != isa.HeadLd && h != isa.HeadSt {
		return
	}
	for i := range o.in.Args {
		a := &o.in.Args[i]
		if a.Kind != ir.Address {
			if a.Kind == ir.Vector {
				o.size = int64(4 * len(a.Args()))
				if len(a.Args()) > 0 {
					if r, ok := s.of(a.Args()[0].Reg); ok {
						o.size = int64(4 * len(a.Args()) * int(s.width[r]))
					}
				}
			} else if r, ok := s.of(a.Reg); ok {
				o.size = int64(4 * s.width[r])
			}
			continue
		}
		if len(a.Args()) != 1 {
			continue
		}
		r, ok := s.of(a.Args()[0].Reg)
		if !ok {
			continue
		}
		o.offset = a.Args()[0].Value
		for s.from[r] >= 0 {
			o.offset += s.plus[r]
			r = int(s.from[r])
		}
		o.base = s.find(s.first[r])
	}
	o.size = max(o.size, 4)
	if o.in.HasMod(isa.ModU8, isa.ModS8, isa.ModB8) {
		o.size = 1
	}
}

// disjoint reports whether two accesses certainly touch different bytes.
func disjoint(a, b *op) bool {
	return a.base != noWord && a.base == b.base &&
		(a.offset+a.size <= b.offset || b.offset+b.size <= a.offset)
}

// takesOffset reports whether an instruction accepts address operands with an offset.
func takesOffset(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadLd, isa.HeadSt, isa.HeadAtom, isa.HeadRed, isa.HeadLdu, isa.HeadPrefetch,
		isa.HeadLdmatrix, isa.HeadStmatrix:
		return true
	case isa.HeadCp:
		return in.Kind() == isa.KindCpAsync && in.HasMod(isa.ModShared) && in.HasMod(isa.ModGlobal)
	}
	return false
}

// extraRegisters returns the number of extra registers of a memory access: constant addresses and
// constant values must be loaded into registers.
func (s *words) extraRegisters(in *ir.Instr) int {
	switch in.Kind().Head() {
	case isa.HeadLd, isa.HeadSt, isa.HeadAtom, isa.HeadRed:
	default:
		return 0
	}
	if in.HasMod(isa.ModParam, isa.ModConst) {
		return 0
	}
	n := 0
	from := 1
	if in.Kind().Head() == isa.HeadSt || in.Kind().Head() == isa.HeadRed {
		from = 0
	}
	for i := range in.Args {
		if i < from {
			continue
		}
		if s.target < threadAddresses && in.Args[i].Kind == ir.Address {
			continue
		}
		in.Args[i].Walk(func(o *ir.Operand) {
			switch o.Kind {
			case ir.Int, ir.Single, ir.Double, ir.Variable:
				if in.Args[i].Kind != ir.Address || in.HasMod(isa.ModGlobal) {
					n++
				}
			case ir.Register:
				if r, ok := s.of(o.Reg); ok && !(s.literal[r] && in.Args[i].Kind == ir.Address) {
					for j := range word(s.width[r]) {
						if s.find(s.first[r]+j) == noWord {
							n++
						}
					}
				}
			}
		})
	}
	return n
}

// isExpanded reports whether ptxas expands an instruction into a long sequence with a subroutine
// for rare operands. ptxas does not reorder other instructions across such a sequence.
func isExpanded(in *ir.Instr) bool {
	switch in.Kind().Head() {
	case isa.HeadDiv, isa.HeadRem:
		return in.HasMod(isa.ModF64, isa.ModS64, isa.ModU64) || in.HasMod(isa.ModF32) &&
			!in.HasMod(isa.ModApprox) && in.Kind() != isa.KindDivFull
	case isa.HeadSqrt, isa.HeadRcp:
		return !in.HasMod(isa.ModApprox)
	}
	return false
}

// isDelayed reports whether an instruction reads its operands and writes its result some cycles
// after it was issued, on a target with the given number. Such instructions are memory accesses,
// and instructions of units that warps share.
func isDelayed(in *ir.Instr, number int) bool {
	switch in.Kind().Head() {
	case isa.HeadEx2, isa.HeadLg2, isa.HeadSin, isa.HeadCos, isa.HeadTanh, isa.HeadRsqrt,
		isa.HeadRcp, isa.HeadSqrt, isa.HeadPopc, isa.HeadBfind, isa.HeadClz, isa.HeadBrev,
		isa.HeadShfl, isa.HeadRedux, isa.HeadMatch, isa.HeadMovmatrix:
		return true
	case isa.HeadCvt:
		to, of := types(in)
		switch {
		case isWholeWord(to) && isWholeWord(of):
			return false
		case !isWholeWord(to) && !isWholeWord(of):
			return to.Bits() == 64 || of.Bits() == 64
		}
		return number < quickFloats || isWholeWord(to) || to.Bits() != 32 || of.Bits() != 32
	}
	return memory(in) != untouched
}

// quickFloats is the number of the first target that converts 32-bit integers to floats without a
// unit that warps share: sm_90.
const quickFloats = 90

// cost returns the approximate number of temporary registers of an instruction and its latency in
// cycles. The registers of slow instructions were measured with ptxas one by one.
func cost(in *ir.Instr) (temps, latency int) {
	double := in.HasMod(isa.ModF64)
	switch head := in.Kind().Head(); head {
	case isa.HeadDiv, isa.HeadRem:
		switch {
		case double:
			return 15, 200
		case in.HasMod(isa.ModS64, isa.ModU64):
			if head == isa.HeadRem {
				return 9, 300
			}
			return 13, 300
		case in.HasMod(isa.ModF32) && isExpanded(in):
			return 9, 80
		case in.HasMod(isa.ModF32):
			return 1, 40
		}
		return 4, 60
	case isa.HeadSqrt, isa.HeadRcp, isa.HeadRsqrt:
		switch {
		case head == isa.HeadRsqrt && double:
			return 8, 120
		case double && head == isa.HeadRcp:
			return 6, 120
		case double:
			return 11, 120
		case head == isa.HeadRcp && isExpanded(in):
			return 7, 60
		case isExpanded(in):
			return 3, 60
		}
		return 0, 20
	case isa.HeadEx2, isa.HeadLg2, isa.HeadSin, isa.HeadCos, isa.HeadTanh:
		return 0, 20
	case isa.HeadLd, isa.HeadLdu:
		switch {
		case in.HasMod(isa.ModShared):
			return 0, 25
		case in.HasMod(isa.ModParam, isa.ModConst):
			return 0, 30
		}
		return 0, 300
	case isa.HeadAtom, isa.HeadTex, isa.HeadTld4, isa.HeadSuld, isa.HeadTxq:
		return 0, 300
	case isa.HeadShfl, isa.HeadVote, isa.HeadMatch, isa.HeadRedux, isa.HeadLdmatrix,
		isa.HeadActivemask:
		return 0, 25
	case isa.HeadMma, isa.HeadWmma:
		return 0, 30
	case isa.HeadMov:
		if special(in) {
			return 0, 25
		}
		return 0, 5
	case isa.HeadCall:
		return 0, 100
	}
	if double {
		return 0, 10
	}
	return 0, 5
}

// stall returns for how many cycles the scheduler waits for the result of an instruction: the
// latency of loads from shared, constant and parameter memory, and one cycle for other
// instructions.
func stall(in *ir.Instr) int {
	switch {
	case in.Kind() != isa.KindLd:
		return 1
	case in.HasMod(isa.ModParam, isa.ModConst):
		return 8
	case in.HasMod(isa.ModShared):
		return 25
	}
	return 1
}
