// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// variable returns the address of a variable.
func (w *walk) variable(v *ir.Var) *value.Value {
	a := w.pool.Atom(64, value.OpVariable, v.Space.String()+" "+v.Name, v, value.Block)
	zeros := 0
	for n := v.Alignment(); n > 1 && n&1 == 0; n >>= 1 {
		zeros++
	}
	a.Single().Zeros = zeros
	return a
}

// special returns the value of a special register.
func (w *walk) special(s *state, name string) *value.Value {
	width := 32
	if strings.HasSuffix(name, "64") || name == "%gridid" || name == "%globaltimer" {
		width = 64
	}
	if isClock(name) {
		return w.readClock(s, name, width)
	}
	if v := w.pool.Special(name, width); v != nil {
		return v
	}
	level := value.Block
	if strings.HasPrefix(name, "%lanemask") {
		level = value.Lane
	}
	if v := w.clusterSpecial(name, width); v != nil {
		return v
	}
	size := w.k.gridBlocks(name)
	switch {
	case size > 0 && strings.HasPrefix(name, "%nctaid"):
		return w.pool.Const(width, size)
	case size == 1:
		return w.pool.Const(width, 0)
	}
	v := w.pool.Atom(width, value.OpRegister, name, nil, level)
	if n := w.substitute(v); n != v {
		return n
	}
	high := maxIndex(name)
	if size > 1 {
		high = size - 1
	}
	if high > 0 {
		a := v.Single()
		a.Bounded, a.Low, a.High = true, 0, high
	}
	if n := maxExtent(name); n > 0 {
		// The lower bound is 0, not 1. A loop over the tiles of a block, with the grid size as
		// its stride, is analyzed for one iteration and for many iterations. The latter also
		// represent two iterations, and must remain compatible with one iteration in another
		// warp.
		a := v.Single()
		a.Bounded, a.Low, a.High = true, 0, n
	}
	if name == "%cluster_ctarank" && w.k.Cluster > 0 {
		a := v.Single()
		a.Bounded, a.Low, a.High = true, 0, int64(w.k.Cluster-1)
	}
	return v
}

// clusterSpecial returns the value of a special register that describes the cluster, or nil if the
// value is unknown. Grids consist of whole clusters, so a block index is derived from the cluster
// index and the block's rank.
func (w *walk) clusterSpecial(name string, width int) *value.Value {
	if w.k.Cluster == 0 {
		return nil
	}
	first, axis, _ := strings.Cut(name, ".")
	n := 0
	switch axis {
	case "x", "y", "z":
		n = int(axis[0] - 'x')
	}
	size, own := w.k.extent[n], w.k.positionInCluster(w.rank)[n]
	known := w.k.Ranks > 1 || size == 1
	switch {
	case first == "%cluster_nctarank":
		return w.pool.Const(width, int64(w.k.Cluster))
	case first == "%cluster_nctaid":
		return w.pool.Const(width, int64(size))
	case first == "%cluster_ctarank" && (w.k.Ranks > 1 || w.k.Cluster == 1):
		return w.pool.Const(width, int64(w.rank))
	case first == "%cluster_ctaid" && known:
		return w.pool.Const(width, int64(own))
	case first == "%ctaid" && known && size > 1:
		of := w.special(nil, "%clusterid."+axis)
		return w.pool.Add(width, w.pool.Scale(width, of, int64(size)),
			w.pool.Const(width, int64(own)))
	case first == "%nctaid" && known && size > 1:
		return w.pool.Scale(width, w.special(nil, "%nclusterid."+axis), int64(size))
	}
	return nil
}

// gridBlocks returns the number of blocks of the grid along the axis of %ctaid or %nctaid, or 0 if
// the number is unknown.
func (k *Kernel) gridBlocks(name string) int64 {
	first, axis, _ := strings.Cut(name, ".")
	if first != "%ctaid" && first != "%nctaid" || axis == "" {
		return 0
	}
	return int64(k.Grid[axis[0]-'x'])
}

// maxIndex returns the assumed largest index of a block or cluster in the grid along an axis, or
// 0 for other registers. Values computed from such an index are assumed not to overflow.
func maxIndex(name string) int64 {
	switch name {
	case "%ctaid.x", "%clusterid.x":
		return 1 << 20
	case "%ctaid.y", "%ctaid.z", "%clusterid.y", "%clusterid.z":
		return 1<<16 - 1
	}
	return 0
}

// maxExtent returns the assumed largest number of blocks or clusters of the grid along an axis, or
// 0 for other registers.
func maxExtent(name string) int64 {
	first, axis, _ := strings.Cut(name, ".")
	switch first {
	case "%nctaid":
		return maxIndex("%ctaid."+axis) + 1
	case "%nclusterid":
		return maxIndex("%clusterid."+axis) + 1
	}
	return 0
}

// isClock reports whether a special register has a new value at each read.
func isClock(name string) bool {
	return strings.HasPrefix(name, "%clock") || strings.HasPrefix(name, "%globaltimer") ||
		strings.HasPrefix(name, "%pm")
}

// readClock returns the value of a clock register. A 64-bit clock has advanced since the previous
// read. To bound the size of sums, the value is occasionally replaced by a new unknown value.
func (w *walk) readClock(s *state, name string, width int) *value.Value {
	const reads = 32
	n := name + "#" + strconv.Itoa(s.skipped)
	s.skipped++
	before := s.clocks.at(name)
	if width < 64 || before == nil || len(before.Terms) > reads {
		v := w.pool.Atom(width, value.OpClock, n, nil, value.Lane)
		s.clocks.set(name, v)
		return v
	}
	since := w.pool.Atom(width, value.OpSince, n, nil, value.Lane)
	a := since.Single()
	a.Bounded, a.Low, a.High = true, 0, noBound
	v := w.pool.Add(width, before, since)
	s.clocks.set(name, v)
	return v
}

// newUnknown returns a new unknown value.
func (w *walk) newUnknown(s *state, in *ir.Instr, width int) *value.Value {
	name := "?" + strconv.Itoa(s.skipped)
	s.skipped++
	if in != nil {
		name = strconv.Itoa(int(in.Pos)) + "#" + strconv.Itoa(s.countExecution(in))
	}
	return w.pool.Atom(width, value.OpUnknown, name, in, value.Lane)
}

// load evaluates a load whose result is the same for all equal loads: from a kernel parameter, or
// from memory that is not polled. It returns false for other loads.
func (w *walk) load(s *state, st *step) bool {
	in := st.in
	if st.polled || len(in.Args) < 2 {
		return false
	}
	parts := in.Args[:1]
	switch in.Args[0].Kind {
	case ir.Register:
	case ir.Vector:
		parts = in.Args[0].Args()
	default:
		return false
	}
	at := w.operand(s, &in.Args[1], 64)
	if !isUnchanging(st.space) {
		s.countExecution(in)
	}
	for i := range parts {
		from := w.pool.Add(at.Width, at, w.pool.Const(at.Width, int64(i*st.width/8)))
		w.setOperand(s, st, &parts[i], w.substitute(w.loadedValue(s, st, from)))
	}
	return true
}

// loadedValue returns the value loaded from address from.
func (w *walk) loadedValue(s *state, st *step, from *value.Value) *value.Value {
	level := value.Block
	switch st.space.Base() {
	case isa.Param:
		if v, at := w.splitParameter(from); v != nil {
			return w.pool.Atom(st.width, value.OpParameter, v.Name+"+"+strconv.FormatInt(at, 10),
				nil, level)
		}
		if !w.isInParameter(from) {
			level = value.Lane // the result of a call, which each thread writes
		}
	case isa.Local:
		level = value.Lane
	}
	name := spaceName(st.space)
	if st.space != isa.Global && st.space != isa.Const {
		name += strconv.Itoa(int(st.in.Pos)) + "#" + strconv.Itoa(s.times.at(st.in))
	}
	return w.pool.Atom(st.width, value.OpLoad, name, st.space, level, from)
}

// isInParameter reports whether an address is based on a kernel parameter.
func (w *walk) isInParameter(v *value.Value) bool {
	return slices.ContainsFunc(v.Terms, func(t value.Term) bool {
		p, ok := t.Atom.Ref.(*ir.Var)
		return ok && t.Atom.Op == value.OpVariable && w.params[p]
	})
}

// splitParameter returns the kernel parameter that contains an address, and the offset in the
// parameter. It returns nil for other addresses.
func (w *walk) splitParameter(v *value.Value) (in *ir.Var, at int64) {
	if len(v.Terms) != 1 || v.Terms[0].Factor != 1 || v.Terms[0].Atom.Op != value.OpVariable {
		return nil, 0
	}
	if p, ok := v.Terms[0].Atom.Ref.(*ir.Var); ok && w.params[p] {
		return p, v.K
	}
	return nil, 0
}

// elect evaluates elect.sync.
func (w *walk) elect(s *state, st *step) bool {
	if to := &st.in.Args[0]; to.Kind == ir.Pair {
		w.setOperand(s, st, &to.Args()[1], w.pool.Elected())
		w.setOperand(s, st, &to.Args()[0], w.pool.Atom(32, value.OpLeader, "", nil, value.Warp))
	}
	return true
}

// opaque evaluates any other instruction. A pure instruction gives the same result for the same
// operands. Other instructions give a new unknown value.
func (w *walk) opaque(s *state, st *step) {
	in := st.in
	name := in.Op
	level := value.Constant
	var args []*value.Value
	if in.Has(isa.EffectPure) {
		for i := range in.Args {
			if in.Form != nil && i < len(in.Form.Args) && in.Form.Args[i].Access != 0 {
				continue
			}
			switch o := &in.Args[i]; o.Kind {
			case ir.Register, ir.Int, ir.Variable, ir.Special:
				args = append(args, w.operand(s, o, 64))
			case ir.Single, ir.Double:
				args = append(args, w.pool.Const(64, o.Value))
			default:
				level = value.Lane
				name = ""
			}
		}
	} else {
		name = ""
		level = value.Lane
		switch kind := Of(in); {
		case kind == BarrierSync: // a reduction, whose result is the same in all threads
			level = value.Block
		case kind == Collective && in.Kind() != isa.KindShfl && in.Kind() != isa.KindMatch:
			level = value.Warp
		}
	}
	if name == "" {
		times := s.countExecution(in)
		if len(args) == 0 {
			w.unknownResults(s, st, times, level)
			return
		}
		name = executionName(in, times)
	}
	eachResult(in, func(n int, o *ir.Operand) {
		if w.at(o.Reg) >= 0 { // otherwise it is unused
			v := w.pool.Atom(bitsOf(o.Reg), value.OpResult, name+"/"+strconv.Itoa(n), in, level,
				args...)
			if readsAnswer(in) {
				value.Answer(v)
			}
			w.setOperand(s, st, o, v)
		}
	})
}

// readsAnswer reports whether an instruction reads from a response whether a clusterlaunchcontrol
// request was granted.
func readsAnswer(in *ir.Instr) bool {
	return in.Kind() == isa.KindClusterlaunchcontrolQueryCancel && in.HasMod(isa.ModIsCanceled)
}

// executionName returns a name for the results of an instruction in its execution number times on a
// path.
func executionName(in *ir.Instr, times int) string {
	return in.Op + "@" + strconv.Itoa(int(in.Pos)) + "#" + strconv.Itoa(times)
}

// unknownResults sets the results of an instruction to unknown values. Every path gets the same
// values at the same execution.
func (w *walk) unknownResults(s *state, st *step, times int, level value.Level) {
	in := st.in
	k := execution{in, times}
	list, known := w.unknowns[k]
	if !known {
		name := executionName(in, times)
		eachResult(in, func(n int, o *ir.Operand) {
			var v *value.Value
			if w.at(o.Reg) >= 0 { // otherwise it is unused
				v = w.pool.Atom(bitsOf(o.Reg), value.OpResult, name+"/"+strconv.Itoa(n), in, level)
				if readsAnswer(in) {
					value.Answer(v)
				}
			}
			list = append(list, v)
		})
		w.unknowns[k] = list
	}
	eachResult(in, func(n int, o *ir.Operand) {
		if list[n] != nil {
			w.setOperand(s, st, o, list[n])
		}
	})
}

// eachResult calls visit for each register operand that an instruction writes. n counts these
// operands from 0.
func eachResult(in *ir.Instr, visit func(n int, o *ir.Operand)) {
	n := 0
	for i := range in.Args {
		if in.Form == nil || i >= len(in.Form.Args) || in.Form.Args[i].Access == 0 {
			if in.Kind() != isa.KindCall {
				continue
			}
		}
		in.Args[i].Walk(func(o *ir.Operand) {
			if r := o.Reg; r != nil && o.Kind == ir.Register {
				visit(n, o)
				n++
			}
		})
	}
}
