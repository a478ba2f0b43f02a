// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A TensorMap is a kernel parameter that holds a tensor map for a matrix in global memory. The
// launch creates the tensor map from this declaration and the matrix, so the map always agrees
// with the kernel.
type TensorMap struct {
	k       *Kernel
	v       *ir.Var
	name    string
	tile    Tile // tile that a whole load fills
	boxCols int  // columns per copy
	tensor  *Tensor
	boxRows int // rows per copy, less than the tile's if blocks of a cluster split the load
	// halves is the number of 64-row groups of scale factors for 64 or 192 rows, else 0. Every
	// second tile then starts in the middle of an atom.
	halves        int
	splitsColumns bool // blocks that share the tile load some of its columns instead of rows
	reg           *ir.Reg
	hasOutput     bool // the kernel stores to the matrix through an Output
	written       bool // there is no map: threads write the tile (ComputedTile)

	scale   BlockScale // of a ScaleMap
	scales  *TensorMap // scale factors, see Scaled
	indices *TensorMap // indices of stored elements, see Sparse
}

// A Box is the size of a tile, as TensorMap expects it.
type Box struct {
	Rows, Cols int
	Padded     bool // see Tile.Padded
}

// TensorMap declares a parameter for the tensor map of a row-major matrix that is copied in
// tiles. A tile that is wider than its swizzle needs one copy per swizzle width, and a single row
// of more than 256 elements needs several copies.
func (k *Kernel) TensorMap(name string, t isa.Type, box Box, s Swizzle) *TensorMap {
	k = k.sound()
	m := &TensorMap{k: k, name: name,
		tile: Tile{Type: t, Rows: box.Rows, Cols: box.Cols, Swizzle: s, Padded: box.Padded}}
	problem := m.tile.check()
	m.boxCols = box.Cols
	if s != NoSwizzle && t.Bits() > 0 && m.tile.RowBytes() > int(s) {
		m.boxCols = int(s) * 8 / m.tile.elementBits()
	}
	if s == NoSwizzle && box.Rows == 1 {
		m.boxCols = lineBox(box.Cols) // the parts of a single row are consecutive
	}
	switch {
	case problem != "":
	case box.Rows > 256 || m.boxCols > 256:
		problem = m.tile.String() + ": a tensor copy has at most 256 rows and 256 columns"
	case m.tile.elementBits() != t.Bits() &&
		(m.boxCols != 128 || s != NoSwizzle && s != Swizzle128):
		problem = m.tile.String() +
			": a copy of padded elements has rows of 128 elements, and a swizzle of 128 bytes or none"
	case m.tile.elementBits() == t.Bits() && m.boxCols*t.Bits()/8%16 != 0:
		problem = m.tile.String() + ": the rows of a copy must be a multiple of 16 bytes"
	}
	if problem != "" {
		k.fault(&ruleShape, "tensor map %s: %s", name, problem)
		m.tile = k.standIn(Tile{Type: isa.Bf16, Rows: 64, Cols: 64, Swizzle: Swizzle128})
		m.boxCols = 64
	}
	p := k.mapParam(name, m.tile)
	p.boxRows, p.boxCols = p.tile.Rows, m.boxCols
	return p
}

// mapParam declares a tensor map parameter. A copy through the map fills tile t.
func (k *Kernel) mapParam(name string, t Tile) *TensorMap {
	if !k.m.Has(90) {
		k.fault(&ruleLacks, "%s does not support tensor maps, which need sm_90; use cp.async",
			k.m.Target())
	}
	m := &TensorMap{k: k, name: name, tile: t, v: k.param(name, isa.B8, 128)}
	m.v.Align = 64
	k.maps = append(k.maps, m)
	return m
}

// Tile returns the tile that one load fills.
func (m *TensorMap) Tile() Tile {
	if m == nil {
		return Tile{Type: isa.B32, Rows: 1, Cols: 4}
	}
	return m.tile
}

// Name returns the name of the parameter.
func (m *TensorMap) Name() string {
	if m == nil {
		return "tensor map"
	}
	return m.name
}

// CopyBox returns the box of a single copy, which is the box of the tensor map. It is the whole
// tile, or fewer columns if the tile is wider than its swizzle, and fewer rows if blocks of a
// cluster share the load.
func (m *TensorMap) CopyBox() Box {
	if m == nil {
		return Box{}
	}
	return Box{Rows: m.boxRows, Cols: m.boxCols}
}

// kernel returns the kernel of m, or nil for a zero value.
func (m *TensorMap) kernel() *Kernel {
	if m == nil {
		return nil
	}
	return m.k
}

// addr returns the generic address of the map for TMA instructions.
func (m *TensorMap) addr() Addr {
	k := m.k
	if m.reg == nil {
		raw, generic := fresh[U64](k), fresh[U64](k)
		was, guard := k.toHead()
		k.ins("mov.u64", k.arg(Reg[U64]{k: k, r: raw.r}), k.naming(ir.Variable, m.v, 0))
		k.ins("cvta.param.u64", k.arg(Reg[U64]{k: k, r: generic.r}),
			k.arg(Reg[U64]{k: k, r: raw.r}))
		k.restoreBlock(was, guard)
		m.reg = generic.r
		m.reg.Name = k.regName(m.name)
	}
	return Addr{k: k, space: isa.Generic, reg: m.reg}
}

// bracket returns the operand [map, {coordinates}].
func (m *TensorMap) bracket(coordinates ...Operand) ir.Operand {
	k := m.k
	inner, _ := m.addr().inner(k)
	at := make([]ir.Operand, len(coordinates))
	for i, c := range coordinates {
		at[i] = k.arg(c)
	}
	return k.bracket(inner, k.vector(at...))
}

// Load starts the copy of a tile from the matrix to the tile to, and completes its bytes on the
// mbarrier full. The first element is at row and col of the matrix. One thread must call Load.
// With a mask, the tile is multicast to the blocks of the cluster whose bits are set.
func (m *TensorMap) Load(to SharedTile, row, col Reg[U32], full Barrier, mask ...Reg[U16]) {
	m.load(to, 0, m.Tile().Rows, row, col, full, mask)
}

// checkTile reports whether both the tensor map and tile t were created by builder calls, and
// records a finding if not. k is their kernel.
func (m *TensorMap) checkTile(t SharedTile) (k *Kernel, ok bool) {
	switch {
	case m.kernel() == nil && t.at.k != nil:
		t.at.k.fault(&ruleValue,
			"tensor map of a copy is a zero value, not created by a builder call")
	case m.kernel() == nil:
	case t.at.k == nil:
		m.k.fault(&ruleValue,
			"tile copied through %s is a zero value, not created by a builder call", m.name)
	default:
		return m.k, true
	}
	return nil, false
}

// load copies n rows of a tile, starting at row first of the tile, from row and col of the
// matrix.
func (m *TensorMap) load(to SharedTile, first, n int, row, col Reg[U32], full Barrier,
	mask []Reg[U16]) {
	k, ok := m.checkTile(to)
	if !ok {
		return
	}
	if to.Tile != m.tile {
		k.fault(&ruleShape, "tensor map %s has tiles of %s, but is loaded into %s", m.name, m.tile,
			to.Tile)
		return
	}
	copyTo := m.newCopy(full, mask)
	parts := m.tile.Cols / m.boxCols
	for part := range parts {
		c := col.AddI(int64(part * m.boxCols))
		for at := 0; at < n; at += m.boxRows {
			copyTo(to.at.Plus(int64(part*m.tile.Bytes()/parts+(first+at)*m.tile.Pitch())),
				row.AddI(int64(at)), c)
		}
	}
}

// newCopy returns a function that emits one copy, which completes on an mbarrier.
func (m *TensorMap) newCopy(full Barrier, mask []Reg[U16]) func(place Addr, row, col Reg[U32]) {
	k := m.k
	op := "cp.async.bulk.tensor.2d." + k.copySpace(mask, full) +
		".global.mbarrier::complete_tx::bytes"
	if len(mask) > 0 {
		op += ".multicast::cluster"
	}
	signal, group := k.completionBarrier(full)
	op += group
	return func(place Addr, row, col Reg[U32]) {
		args := []ir.Operand{place.in(k), m.bracket(col, row), signal.in(k)}
		for _, x := range mask {
			args = append(args, x.in(k))
		}
		k.ins(op, args...)
	}
}

// copySpace returns the state space of a copy's destination, as a modifier. Before PTX 8.6
// .shared::cluster was the only one.
func (k *Kernel) copySpace(mask []Reg[U16], full Barrier) string {
	if len(mask) > 0 || full.isPaired() || !k.m.hasVersion(806) {
		return "shared::cluster"
	}
	return "shared::cta"
}

// completionBarrier returns the address of the mbarrier on which copies complete, and the
// modifier that this requires. In a CTA pair it is the even block's mbarrier, whose address
// differs from that of the own mbarrier in one bit.
func (k *Kernel) completionBarrier(full Barrier) (at Addr, group string) {
	if !full.isPaired() {
		return full.at, ""
	}
	far := full.at.Value().AndI(0xfeffffff)
	return Addr{k: k, space: isa.SharedCluster, reg: far.r, scope: far.scope}, ".cta_group::2"
}

// Store starts the copy of a tile from shared memory to the matrix, with its first element at row
// and col. One thread must call it, after FenceAsync in all threads that wrote the tile. The copy
// belongs to the thread's next CommitStores.
func (m *TensorMap) Store(from SharedTile, row, col Reg[U32]) {
	m.store("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", from, row, col)
}

// Reduce starts a copy as Store does, but combines the tile with the matrix. The operation is
// add, min, max, inc, dec, and, or, xor. Each element is combined atomically, so that several
// blocks may reduce into one tile.
func (m *TensorMap) Reduce(how Mod, from SharedTile, row, col Reg[U32]) {
	m.store("cp.reduce.async.bulk.tensor.2d.global.shared::cta."+string(how)+".bulk_group", from,
		row, col)
}

func (m *TensorMap) store(op string, from SharedTile, row, col Reg[U32]) {
	k, ok := m.checkTile(from)
	if !ok {
		return
	}
	if from.Tile != m.tile {
		k.fault(&ruleShape, "tensor map %s has tiles of %s, but is stored from %s", m.name, m.tile,
			from.Tile)
		return
	}
	k.noteFirst(&k.notes.FirstStore)
	from.noteOtherRead()
	if !m.hasOutput {
		k.notes.Loose = append(k.notes.Loose, m.v)
	}
	parts := m.tile.Cols / m.boxCols
	for part := range parts {
		c := col.AddI(int64(part * m.boxCols))
		k.ins(op, m.bracket(c, row), from.at.Plus(int64(part*m.tile.Bytes()/parts)).in(k))
	}
}

// CommitStores commits the bulk stores that the thread started as one group
// (cp.async.bulk.commit_group).
func (k *Kernel) CommitStores() {
	k.sound().ins("cp.async.bulk.commit_group")
}

// WaitStores waits until at most n groups of the thread's bulk stores are incomplete
// (cp.async.bulk.wait_group).
func (k *Kernel) WaitStores(n int) {
	k = k.sound()
	k.allStoresWaited = true
	k.waitGroups("WaitStores", "cp.async.bulk.wait_group", n)
}

// WaitStoresRead waits until at most n groups of the thread's bulk stores still read shared memory
// (cp.async.bulk.wait_group.read).
func (k *Kernel) WaitStoresRead(n int) {
	k.sound().waitGroups("WaitStoresRead", "cp.async.bulk.wait_group.read", n)
}

// waitGroups emits a wait until at most n copy groups are in flight, for the method call.
func (k *Kernel) waitGroups(call, op string, n int) {
	if n < 0 {
		k.fault(&ruleProtocol, "%s allows %d groups in flight, expected 0 or more", call, n).
			withFix(nearest(n, 0, 7, 1))
		n = 0
	}
	k.ins(op, number(int64(n)))
}

// FenceAsync makes the thread's writes to shared memory visible to the async proxy, that is, to
// the TMA and the tensor cores. Every thread that wrote must call it, before the barrier that
// precedes the start of the copy or MMA.
func (k *Kernel) FenceAsync() { k.sound().ins("fence.proxy.async.shared::cta") }
