// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// Gather starts the copy of four rows of the matrix, starting at column col, to four rows of a tile
// that start at row first, and completes their bytes on the mbarrier full (sm_100).
func (x *Tensor) Gather(to SharedTile, first int, rows [4]Reg[U32], col Reg[U32], full Barrier) {
	if k := x.kernel(); x.four("gathered into", to, first) && k.known(full) {
		signal, group := k.signal(full)
		k.ins("cp.async.bulk.tensor.2d."+k.copySpace(nil, full)+
			".global.tile::gather4.mbarrier::complete_tx::bytes"+group,
			to.at.Plus(int64(first*to.Pitch())).in(k),
			x.m.bracket(col, rows[0], rows[1], rows[2], rows[3]), signal.in(k))
	}
}

// Scatter starts the copy of four rows of a tile to four rows of the matrix, starting at column
// col. The copy belongs to the thread's next CommitStores.
func (x *Tensor) Scatter(from SharedTile, first int, rows [4]Reg[U32], col Reg[U32]) {
	if k := x.kernel(); x.four("scattered from", from, first) {
		k.noteFirst(&k.notes.FirstStore)
		k.ins("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group",
			x.m.bracket(col, rows[0], rows[1], rows[2], rows[3]),
			from.at.Plus(int64(first*from.Pitch())).in(k))
	}
}

// four checks a gather or scatter of four rows of a tile, and reports whether it is valid.
func (x *Tensor) four(what string, t SharedTile, first int) bool {
	k := x.kernel()
	if !made(k, "tensor in the copy", t.at.k) {
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

// GatherFeed returns tiles of n gathered rows as one of the inputs of a Pipeline (sm_100). The
// number of rows is a multiple of four, up to 128. GatherStage loads them, and InStage returns the
// tile.
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
		k.fault(&ruleShape, "feed has %d gathered rows, expected a multiple of 4 up to 128", n)
		n = 4
	case x.many != nil && x.many.tile.Rows != n:
		k.fault(&ruleShape, "tensor %s already has a feed of %[3]d gathered rows, got %[2]d",
			x.m.name, n, x.many.tile.Rows)
	}
	if x.many == nil {
		many := *x.m
		many.tile.Rows, many.high = n, n
		x.many = &many
	}
	return Feed{from: x.many}
}

// GatherStage starts the copies of gathered rows, starting at column col, into a stage from
// Produce. Lane l of the warp provides the row indices of rows 4*l to 4*l+3 of the tile.
func (x *Tensor) GatherStage(s *Stage, rows [4]Reg[U32], col Reg[U32]) {
	if !x.given(s) {
		return
	}
	k := x.m.k
	if x.many == nil {
		k.fault(&ruleProtocol,
			"no pipeline gathers rows of tensor %s; create a feed with GatherFeed", x.m.name)
		return
	}
	to, ok := s.fill(x.many)
	if !ok || !k.known(s.Full()) {
		return
	}
	k.lanes("GatherStage")
	lane, signal := k.Lane(), s.Full()
	at := to.at.add(lane.MulI(int64(4 * to.Pitch())))
	from, group := k.signal(signal)
	k.SyncWarp() // one thread has set the expected byte count
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
