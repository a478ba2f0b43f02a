// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package uniform

import (
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A shape is the block size that .reqntid declares, or zero without .reqntid. The size in
// .maxntid is not used, because it bounds only the product of the sizes.
type shape struct{ x, y, z int }

func shapeOf(f *ir.Func) shape {
	a := f.Attr(".reqntid")
	if a == nil {
		return shape{}
	}
	size := [3]int{1, 1, 1}
	for i, word := range strings.FieldsFunc(a.Text,
		func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil || i > 2 {
			return shape{}
		}
		size[i] = n
	}
	return shape{size[0], size[1], size[2]}
}

// isOneDimensional reports whether a block is one-dimensional, so that %tid.x is the linear thread
// index.
func (s shape) isOneDimensional() bool { return s.x > 0 && s.y == 1 && s.z == 1 }

// specialLevel returns the level of a special register.
func (s shape) specialLevel(name string) Level {
	stem, axis, _ := strings.Cut(name, ".")
	switch stem {
	case "%tid":
		return s.threadIndexLevel(axis)
	case "%ntid", "%nctaid", "%gridid", "%nclusterid", "%cluster_nctaid", "%cluster_nctarank",
		"%is_explicit_cluster", "%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size",
		"%nsmid", "WARP_SZ":
		return Grid
	case "%clusterid":
		return Cluster
	case "%ctaid", "%cluster_ctaid", "%cluster_ctarank", "%smid":
		return Block
	case "%warpid", "%nwarpid":
		return Warp
	}
	if strings.HasPrefix(stem, "%envreg") {
		return Grid
	}
	return Thread
}

// threadIndexLevel returns the level of the thread index along an axis. Threads with consecutive
// linear indices form a warp, and the index along an axis changes after as many of them as the
// product of the extents of the preceding axes.
func (s shape) threadIndexLevel(axis string) Level {
	size, before := s.x, 1
	switch axis {
	case "y":
		size, before = s.y, s.x
	case "z":
		size, before = s.z, s.x*s.y
	}
	switch {
	case size == 1:
		return Grid // the index is zero
	case size > 1:
		return levelOfGroups(int64(before))
	}
	return Thread
}

// levelOfGroups returns the level of a value that is equal within each group of n consecutive
// threads of a block.
func levelOfGroups(n int64) Level {
	switch {
	case n > 0 && n%128 == 0:
		return Warpgroup
	case n > 0 && n%32 == 0:
		return Warp
	}
	return Thread
}

// resultLevel returns the level of a result of an instruction of a block. The parameter first is
// set for the first result.
func (l *Levels) resultLevel(in *ir.Instr, block int, first bool) Level {
	reads := Grid
	for i := range in.Args {
		if in.Form == nil || i >= len(in.Form.Args) || in.Form.Args[i].Access != isa.Write ||
			in.Args[i].Kind == ir.Address {
			reads = min(reads, l.Operand(&in.Args[i]))
		}
	}
	switch in.Kind() {
	case isa.KindLd, isa.KindLdu:
		return l.loadLevel(in, reads)
	case isa.KindShfl:
		// All lanes of a whole warp read the value of the same lane.
		if in.HasMod(isa.ModIdx) && first && namesAllLanes(in) && len(in.Args) == 5 &&
			in.Args[3].Kind == ir.Int && in.Args[3].Value&0x1f1f == 0x1f {
			return max(reads, min(Warp, l.Operand(&in.Args[2])))
		}
		return Thread
	case isa.KindVote, isa.KindRedux:
		if namesAllLanes(in) {
			return max(reads, Warp)
		}
		return Thread
	case isa.KindMatch:
		if namesAllLanes(in) && in.HasMod(isa.ModAll) {
			return max(reads, Warp)
		}
		return Thread
	case isa.KindActivemask:
		return min(Warp, l.block[block])
	case isa.KindElect:
		// the elected lane, or the predicate that is true in that lane
		if first && namesAllLanes(in) && in.Args[0].Kind == ir.Pair &&
			in.Args[0].Args()[0].Reg != nil {
			return Warp
		}
		return Thread
	case isa.KindBarrierRed:
		// the result of a reduction over all threads at one barrier
		if len(in.Args) == 3 && l.Operand(&in.Args[1]) >= Block {
			return Block
		}
		return Thread
	}
	if !in.Has(isa.EffectPure) || in.Has(isa.EffectConvergent) {
		return Thread
	}
	return max(reads, l.threadIndexResult(in))
}

// loadLevel returns the level of the result of a load. Memory may change between the loads of two
// threads unless it is read-only.
func (l *Levels) loadLevel(in *ir.Instr, reads Level) Level {
	switch {
	case in.HasMod(isa.ModVolatile):
		return Thread
	case in.HasMod(isa.ModParam):
		// Parameters of a kernel are uniform. Parameters of device functions and of calls differ
		// between threads.
		if v := in.Args[len(in.Args)-1].Args()[0].Var(); v == nil || !l.kernel[v] {
			return Thread
		}
		return reads
	case in.HasMod(isa.ModConst), in.HasMod(isa.ModNC), in.Kind() == isa.KindLdu:
		return reads
	}
	return Thread
}

// namesAllLanes reports whether the last operand of an instruction is a mask of all lanes.
func namesAllLanes(in *ir.Instr) bool {
	last := &in.Args[len(in.Args)-1]
	return in.HasMod(isa.ModSync) && last.Kind == ir.Int && uint32(last.Value) == 0xffffffff
}

// threadIndexResult returns the level of a value that is computed from the thread index and is
// uniform in whole warps, such as the warp index or a comparison with a multiple of the warp size.
func (l *Levels) threadIndexResult(in *ir.Instr) Level {
	if len(in.Args) != 3 || !l.isThreadIndex(&in.Args[1]) || in.Args[2].Kind != ir.Int {
		return Thread
	}
	n := in.Args[2].Value
	step := int64(1) // number of consecutive threads with an equal value
	switch in.Kind().Head() {
	case isa.HeadShr:
		if n >= 0 && n < 31 {
			step = 1 << n
		}
	case isa.HeadDiv:
		step = n
	case isa.HeadAnd:
		step = n & -n
		if n == 0 {
			step = 128
		}
	case isa.HeadSetp:
		if in.HasMod(isa.ModLT, isa.ModGE, isa.ModLo, isa.ModHS) {
			step = n
		}
	}
	return levelOfGroups(step)
}

// isThreadIndex reports whether an operand is the linear thread index.
func (l *Levels) isThreadIndex(o *ir.Operand) bool {
	for range 8 { // through moves and conversions
		if o.Kind == ir.Special {
			return o.Text() == "%tid.x" && l.shape.isOneDimensional()
		}
		r := o.Reg
		if r == nil || o.Text() != "" || o.Offset() || l.register(r).writes != 1 {
			return false
		}
		in := l.register(r).writer
		if in.Kind() != isa.KindMov && !(in.Is(isa.KindCvt, isa.ModU64, isa.ModU32)) ||
			len(in.Args) != 2 || in.Args[0].Reg != r {
			return false
		}
		o = &in.Args[1]
	}
	return false
}
