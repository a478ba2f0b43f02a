// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/passes/analysis/graph"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// findLoops computes how many iterations of each loop are analyzed: two passes over a ring of
// stages that the loop indexes, unless an inner loop does more than move data or wait.
func (p *program) findLoops() {
	dom := graph.Dominators(p.flow.Succs, p.flow.Preds)
	list, in, whole := graph.Loops(p.flow.Succs, p.flow.Preds, dom)
	p.loops, p.k.loops = in, in
	if !whole {
		p.miss("loops with several entries")
	}
	p.spins = make(map[*graph.Loop]bool)
	spins := p.spins
	moves := make(map[*graph.Loop]bool) // loops that only move data
	most := 2
	for _, l := range list {
		spins[l], moves[l] = true, true
		for _, b := range l.Blocks {
			p.active[l] = p.active[l] || p.busy[b]
			for _, st := range p.blocks[b] {
				spins[l] = spins[l] && (st.kind == Wait || st.kind == Other)
				moves[l] = moves[l] &&
					(st.kind == Load || st.kind == Store || st.kind == Copy || st.kind == Other)
			}
		}
		if p.active[l] && !spins[l] {
			most = max(most, p.ringSize(l))
		}
	}
	outer := make(map[*graph.Loop]bool) // loops around other relevant loops
	for _, l := range list {
		if l.Parent != nil && p.active[l] && !spins[l] && !moves[l] {
			outer[l.Parent] = true
		}
	}
	for _, l := range list {
		if !p.active[l] {
			continue
		}
		// All loops of a kernel get the same count, so that the paths of several warps are
		// compatible.
		p.iterations[l] = 2*most + 1
		if outer[l] {
			p.iterations[l] = outerIterations
		}
		p.k.Iterations = max(p.k.Iterations, p.iterations[l])
	}
	for _, l := range list {
		if p.active[l] && !spins[l] && !outer[l] && l.Parent == nil && p.usesMbarriersAfter(l) {
			p.addEndings(most)
			break
		}
	}
}

// usesMbarriersAfter reports whether mbarriers are used after a loop. Which mbarriers are used may
// depend on the stage at which the loop ends.
func (p *program) usesMbarriersAfter(l *graph.Loop) bool {
	seen := make([]bool, len(p.flow.Succs))
	work := slices.Clone(l.Blocks)
	for _, b := range work {
		seen[b] = true
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !l.Has(b) {
			for _, st := range p.blocks[b] {
				switch st.kind {
				case Wait, Arrive, Expect, BulkLoad, CopyArrive, TensorCommit:
					return true
				}
			}
		}
		for _, next := range p.flow.Succs[b] {
			if !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
	}
	return false
}

// addEndings adds iteration counts after which loops end, so that loops end at each stage of a
// ring.
func (p *program) addEndings(ring int) {
	p.endIterations = make([]bool, ring)
	met := make([]bool, ring)
	for _, n := range []int{0, 1, outerIterations, 2*ring + 1} {
		met[n%ring] = true
	}
	for n := range met {
		p.endIterations[n] = !met[n]
	}
}

// outerIterations is the number of iterations to analyze for a loop around other loops. Loops
// without inner loops may also end after this number, because the tile loop of one role may have
// an inner loop while the tile loop of another role has none.
const outerIterations = 4

// ringSize returns the largest small constant with which an index in a loop is compared, or at
// which it wraps around: the number of stages. Compilers implement the wrap-around with
// multiplications: the upper half of one product divides, and another product subtracts the
// multiple.
func (p *program) ringSize(l *graph.Loop) int {
	n, whole := 2, 0
	divides := false
	for _, b := range l.Blocks {
		for _, s := range p.blocks[b] {
			switch s.head {
			case isa.HeadMul, isa.HeadMad:
				k, known := multiplier(s.in)
				switch {
				case !known:
				case s.high:
					divides = true
				case max(k, -k) <= 8:
					whole = max(whole, int(max(k, -k)))
				}
				continue
			case isa.HeadSetp, isa.HeadAnd, isa.HeadRem:
			default:
				continue
			}
			last := &s.in.Args[len(s.in.Args)-1]
			if s.head == isa.HeadAnd && last.Kind == ir.Int && last.Value == 3 {
				n = max(n, 4)
			} else if s.head != isa.HeadAnd && last.Kind == ir.Int &&
				last.Value >= 2 && last.Value <= 8 {
				k := int(last.Value)
				if s.head == isa.HeadSetp && s.in.HasMod(isa.ModGT, isa.ModLE) {
					k++
				}
				n = max(n, k)
			}
		}
	}
	if divides {
		n = max(n, whole)
	}
	return n
}

// multiplier returns the constant by which an instruction multiplies. known is false if there is
// none.
func multiplier(in *ir.Instr) (k int64, known bool) {
	for i := 1; i < min(len(in.Args), 3); i++ {
		if o := &in.Args[i]; o.Kind == ir.Int {
			k = int64(o.Value)
			if k>>31 == 1 {
				k -= 1 << 32 // a negative 32-bit constant
			}
			return k, true
		}
	}
	return 0, false
}

// shape returns the block size along each axis: the size that .reqntid declares, or the largest
// size that .maxntid allows. exact is false if a size along a used axis is unknown.
func shape(f *ir.Func) (nx, ny, nz int, exact bool) {
	// A kernel that reads all axes of %tid and one axis of %ctaid computes the linear thread
	// index, for any shape of the block. Cooperative groups do so.
	y, z := readsSpecial(f, "%tid.y"), readsSpecial(f, "%tid.z")
	flat := !y && !z || y && z && !readsSpecial(f, "%ctaid.y") && !readsSpecial(f, "%ctaid.z")
	required := f.Attr(".reqntid")
	d := required
	if d == nil {
		d = f.Attr(".maxntid")
	}
	if d == nil && flat {
		return value.MaxThreads, 1, 1, false
	} else if d == nil {
		return distribute(f, value.MaxThreads)
	}
	n := []int{1, 1, 1}
	for i, word := range strings.Split(d.Text, ",") {
		if v, err := strconv.Atoi(strings.TrimSpace(word)); err == nil && i < 3 && v > 0 {
			n[i] = v
		}
	}
	if n[0]*n[1]*n[2] > value.MaxThreads {
		return value.MaxThreads, 1, 1, false
	}
	// .maxntid bounds the product, so threads that are declared along one axis may lie along
	// several.
	if required == nil && !flat && n[1] == 1 && n[2] == 1 {
		x, y, z, _ := distribute(f, n[0])
		return x, y, z, y*z == 1
	}
	return n[0], n[1], n[2], true
}

// distribute distributes threads over the axes that a function uses: one warp along x, or all
// threads along x if the function distinguishes more of them along x.
func distribute(f *ir.Func, threads int) (x, y, z int, exact bool) {
	if distinguishedThreads(f) > 32 {
		return threads, 1, 1, false
	}
	x, y, z = min(32, threads), max(1, threads/32), 1
	if readsSpecial(f, "%tid.z") {
		y, z = max(1, y/4), min(4, y)
	}
	return x, y, z, false
}

// distinguishedThreads returns the least number of threads along x that a function distinguishes:
// one more than the largest constant with which it compares %tid.x or its warp index.
func distinguishedThreads(f *ir.Func) int {
	// registers that hold %tid.x, shifted right by this number of bits
	shift := make(map[*ir.Reg]int64)
	n := 0
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			var by int64
			held := false
			for i := 1; i < len(in.Args) && i <= 2 && !held; i++ {
				switch o := &in.Args[i]; o.Kind {
				case ir.Special:
					by, held = 0, o.Text() == "%tid.x"
				case ir.Register:
					by, held = shift[o.Reg]
				}
			}
			if !held {
				continue
			}
			last := &in.Args[len(in.Args)-1]
			to := &in.Args[0]
			switch {
			case in.Kind() == isa.KindMov && to.Kind == ir.Register:
				shift[to.Reg] = by
			case in.Kind() == isa.KindShr && to.Kind == ir.Register && last.Kind == ir.Int &&
				last.Value >= 0 && by+last.Value < 10:
				shift[to.Reg] = by + last.Value
			case in.Kind() == isa.KindSetp && last.Kind == ir.Int && last.Value >= 0 &&
				last.Value < value.MaxThreads:
				k := last.Value
				if in.HasMod(isa.ModGT, isa.ModHi, isa.ModLE, isa.ModLS) {
					k++
				}
				if k = k<<by + 1; k <= value.MaxThreads {
					n = max(n, int(k))
				}
			}
		}
	}
	return n
}

// readsSpecial reports whether a function reads the special register with the given name.
func readsSpecial(f *ir.Func, name string) bool {
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			for i := range in.Args {
				if in.Args[i].Kind == ir.Special && in.Args[i].Text() == name {
					return true
				}
			}
		}
	}
	return false
}

// maxSmallCluster is the largest cluster size for which blocks are always analyzed separately. The
// blocks of larger clusters are analyzed separately only if the cost is acceptable.
const maxSmallCluster = 4

// separateRanks returns how many blocks of a cluster are analyzed separately: all blocks of a
// cluster of declared size if their behavior depends on the rank, or else one.
func separateRanks(k *Kernel) int {
	if k.Cluster < 2 || !k.Needs(Wait, ClusterWait) {
		return 1
	}
	for _, b := range k.Func.Blocks {
		for _, in := range b.Instrs {
			if in.Kind() == isa.KindMapa || mayBeRemote(in) ||
				in.HasMod(isa.ModMulticastCluster, isa.ModMulticastCluster16b,
					isa.ModMulticastCluster32b, isa.ModCTAGroup2) {
				return k.Cluster
			}
		}
	}
	return 1
}

// mayBeRemote reports whether an instruction may access memory of another block.
func mayBeRemote(in *ir.Instr) bool {
	switch Of(in) {
	case Load, Store, Atomic, Arrive, Expect, Complete, RemoteStore:
		return in.HasMod(isa.ModSharedCluster)
	}
	return false
}

// clusterOf returns the number of blocks in a cluster along x, y and z, or zeros if the number is
// unknown.
func clusterOf(m *ir.Module, f *ir.Func) [3]int {
	n := [3]int{1, 1, 1}
	if m.Target.Info().Number < 90 {
		return n
	}
	d := f.Attr(".reqnctapercluster")
	if d == nil {
		return [3]int{}
	}
	for i, word := range strings.Split(d.Text, ",") {
		if v, err := strconv.Atoi(strings.TrimSpace(word)); err == nil && i < 3 && v > 0 &&
			v <= maxClusterBlocks {
			n[i] = v
		}
	}
	return n
}

// maxClusterBlocks is the maximum number of blocks in a cluster.
const maxClusterBlocks = 16

// positionInCluster returns the position of a block in its cluster along x, y and z, given its
// rank.
func (k *Kernel) positionInCluster(rank int) [3]int {
	x, y := k.extent[0], k.extent[1]
	return [3]int{rank % x, rank / x % y, rank / (x * y)}
}
