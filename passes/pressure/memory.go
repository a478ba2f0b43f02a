// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
)

// access describes the memory effect of an op, as far as the order of ops depends on it.
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

// memory returns the memory effect of an instruction.
func memory(in *ir.Instr) access {
	switch head := in.Head(); head {
	case "ld", "ldu", "ldmatrix":
		switch {
		case in.Mod("volatile") || in.Mod("acquire") || in.Mod("mmio"):
			return ordered
		case in.Mod("param") || in.Mod("const") || in.Mod("nc"):
			return loads
		case in.Mod("shared") || strings.HasPrefix(head, "ldm"):
			return loadsShared
		}
		return loadsGlobal
	case "tex", "tld4", "suld":
		return loads
	case "st":
		switch {
		case in.Mod("volatile") || in.Mod("release") || in.Mod("mmio"):
			return ordered
		case in.Mod("shared") || in.Mod("param"):
			return storesShared
		}
		return storesGlobal
	case "stmatrix":
		return storesShared
	case "atom", "red":
		if in.Mod("shared") {
			return storesShared
		}
		return storesGlobal
	}
	if in.Has("pure") {
		return untouched
	}
	switch in.Head() {
	case "shfl", "vote", "match", "redux", "activemask", "mma", "elect", "bra", "setp", "movmatrix":
		return untouched
	}
	return ordered
}

// locate finds the base and offset of the address of a load or store.
func (s *words) locate(o *op) {
	o.base = nothing
	switch o.memory {
	case loadsGlobal, loadsShared, storesGlobal, storesShared:
	default:
		return
	}
	if h := o.in.Head(); h != "ld" && h != "st" {
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
	if o.in.Mod("u8") || o.in.Mod("s8") || o.in.Mod("b8") {
		o.size = 1
	}
}

// apart reports whether two accesses touch disjoint bytes.
func apart(a, b *op) bool {
	return a.base != nothing && a.base == b.base && (a.offset+a.size <= b.offset || b.offset+b.size <= a.offset)
}

// plain reports whether an instruction accepts address operands with an offset.
func plain(in *ir.Instr) bool {
	switch in.Head() {
	case "ld", "st", "atom", "red", "ldu", "prefetch", "ldmatrix", "stmatrix":
		return true
	case "cp":
		return in.Mod("async") && in.Mod("shared") && in.Mod("global") && !in.Mod("bulk")
	}
	return false
}

// held returns the number of extra registers that a memory access needs: constant addresses and
// constant values must be loaded into registers.
func (s *words) held(in *ir.Instr) int {
	switch in.Head() {
	case "ld", "st", "atom", "red":
	default:
		return 0
	}
	if in.Mod("param") || in.Mod("const") {
		return 0
	}
	n := 0
	from := 1
	if in.Head() == "st" || in.Head() == "red" {
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
				if in.Args[i].Kind != ir.Address || in.Mod("global") {
					n++
				}
			case ir.Register:
				if r, ok := s.of(o.Reg); ok && !(s.literal[r] && in.Args[i].Kind == ir.Address) {
					for j := range word(s.width[r]) {
						if s.find(s.first[r]+j) == nothing {
							n++
						}
					}
				}
			}
		})
	}
	return n
}

// slow reports whether ptxas expands an instruction into many, with a subroutine for rare operands.
// Nothing is reordered across such an instruction.
func slow(in *ir.Instr) bool {
	switch in.Head() {
	case "div", "rem":
		return in.Mod("f64") || in.Mod("s64") || in.Mod("u64") || in.Mod("f32") && !in.Mod("approx") && !in.Mod("full")
	case "sqrt", "rcp":
		return !in.Mod("approx")
	}
	return false
}

// slowly reports whether an instruction reads its operands and writes its result some time after it
// was issued, on a target with this number: memory accesses, and instructions of units that warps
// share.
func slowly(in *ir.Instr, number int) bool {
	switch in.Head() {
	case "ex2", "lg2", "sin", "cos", "tanh", "rsqrt", "rcp", "sqrt", "popc", "bfind", "clz", "brev", "shfl", "redux", "match", "movmatrix":
		return true
	case "cvt":
		to, of := types(in)
		switch {
		case whole(to) && whole(of):
			return false
		case !whole(to) && !whole(of):
			return bits(to) == 64 || bits(of) == 64
		}
		return number < quickFloats || whole(to) || bits(to) != 32 || bits(of) != 32
	}
	return memory(in) != untouched
}

// quickFloats is the first target that converts 32-bit integers to floats without a shared unit.
const quickFloats = 90

// cost returns the approximate number of temporary registers of an instruction and its latency in
// cycles. The registers of slow instructions were measured with ptxas one by one.
func cost(in *ir.Instr) (temps, latency int) {
	double := in.Mod("f64")
	switch head := in.Head(); head {
	case "div", "rem":
		switch {
		case double:
			return 15, 200
		case in.Mod("s64") || in.Mod("u64"):
			if head == "rem" {
				return 9, 300
			}
			return 13, 300
		case in.Mod("f32") && slow(in):
			return 9, 80
		case in.Mod("f32"):
			return 1, 40
		}
		return 4, 60
	case "sqrt", "rcp", "rsqrt":
		switch {
		case head == "rsqrt" && double:
			return 8, 120
		case double && head == "rcp":
			return 6, 120
		case double:
			return 11, 120
		case head == "rcp" && slow(in):
			return 7, 60
		case slow(in):
			return 3, 60
		}
		return 0, 20
	case "ex2", "lg2", "sin", "cos", "tanh":
		return 0, 20
	case "ld", "ldu":
		switch {
		case in.Mod("shared"):
			return 0, 25
		case in.Mod("param") || in.Mod("const"):
			return 0, 30
		}
		return 0, 300
	case "atom", "tex", "tld4", "suld", "txq":
		return 0, 300
	case "shfl", "vote", "match", "redux", "ldmatrix", "activemask":
		return 0, 25
	case "mma", "wmma":
		return 0, 30
	case "mov":
		if special(in) {
			return 0, 25
		}
		return 0, 5
	case "call":
		return 0, 100
	}
	if double {
		return 0, 10
	}
	return 0, 5
}

// stall returns for how many cycles the scheduler waits for the result of an instruction: the
// latency of loads from shared, constant and parameter memory, and one cycle for the others.
func stall(in *ir.Instr) int {
	switch {
	case in.Head() != "ld":
		return 1
	case in.Mod("param") || in.Mod("const"):
		return 8
	case in.Mod("shared"):
		return 25
	}
	return 1
}
