// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// copies finds instructions whose results need no registers of their own, and marks them in skip:
// moves between registers that are written once, width conversions, packing and unpacking,
// constants, and addresses of variables and kernel parameters.
func (s *words) copies(skip map[*ir.Instr]bool) {
	for _, b := range s.f.Blocks {
		for _, in := range b.Instrs {
			if in.Guard.Reg == nil && len(in.Args) >= 2 && s.copied(in) {
				skip[in] = true
			}
		}
	}
}

func (s *words) copied(in *ir.Instr) bool {
	d, from := &in.Args[0], &in.Args[1]
	if s.known(in) {
		return true
	}
	switch in.Kind().Head() {
	case isa.HeadMov:
		if d.Kind == ir.Vector || from.Kind == ir.Vector {
			return s.packed(d, from)
		}
		return s.moved(d, from)
	case isa.HeadCvta:
		// Generic and global addresses are equal. Of a shared address, the lower half is equal.
		switch {
		case in.HasMod(isa.ModGlobal, isa.ModParam, isa.ModConst):
			return s.moved(d, from)
		case in.Kind() == isa.KindCvtaTo && in.HasMod(isa.ModShared):
			return s.moved(d, from)
		}
	case isa.HeadCvt:
		return s.converted(in, d, from)
	case isa.HeadShr:
		return s.upper(in, d, from)
	case isa.HeadLd:
		// Most instructions can read constants and kernel parameters from the constant bank.
		return (s.f.Kernel && in.HasMod(isa.ModParam) || in.HasMod(isa.ModConst)) &&
			s.isKnownAddress(from) && !s.mustHoldConstant(d) && s.constant(d)
	}
	return false
}

// known reports whether ptxas evaluates an instruction at compile time, because its operands are
// constants or addresses of shared and local variables. It then marks the result as constant.
func (s *words) known(in *ir.Instr) bool {
	if !in.Has(isa.EffectPure) || in.Has(isa.EffectConvergent) {
		return false
	}
	d, ok := s.once(&in.Args[0])
	if !ok {
		return false
	}
	for i := range in.Args[1:] {
		switch o := &in.Args[1+i]; o.Kind {
		case ir.Int, ir.Single, ir.Double, ir.Function:
		case ir.Variable:
			if v := o.Var(); v != nil && v.Space != isa.Shared && v.Space != isa.Local {
				return false
			}
		case ir.Register:
			if r, ok := s.once(o); !ok || !s.literal[r] {
				return false
			}
		default:
			return false
		}
	}
	if s.f.Regs[d].Type == isa.Predicate {
		return false
	}
	s.literal[d] = true
	return s.constant(&in.Args[0])
}

// isKnownAddress reports whether an address is known before the kernel runs.
func (s *words) isKnownAddress(o *ir.Operand) bool {
	if o.Kind != ir.Address || len(o.Args()) != 1 {
		return false
	}
	if v := o.Args()[0].Var(); v != nil {
		return v.Space == isa.Const || slices.Contains(s.f.Params, v)
	}
	r, ok := s.of(o.Args()[0].Reg)
	return ok && s.writes[r] == 1 && s.find(s.first[r]) == noWord
}

// constant marks all words of an operand, which may be a vector, as constants.
func (s *words) constant(d *ir.Operand) bool {
	if d.Kind == ir.Vector {
		for i := range d.Args() {
			if _, ok := s.once(&d.Args()[i]); !ok && d.Args()[i].Kind != ir.Sink {
				return false
			}
		}
		for i := range d.Args() {
			s.constant(&d.Args()[i])
		}
		return true
	}
	i, ok := s.once(d)
	if !ok {
		return d.Kind == ir.Sink
	}
	for j := range word(s.width[i]) {
		s.alias[s.first[i]+j] = noWord
	}
	return true
}

// moved records that register d is a copy of an operand. It returns false if d needs a register of
// its own.
func (s *words) moved(d, from *ir.Operand) bool {
	switch from.Kind {
	case ir.Int, ir.Single, ir.Double, ir.Function:
		return s.constant(d)
	case ir.Variable:
		if v := from.Var(); v == nil || v.Space == isa.Shared || v.Space == isa.Local {
			return s.constant(d)
		}
		return !s.mustHoldConstant(d) && s.constant(d)
	case ir.Special:
		if strings.HasPrefix(from.Text(), "%ntid") || strings.HasPrefix(from.Text(), "%nctaid") ||
			from.Text() == "WARP_SZ" || strings.HasPrefix(from.Text(), "%dynamic_smem") {
			return s.constant(d)
		}
		return false
	}
	i, ok := s.once(d)
	j, also := s.once(from)
	if !ok || !also || s.width[i] != s.width[j] {
		return false
	}
	for n := range word(s.width[i]) {
		if !s.copyWord(s.first[i]+n, s.first[j]+n) {
			return false
		}
	}
	s.literal[i] = s.literal[j]
	return true
}

// packed handles mov.b64 {a,b}, c and mov.b64 c, {a,b} whose elements are words. Reading half of a
// word needs no instruction; combining two halves into a word needs one.
func (s *words) packed(d, from *ir.Operand) bool {
	if from.Kind == ir.Vector && d.Kind == ir.Register {
		i, ok := s.once(d)
		if !ok || len(from.Args()) != int(s.width[i]) {
			return false
		}
		for n := range from.Args() {
			if _, ok := s.once(&from.Args()[n]); !ok && from.Args()[n].Kind != ir.Int {
				return false
			}
		}
		for n := range from.Args() {
			to := s.first[i] + word(n)
			if j, ok := s.once(&from.Args()[n]); ok {
				s.copyWord(to, s.first[j])
			} else {
				s.alias[to] = noWord
			}
		}
		return true
	}
	if d.Kind != ir.Vector || from.Kind != ir.Register {
		return false
	}
	j, ok := s.once(from)
	if !ok {
		return false
	}
	for n := range d.Args() {
		if _, ok := s.once(&d.Args()[n]); !ok && d.Args()[n].Kind != ir.Sink {
			return false
		}
	}
	per := max(1, len(d.Args())/int(s.width[j]))
	for n := range d.Args() {
		if i, ok := s.once(&d.Args()[n]); ok && n/per < int(s.width[j]) {
			s.copyWord(s.first[i], s.first[j]+word(n/per))
		}
	}
	return true
}

// converted handles conversions between 32-bit and 64-bit integers.
func (s *words) converted(in *ir.Instr, d, from *ir.Operand) bool {
	i, ok := s.once(d)
	j, also := s.once(from)
	if !ok || !also {
		return false
	}
	to, of := types(in)
	wide := to.Bits() == 64 && of.Bits() == 32
	switch {
	case !isWholeWord(to) || !isWholeWord(of):
		return false
	case wide &&
		(of.Class() == isa.Unsigned || to.Class() == isa.Unsigned && of.Class() == isa.Bits):
		if !s.copyWord(s.first[i], s.first[j]) {
			return false
		}
		s.alias[s.first[i]+1] = noWord
		return true
	case wide && signExtends(in):
		// The lower half is unchanged. Before sm_120, 64-bit additions compute the upper half
		// themselves.
		if !s.copyWord(s.first[i], s.first[j]) {
			return false
		}
		if !pairSums(s.target) && s.reads[i] == s.summed[i] {
			s.alias[s.first[i]+1] = noWord
			return true
		}
		s.low[s.first[i]+1] = s.find(s.first[j])
		return false
	case to.Bits() == 32 && of.Bits() >= 32, to.Bits() == 64 && of.Bits() == 64:
		for n := range word(min(s.width[i], s.width[j])) {
			s.copyWord(s.first[i]+n, s.first[j]+n)
		}
		return s.width[i] <= s.width[j]
	}
	return false
}

// upper handles a 64-bit right shift by 32, whose result is the upper word.
func (s *words) upper(in *ir.Instr, d, from *ir.Operand) bool {
	if len(in.Args) < 3 || in.Args[2].Kind != ir.Int || in.Args[2].Value != 32 ||
		in.HasMod(isa.ModS64) {
		return false
	}
	i, ok := s.once(d)
	j, also := s.once(from)
	if !ok || !also || s.width[i] != 2 || s.width[j] != 2 || !s.copyWord(s.first[i], s.first[j]+1) {
		return false
	}
	s.alias[s.first[i]+1] = noWord
	return true
}

// signExtends reports whether in is cvt.s64.s32.
func signExtends(in *ir.Instr) bool { return in.Is(isa.KindCvt, isa.ModS64, isa.ModS32) }

// types returns the last two types of an instruction: for cvt, the result type and the source type.
func types(in *ir.Instr) (to, of isa.Type) {
	for _, m := range in.Mods() {
		if t := m.Type(); t != 0 {
			to, of = of, t
		}
	}
	return to, of
}

// isWholeWord reports whether t is an integer type with the width of one or two registers.
func isWholeWord(t isa.Type) bool {
	switch t.Class() {
	case isa.Signed, isa.Unsigned:
		return true
	case isa.Bits:
		return t != isa.B16
	}
	return false
}
