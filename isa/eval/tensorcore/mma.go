// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package tensorcore

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// An MMA is one mma, mma.sp or wmma.mma instruction with all its modifiers.
type MMA struct {
	M, N, K              int
	RegsD, RegsA         int // register counts of the operands
	RegsB, RegsC         int
	Sparse, Scaled       bool
	d, a, b, c, scale    *Element
	la, lb, lc, ld       Layout
	model                model
	arch                 Arch
	satfinite, and, bits bool
	// elements in a sparse chunk, and elements that share a metadata position
	chunk, together int
	factors         int // scale factors per row
	wmma, volta     bool
	aColumn, bRow   bool     // layouts of wmma and of m8n8k4
	round           *eval.Op // the f64 fused multiply-add
	nearest         bool     // rounded to nearest
}

// A Frame holds the operands of one instruction of a warp. Reuse it, because it holds the scratch
// space. D may alias C.
type Frame struct {
	A, B, C, D     [8]*eval.Vector
	Meta           *eval.Vector // metadata of mma.sp
	Selector       int
	ScaleA, ScaleB *eval.Vector // scale factors
	ByteA, ThreadA int
	ByteB, ThreadB int

	a, b, kept     panel
	places         []int32
	scaleA, scaleB [16][4]scale
	result         [32 * 32]uint64
}

// Of returns the operation of mma, mma.sp or wmma.mma with modifiers in the manual's order.
func Of(kind isa.Kind, mods []isa.Mod, arch Arch) (*MMA, error) {
	m := &MMA{arch: arch, wmma: kind == isa.KindWmmaMma}
	if kind != isa.KindMma && !m.wmma {
		return nil, fmt.Errorf("tensorcore: %s is not a warp matrix product", kind)
	}
	w := wordsOf(mods)
	m.M, m.N, m.K = w.m, w.n, w.k
	m.Sparse, m.Scaled, m.satfinite, m.and = w.sparse, w.scaled, w.satfinite, w.and
	if len(w.layouts) == 2 {
		m.aColumn, m.bRow = w.layouts[0] == isa.ModCol, w.layouts[1] == isa.ModRow
	}
	types := w.types
	if m.wmma && len(types) == 2 { // wmma may give only the accumulators' types
		types = []*Element{types[0], F16, F16, types[1]}
	}
	if m.M == 0 || len(types) < 4 {
		return nil, fmt.Errorf("tensorcore: %s %v lacks a shape or types", kind, mods)
	}
	m.d, m.a, m.b, m.c = types[0], types[1], types[2], types[3]
	if m.Scaled {
		if len(types) < 5 {
			return nil, fmt.Errorf("tensorcore: %s %v lacks the type of its scale factors", kind,
				mods)
		}
		m.scale = types[4]
	}
	if err := m.settle(w.kind, w.factors, w.rounding); err != nil {
		return nil, fmt.Errorf("tensorcore: %s %v %w", kind, mods, err)
	}
	return m, nil
}

// A words holds the modifiers of a matrix product, sorted by meaning.
type words struct {
	m, n, k                        int
	types                          []*Element
	layouts                        []isa.Mod // isa.ModRow or isa.ModCol: of A, then of B
	sparse, scaled, satfinite, and bool
	kind, rounding                 isa.Mod
	factors                        int // scale factors per row, or 0 if not given
}

func wordsOf(mods []isa.Mod) *words {
	w := &words{}
	for _, mod := range mods {
		if e := elements[mod.Type()]; e != nil {
			w.types = append(w.types, e)
			continue
		}
		if m, n, k := mod.Shape(); m > 0 {
			w.m, w.n, w.k = m, n, k
			continue
		}
		switch mod {
		case isa.ModSp, isa.ModSpOrderedMetadata:
			w.sparse = true
		case isa.ModBlockScale:
			w.scaled = true
		case isa.ModSatFinite:
			w.satfinite = true
		case isa.ModAnd:
			w.and = true
		case isa.ModRow, isa.ModCol:
			w.layouts = append(w.layouts, mod)
		case isa.ModRN, isa.ModRZ, isa.ModRM, isa.ModRP:
			w.rounding = mod
		default:
			if kinds[mod] != nil {
				w.kind = mod
			}
			w.factors = max(w.factors, FactorsOf(mod))
		}
	}
	return w
}

// FactorsOf returns the number of scale factors per row that .scale_vec::1X, 2X or 4X gives, or 0
// for another modifier.
func FactorsOf(mod isa.Mod) int {
	switch mod {
	case isa.ModScaleVec1X:
		return 1
	case isa.ModScaleVec2X:
		return 2
	case isa.ModScaleVec4X:
		return 4
	}
	return 0
}

// settle sets the layouts, the register counts and the arithmetic model that follow from the
// modifiers.
func (m *MMA) settle(kind isa.Mod, factors int, how isa.Mod) error {
	packed := m.Scaled && (kind == isa.ModKindMxf4 || kind == isa.ModKindMxf4nvf4)
	bytes := kind != isa.NoMod && !packed
	m.bits = m.a == B1
	m.volta = !m.wmma && m.M == 8 && m.K == 4 && m.a == F16
	wa, ia := container(m.a, bytes)
	wb, ib := container(m.b, bytes)
	m.la = Layout{width: wa, rows: m.M, inset: ia}
	m.lb = Layout{width: wb, inset: ib}
	m.lc = Layout{width: 32, rows: m.M, half: m.c == F16}
	m.ld = Layout{width: 32, rows: m.M, half: m.d == F16}
	m.chunk, m.together = 4, 1
	switch {
	case m.a == TF32:
		m.chunk = 2
	case wa == 4:
		m.chunk, m.together = 8, 2
	}
	if m.Scaled {
		switch {
		case factors != 0:
			m.factors = factors
		case kind == isa.ModKindMxf8f6f4:
			m.factors = 1
		case kind == isa.ModKindMxf4:
			m.factors = 2
		default:
			return errors.New("does not say how many scale factors a row has")
		}
	}
	depth := m.K
	if m.Sparse {
		depth /= 2
	}
	m.model = warpModel(m.arch, m.a, depth)
	if m.wmma && m.a == TF32 && m.arch == Hopper {
		m.model.steps = 2 // an H100 adds four products at a time
	}
	if kind != isa.NoMod {
		m.model.widened = false // sm_120a has native fp8 instructions
	}
	if packed {
		m.model = fourBitModel(m.arch)
	}
	m.countRegisters(depth)
	if m.a == F64 {
		if how == isa.NoMod {
			how = isa.ModRN
		}
		m.nearest = how == isa.ModRN
		op, err := eval.Of(isa.KindFma, []isa.Mod{how, isa.ModF64})
		if err != nil {
			return err
		}
		m.round = op
	}
	if max(m.RegsA, m.RegsB, m.RegsC, m.RegsD) > 8 || m.M*m.N > len(Frame{}.result) {
		return errors.New("is too large")
	}
	return nil
}

// countRegisters sets the register counts of all operands.
func (m *MMA) countRegisters(depth int) {
	count := func(elements, width int) int { return max(elements*min(width, 32)/(32*32), 1) }
	m.RegsA = count(m.M*depth, m.la.width)
	m.RegsB = count(m.N*m.K, m.lb.width)
	m.RegsC, m.RegsD = m.M*m.N/32, m.M*m.N/32
	if m.wmma {
		m.RegsA, m.RegsB = m.wmmaRegisters(m.M, m.a), m.wmmaRegisters(m.N, m.b)
	}
	if m.volta {
		m.RegsA, m.RegsB, m.RegsC, m.RegsD = 2, 2, 8, 8
	}
	if m.c == F16 {
		m.RegsC /= 2
	}
	if m.d == F16 {
		m.RegsD /= 2
	}
}

// LayoutA returns the layout of A, whose method A returns the location of each element.
func (m *MMA) LayoutA() Layout { return m.la }

// LayoutB returns the layout of B.
func (m *MMA) LayoutB() Layout { return m.lb }

// LayoutC returns the layout of C.
func (m *MMA) LayoutC() Layout { return m.lc }

// LayoutD returns the layout of D.
func (m *MMA) LayoutD() Layout { return m.ld }

// Run computes D for one warp.
func (m *MMA) Run(f *Frame) {
	switch {
	case m.volta:
		m.runVolta(f)
		return
	case m.wmma:
		m.loadWMMA(f)
	case m.bits:
		m.runBits(f)
		return
	default:
		m.load(f)
	}
	if m.Scaled {
		m.loadScales(f)
	}
	if m.Sparse {
		m.choose(f)
	}
	m.multiply(f)
}

// load decodes the fragments of A and B.
func (m *MMA) load(f *Frame) {
	depth := m.K
	if m.Sparse {
		depth /= 2
	}
	f.a.resize(m.M, depth, m.a.Integer)
	f.b.resize(m.N, m.K, m.b.Integer)
	n := m.la.per()
	for reg := range m.RegsA {
		high, at := 0, reg
		if m.M == 16 {
			high, at = reg&1*8, reg>>1
		}
		unpack(m.a, m.la, f.A[reg], &f.a, high, at*4*n)
	}
	n = m.lb.per()
	for reg := range m.RegsB {
		unpack(m.b, m.lb, f.B[reg], &f.b, 0, reg*4*n)
	}
}

// unpack decodes one register of a warp into rows from first on, and in each row the elements from
// k on.
func unpack(e *Element, l Layout, x *eval.Vector, to *panel, first, k int) {
	n, width, inset := l.per(), l.width, l.inset
	for lane, word := range x {
		row, at := first+lane/4, k+lane%4*n
		switch {
		case e == BF16:
			i := row*to.depth + at
			to.value[i], to.exponent[i] = splitSingle(uint32(word) << 16)
			to.value[i+1], to.exponent[i+1] = splitSingle(uint32(word) &^ 0xffff)
			if to.exponent[i] == special || to.exponent[i+1] == special {
				to.special[row] = true
			}
		case width >= 32:
			to.set(e, row, at, word)
		default:
			word >>= inset
			for j := range n {
				to.set(e, row, at+j, word&(1<<e.Bits-1))
				word >>= width
			}
		}
	}
}

// multiply computes every element of D.
func (m *MMA) multiply(f *Frame) {
	b, width := &f.b, m.N
	for row := range m.M {
		if m.Sparse {
			places := f.places[row*f.a.depth:][:f.a.depth]
			f.kept.gather(&f.b, places, m.N, m.b.Integer)
			b = &f.kept
		}
		for col := range m.N {
			f.result[row*width+col] = m.element(f, b, row, col)
		}
	}
	for row := range m.M {
		for col := range m.N {
			m.store(f, row, col, f.result[row*width+col])
		}
	}
}

// gather copies the elements at the given positions of every row. Infinities and NaN at other
// positions are ignored.
func (p *panel) gather(from *panel, places []int32, rows int, integers bool) {
	n := len(places)
	p.resize(rows, n, integers)
	for row := range rows {
		for i, at := range places {
			if integers {
				p.integer[row*n+i] = from.integer[row*from.depth+int(at)]
				continue
			}
			p.value[row*n+i] = from.value[row*from.depth+int(at)]
			p.exponent[row*n+i] = from.exponent[row*from.depth+int(at)]
			if p.exponent[row*n+i] == special {
				p.special[row] = true
			}
		}
	}
}

// element computes one element of D.
func (m *MMA) element(f *Frame, b *panel, row, col int) uint64 {
	c := m.accumulator(f, row, col)
	n := f.a.depth
	switch {
	case m.a.Integer:
		return m.integer(f.a.integer[row*n:][:n], b.integer[col*n:][:n], c)
	case m.a == F64:
		return m.double(f.a.value[row*n:][:n], b.value[col*n:][:n], c)
	case m.model.group > 0:
		av, bv := f.a.value[row*n:][:n], b.value[col*n:][:n]
		return m.model.scaledGroups(av, bv, f.scaleA[row][:m.factors], f.scaleB[col][:m.factors], c)
	}
	switch {
	case m.c == F32 && m.d == F16: // added in f32, then rounded to f16
		return convertAccumulator(F32, F16, m.model.dot(&f.a, b, row, col, F32, c))
	case m.c != m.d:
		c = convertAccumulator(m.c, m.d, c)
	}
	return m.model.dot(&f.a, b, row, col, m.d, c)
}

func convertAccumulator(from, to *Element, c uint64) uint64 {
	x, _ := from.decode(c)
	return round(to, x)
}

// accumulator returns the code of element (row, col) of C.
func (m *MMA) accumulator(f *Frame, row, col int) uint64 {
	p := m.lc.C(row, col)
	if m.wmma {
		p = m.wmmaPlace(m.lc.half, row, col)
	}
	x := f.C[p.Register][p.Lane] >> p.Bit
	if m.lc.half {
		return x & 0xffff
	}
	return x
}

// store writes element (row, col) of D. Of two f16 elements in one register, the lower must be
// stored first: storing the upper one keeps it.
func (m *MMA) store(f *Frame, row, col int, x uint64) {
	p := m.ld.C(row, col)
	if m.wmma {
		p = m.wmmaPlace(m.ld.half, row, col)
	}
	if p.Bit != 0 {
		x = f.D[p.Register][p.Lane]&0xffff | x<<p.Bit
	}
	f.D[p.Register][p.Lane] = x
}
