// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// Gather starts the copy of four rows of the matrix, starting at column col, to four rows of a
// tile, starting at row first. The bytes complete on the mbarrier full (sm_100). One thread must
// call it.
func (x *Tensor) Gather(to SharedTile, first int, rows [4]Reg[U32], col Reg[U32], full Barrier) {
	if k := x.kernel(); x.checkFourRows("gathered into", to, first) && k.checkBarrier(full) {
		signal, group := k.completionBarrier(full)
		k.ins("cp.async.bulk.tensor.2d."+k.copySpace(nil, full)+
			".global.tile::gather4.mbarrier::complete_tx::bytes"+group,
			to.at.Plus(int64(first*to.Pitch())).in(k),
			x.m.bracket(col, rows[0], rows[1], rows[2], rows[3]), signal.in(k))
	}
}

// Scatter starts the copy of four rows of a tile, starting at row first, to four rows of the
// matrix, starting at column col (sm_100). The copy belongs to the thread's next CommitStores.
func (x *Tensor) Scatter(from SharedTile, first int, rows [4]Reg[U32], col Reg[U32]) {
	if k := x.kernel(); x.checkFourRows("scattered from", from, first) {
		k.noteFirst(&k.notes.FirstStore)
		k.ins("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group",
			x.m.bracket(col, rows[0], rows[1], rows[2], rows[3]),
			from.at.Plus(int64(first*from.Pitch())).in(k))
	}
}

// checkFourRows reports whether the gather or scatter of four rows of a tile is valid, and
// records the reason if not.
func (x *Tensor) checkFourRows(what string, t SharedTile, first int) bool {
	k := x.kernel()
	if !checkCreated(k, "tensor in the copy", t.at.k) {
		return false
	}
	want := x.m.tile
	want.Rows = t.Rows
	switch {
	case !x.rows:
		k.fault(&ruleShape,
			"tensor %s is copied in boxes; declare it with RowTensor to gather rows", x.m.name)
	case t.at.k == nil || t.Tile != want || first < 0 || first%4 != 0 || first+4 > t.Rows:
		k.fault(&ruleShape,
			"rows from row %d of tensor %s are %s %s, expected a tile with %d columns of %s, and a first row that is a multiple of 4",
			first, x.m.name, what, t.Tile, want.Cols, want.Type)
	default:
		return true
	}
	return false
}

// GatherFeed returns tiles of n gathered rows as an input of a Pipeline (sm_100). n must be a
// multiple of four, at most 128. GatherStage loads the rows, and InStage returns the tile.
func (x *Tensor) GatherFeed(n int) Feed {
	k := x.kernel()
	switch {
	case k == nil:
		return Feed{}
	case !x.rows:
		k.fault(&ruleShape,
			"tensor %s is copied in boxes; declare it with RowTensor to gather rows", x.m.name)
		return Feed{from: x.m}
	case n < 4 || n > 128 || n%4 != 0:
		k.fault(&ruleShape, "feed has %d gathered rows, expected a multiple of 4 up to 128", n).
			withFix(nearest(n, 4, 128, 4))
		n = 4
	case x.gathered != nil && x.gathered.tile.Rows != n:
		k.fault(&ruleShape, "tensor %s already has a feed of %[3]d gathered rows, got %[2]d",
			x.m.name, n, x.gathered.tile.Rows)
	}
	if x.gathered == nil {
		many := *x.m
		many.tile.Rows, many.boxRows = n, n
		x.gathered = &many
	}
	return Feed{from: x.gathered}
}

// GatherStage starts the copies of gathered rows, starting at column col, into a stage of
// Produce. Lane l of the warp provides the indices of the matrix rows for rows 4*l to 4*l+3 of
// the tile.
func (x *Tensor) GatherStage(s *Stage, rows [4]Reg[U32], col Reg[U32]) {
	if !x.checkStage(s) {
		return
	}
	k := x.m.k
	if x.gathered == nil {
		k.fault(&ruleProtocol,
			"no pipeline gathers rows of tensor %s; create a feed with GatherFeed", x.m.name)
		return
	}
	to, ok := s.fill(x.gathered)
	if !ok || !k.checkBarrier(s.Full()) {
		return
	}
	k.annotateWarpOperation("GatherStage")
	lane, signal := k.Lane(), s.Full()
	at := to.at.add(lane.MulI(int64(4 * to.Pitch())))
	from, group := k.completionBarrier(signal)
	k.SyncWarp() // one thread of the warp has set the expected byte count
	copies := func() {
		k.ins("cp.async.bulk.tensor.2d."+k.copySpace(nil, signal)+
			".global.tile::gather4.mbarrier::complete_tx::bytes"+group,
			at.in(k), x.m.bracket(col, rows[0], rows[1], rows[2], rows[3]), from.in(k))
	}
	if n := to.Rows / 4; n < 32 {
		k.When(lane.LTI(int64(n)), copies)
		return
	}
	copies()
}
