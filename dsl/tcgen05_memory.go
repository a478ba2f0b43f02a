// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// tensorMemory describes the tensor memory that the kernel allocates: one allocation for all its
// uses. The first warp allocates it at the start and frees it at the end.
type tensorMemory struct {
	columns int     // number of columns in use
	base    *ir.Reg // register with the address of the allocation, or nil
	slot    *ir.Var // shared variable to which the hardware writes the address
	pos     ir.Pos  // position of the first call that uses tensor memory
	pair    bool    // allocated for a pair of blocks
	plan    []tensorRegion
}

// A tensorRegion is a range of tensor memory columns and the name of its use.
type tensorRegion struct {
	name     string
	first, n int
}

// TMEMPlan returns a table of the tensor memory columns that the kernel uses and allocates, or ""
// if it uses none.
//
//	tensor memory of matmul: 280 of 512 columns used, 512 allocated
//	columns   0 to 127: acc, accumulator 0
//	columns 128 to 255: acc, accumulator 1
//	columns 256 to 271: acc, scale factors of A
//	columns 272 to 279: acc, scale factors of B
func (k *Kernel) TMEMPlan() string {
	k = k.sound()
	t := &k.tmem
	if t.base == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tensor memory of %s: %d of 512 columns used, %d allocated\n", k.Name(),
		t.columns, t.allocatedColumns())
	for _, r := range t.plan {
		fmt.Fprintf(&b, "columns %3d to %3d: %s\n", r.first, r.first+r.n-1, r.name)
	}
	return b.String()
}

// addPlan records the use of n columns for TMEMPlan.
func (t *tensorMemory) addPlan(first, n int, format string, args ...any) {
	t.plan = append(t.plan, tensorRegion{fmt.Sprintf(format, args...), first, n})
}

// allocatedColumns returns the number of columns of the allocation: the next power of two, at
// least 32.
func (t *tensorMemory) allocatedColumns() int {
	n := 32
	for n < t.columns {
		n *= 2
	}
	return n
}

// reserveColumns reserves n columns of tensor memory and returns the first.
func (k *Kernel) reserveColumns(n int) int {
	t := &k.tmem
	if t.base == nil {
		if !k.m.Is("sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f", "sm_107a",
			"sm_107f") {
			k.fault(&ruleLacks,
				"%s does not support tensor memory, which only sm_100a and its family have; use Accumulator on sm_90a, or WarpTile from sm_80 on",
				k.m.Target())
		}
		base := fresh[U32](k)
		base.r.Name = k.regName("tmem")
		t.base, t.pos = base.r, k.m.calls.Here()
		t.slot = k.newShared(unique("tmem_slot", k.names), isa.B32, 16, []int{1})
		k.setup.extra = append(k.setup.extra, k.allocate)
	}
	first := t.columns
	t.columns += n
	if t.columns > 512 {
		k.fault(&ruleSize, "kernel uses %d columns of tensor memory, expected at most 512",
			t.columns)
		t.columns = first
	}
	return first
}

func (t *tensorMemory) ctaGroup() string {
	if t.pair {
		return "cta_group::2"
	}
	return "cta_group::1"
}

// allocate emits the part of the setup code that allocates tensor memory.
func (k *Kernel) allocate() {
	t := &k.tmem
	slot := Addr{k: k, space: isa.SharedCTA, v: t.slot}
	if t.pair {
		k.Comment("the other block of the pair must run before tensor memory is allocated")
		k.SyncCluster()
	}
	k.Comment("the first warp allocates tensor memory for the block")
	k.If(k.WarpIndex().EQI(0), func() {
		k.ins("tcgen05.alloc."+t.ctaGroup()+".sync.aligned.shared::cta.b32", k.arg(slot),
			number(int64(t.allocatedColumns())))
		k.ins("tcgen05.relinquish_alloc_permit." + t.ctaGroup() + ".sync.aligned")
	})
	k.ins("tcgen05.fence::before_thread_sync")
	k.Sync()
	k.ins("tcgen05.fence::after_thread_sync")
	k.ins("ld.shared.b32", ir.Operand{Kind: ir.Register, Reg: t.base},
		k.arg(Addr{k: k, space: isa.Shared, v: t.slot}))
}

// freeTensorMemory emits the code that frees tensor memory at the end of the kernel.
func (k *Kernel) freeTensorMemory() {
	t := &k.tmem
	if t.base == nil {
		return
	}
	k.Comment("free tensor memory after the last read")
	k.ins("tcgen05.fence::before_thread_sync")
	if t.pair {
		k.SyncCluster()
	} else {
		k.Sync()
	}
	k.If(k.WarpIndex().EQI(0), func() {
		k.ins("tcgen05.dealloc."+t.ctaGroup()+".sync.aligned.b32",
			ir.Operand{Kind: ir.Register, Reg: t.base}, number(int64(t.allocatedColumns())))
	})
}

// CTAPair makes every two adjacent blocks of a cluster along x a CTA pair (tcgen05 .cta_group::2):
// the even block issues the MMAs for both, and each block holds half of the operands and half of
// the accumulator.
//
//	                     B columns
//	              0 .. N/2-1   N/2 .. N-1
//	              (even block) (odd block)   shared memory: each block loads half of B
//	            +--------------------------+
//	A rows      |                          |
//	0 .. 127    |  even block: tensor      |  A rows 0 .. 127 in the even block's shared memory
//	            |  memory, rows 0 .. 127   |
//	            +--------------------------+
//	128 .. 255  |  odd block: tensor       |  A rows 128 .. 255 in the odd block's shared memory
//	            |  memory, rows 128 .. 255 |
//	            +--------------------------+
func (k *Kernel) CTAPair() {
	k = k.sound()
	if k.cluster[0]%2 != 0 || k.clusterSize() < 2 {
		k.fault(&ruleProtocol,
			"CTAPair is used in clusters of %d blocks, expected Cluster(2) or another even number along x",
			k.clusterSize())
	}
	if k.tmem.base != nil {
		k.fault(&ruleProtocol,
			"CTAPair is called after the first use of tensor memory, expected it before")
	}
	k.tmem.pair = true
}

// PairHalf returns the index of the tile that the block loads if the blocks of a CTA pair each load
// a half of tile n: 2n or 2n+1. Without CTAPair it returns n.
func (k *Kernel) PairHalf(n Reg[U32]) Reg[U32] {
	if k = k.sound(); !k.tmem.pair {
		return n
	}
	return n.MulI(2).Add(k.ClusterRank().AndI(1))
}
