// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// defaultBlock is the first block size to try if nothing tells the size: kernels with more threads
// take longer.
const defaultBlock = 64

// maxGuessedThreads is the largest block size that the sizes of arrays choose.
const maxGuessedThreads = 256

// firstBlock returns the block size to try first for a kernel that does not require one: the
// declared maximum, or else a size that fits an array in shared memory.
func (k *kernel) firstBlock() [3]uint32 {
	most, declared := k.maxThreads()
	if k.isTwoDimensional() {
		return k.twoDimensionalBlocks(most)[0]
	}
	if declared {
		if most <= 512 {
			return [3]uint32{most, 1, 1}
		}
		return [3]uint32{maxGuessedThreads, 1, 1}
	}
	for _, n := range k.extents() {
		for n > maxGuessedThreads && n%2 == 0 {
			n /= 2
		}
		if n%32 == 0 && n >= 32 && n <= 512 {
			return [3]uint32{uint32(n), 1, 1}
		}
	}
	return [3]uint32{defaultBlock, 1, 1}
}

// isTwoDimensional reports whether the kernel is written for blocks of two dimensions: addresses or
// branches depend on two indexes of its threads. Libraries that support all blocks read three of
// them.
func (k *kernel) isTwoDimensional() bool {
	return k.mentions("%tid.y") && !k.mentions("%tid.z") && k.decides(func(o *ir.Operand) bool {
		return o.Kind == ir.Special && o.Text() == "%tid.y"
	})
}

// maxThreads returns the number of threads that .maxntid declares, or the maximum of all targets.
func (k *kernel) maxThreads() (most uint32, declared bool) {
	if d, ok := k.attribute(".maxntid"); ok {
		return d[0] * d[1] * d[2], true
	}
	return 1024, false
}

// declaresBlock reports whether the block has the size that .maxntid declares. Compilers write the
// block size of the launch there, although smaller blocks may be launched too.
func (k *kernel) declaresBlock() bool {
	most, declared := k.maxThreads()
	b := k.shape.Block
	return declared && !k.oneThread && b[0]*b[1]*b[2] == most
}

// extents returns the number of elements of the arrays in shared memory that the kernel names. For
// an array of bytes, elements are as large as the largest access of the kernel to shared memory,
// because compilers declare all arrays like that, and as 4 bytes.
func (k *kernel) extents() (list []int64) {
	widest := k.widestShared()
	for _, v := range k.namedVariables() {
		if v.Space.Base() != isa.Shared || len(v.Dims) == 0 {
			continue
		}
		if b := int64(v.Type.Bits() / 8); b > 1 {
			list = append(list, v.Size()/b)
			continue
		}
		list = append(list, v.Size()/widest)
		if widest != 4 {
			list = append(list, v.Size()/4)
		}
	}
	return list
}

// widestShared returns the number of bytes of the largest access to shared memory, at least 4.
func (k *kernel) widestShared() int64 {
	widest := 4
	k.instructions(func(in *ir.Instr) {
		switch op := in.Form.Operation(); op.Kind {
		case isa.KindLd, isa.KindSt:
			if op.Space.Base() == isa.Shared {
				widest = max(widest, op.Vec*op.Type().Bits()/8)
			}
		case isa.KindCpAsync:
			if len(in.Args) > 2 && in.Args[2].Kind == ir.Int {
				widest = max(widest, int(in.Args[2].Value))
			}
		}
	})
	return int64(widest)
}

// namedVariables returns the variables that the kernel names, in the order of their first use.
func (k *kernel) namedVariables() (list []*ir.Var) {
	seen := make(map[*ir.Var]bool)
	k.operands(func(o *ir.Operand) {
		if v := o.Var(); v != nil && !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	})
	return list
}

// twoDimensionalBlocks returns blocks of two dimensions with at most some number of threads: the
// declared maximum if it has two dimensions, then those that fit a square array in shared memory,
// perhaps with one more column against bank conflicts, then usual ones. Tiles of 32 rows are
// usually filled in several steps. If all of these have too many threads, the block has one
// dimension.
func (k *kernel) twoDimensionalBlocks(most uint32) (list [][3]uint32) {
	add := func(x, y uint32) {
		b := [3]uint32{x, y, 1}
		if x*y > most {
			return
		}
		for _, have := range list {
			if have == b {
				return
			}
		}
		list = append(list, b)
	}
	if d, ok := k.attribute(".maxntid"); ok && d[1] > 1 && d[2] == 1 {
		add(d[0], d[1])
	}
	for _, n := range k.extents() {
		for _, side := range []int64{8, 16, 32} {
			if n != side*side && n != side*(side+1) {
				continue
			}
			if side == 32 {
				add(32, 8)
			}
			add(uint32(side), uint32(side))
		}
	}
	add(16, 16)
	add(32, 8)
	add(8, 8)
	add(32, 32)
	if len(list) == 0 { // .maxntid declares fewer threads
		list = append(list, [3]uint32{most, 1, 1})
	}
	return list
}

// blocks returns the block sizes that are tried for a kernel that does not require one, in order.
func (k *kernel) blocks() [][3]uint32 {
	most, declared := k.maxThreads()
	if k.isTwoDimensional() {
		return k.twoDimensionalBlocks(most)
	}
	if !declared {
		most = maxGuessedThreads
	}
	list := [][3]uint32{k.shape.Block}
	for _, n := range []uint32{256, 128, 96, 64, 32} {
		if n <= most && n != list[0][0] {
			list = append(list, [3]uint32{n, 1, 1})
		}
	}
	if k.oneThread {
		list = append(list, [3]uint32{1, 1, 1})
	}
	return list
}

// chooseBlock chooses the block size of a kernel that does not require one: the first at which a
// launch ends, or else the first at which all accesses to shared memory are in bounds.
func (k *kernel) chooseBlock(s seeding) {
	if !k.guessedBlock || len(k.shape.Args) > 0 {
		return
	}
	chosen, inside := k.shape.Block, false
	for i, n := range k.blocks() {
		k.shape.Block = n
		if i > 0 {
			k.limit = cheapWork
		}
		x := k.launch(s, k.counts()[0], false)
		if x.err != nil {
			break
		}
		if x.fault == nil ||
			i == 0 && (x.limited() || x.outside || k.declaresBlock() && !x.beyond) {
			chosen = n
			break
		}
		if i == 0 && x.beyond && k.declaresBlock() {
			k.tooLarge = x
		}
		if !x.beyond && !inside {
			chosen, inside = n, true
		}
	}
	k.shape.Block, k.limit = chosen, 0
}

// otherBlocks runs launches with other block sizes. The kernel may not support the chosen size, and
// a race that depends on it is not an error.
func (k *kernel) otherBlocks(best *run) (list []*run) {
	if !k.guessedBlock || len(k.shape.Args) > 0 || best.fault != nil || k.declaresBlock() {
		return nil
	}
	shape := k.shape
	defer func() { k.shape.Block, k.shape.Grid = shape.Block, shape.Grid }()
	for _, n := range k.otherSizes() {
		if n == shape.Block || len(list) > 0 && list[0].block == n || len(list) == maxSizes {
			continue
		}
		k.shape.Block, k.shape.Grid = n, shape.Grid
		if n == [3]uint32{1, 1, 1} && k.oneBlock && shape.Cluster[0] == 0 {
			k.shape.Grid = n
		}
		if x := k.launch(best.schedule, best.count, false); x.fault == nil && x.err == nil {
			x.block = n
			list = append(list, x)
		}
	}
	return list
}

// maxSizes is the maximum number of other block sizes with which a kernel runs.
const maxSizes = 3

// otherSizes returns other block sizes for a kernel that does not require one. One thread may be
// meant if the kernel reads no index of a thread, and a single warp if it has no barrier.
func (k *kernel) otherSizes() (list [][3]uint32) {
	if k.oneThread {
		list = append(list, [3]uint32{1, 1, 1})
	}
	if k.isTwoDimensional() {
		return k.twoDimensionalBlocks(1024)
	}
	chosen := k.shape.Block[0]
	if !k.uses(isa.KindBarrierSync, isa.KindBarrierRed, isa.KindBarrierArrive) {
		list = append(list, [3]uint32{32, 1, 1})
	}
	for _, n := range []uint32{chosen / 2 &^ 31, 128, 64, chosen * 2} {
		if n >= 64 {
			list = append(list, [3]uint32{n, 1, 1})
		}
	}
	return list
}

// oneRow runs a launch with the same number of blocks in one dimension, if the kernel computes the
// number of a block in the grid from all three indexes. It then need not use the second index for
// anything else.
func (k *kernel) oneRow(best *run) []*run {
	if k.options.Launch != nil || best.fault != nil || k.shape.Grid[1] == 1 ||
		k.shape.Cluster[0] != 0 || !k.mentions("%ctaid.z") || !k.mentions("%nctaid.x") ||
		!k.mentions("%nctaid.y") {
		return nil
	}
	defer func(grid [3]uint32) { k.shape.Grid = grid }(k.shape.Grid)
	k.shape.Grid = [3]uint32{k.shape.Grid[0] * k.shape.Grid[1], 1, 1}
	x := k.launch(best.schedule, best.count, false)
	if x.fault != nil || x.err != nil {
		return nil
	}
	x.block, x.row = k.shape.Block, true
	return []*run{x}
}

// hasOtherBlock reports whether a run has another block size than the kernel's other launches, or
// another number of dimensions.
func (x *run) hasOtherBlock() bool { return x.block != [3]uint32{} }

// blockText describes the other block size of a run, and why the kernel may be written for it.
func (x *run) blockText() string {
	n := x.block
	switch {
	case x.row:
		return "blocks in one dimension, and the kernel may not be written for two"
	case n == [3]uint32{1, 1, 1}:
		return "one thread, and the kernel reads no index of a thread"
	case n[1] == 1 && n[2] == 1:
		return fmt.Sprintf("blocks of %d threads, and the kernel does not require a size", n[0])
	}
	return fmt.Sprintf("blocks of %dx%dx%d threads, and the kernel does not require a size", n[0],
		n[1], n[2])
}
