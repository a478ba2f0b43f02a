// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// The operands of a block-scaled or sparse MMA have further tiles: scale factors, and the indices
// of the stored elements of A. Scaled and Sparse attach the tensor maps of these tiles to that of
// the operand. A pipeline with a feed of the operand then also has feeds of these maps, LoadFactors
// loads their tiles, and MMA multiplies with them:
//
//	a.Scaled(k.ScaleMap("sfa", dsl.NVFP4, 128, depth))
//	b.Scaled(k.ScaleMap("sfb", dsl.NVFP4, 128, depth))
//	stage := k.Pipeline("stage", 4, a.Feed(), b.Feed())
//	...
//	s.Load(a, dsl.TileAt(row, step))
//	s.Load(b, dsl.TileAt(col, step))
//	s.LoadFactors(a, dsl.TileAt(row, step))
//	s.LoadFactors(b, dsl.TileAt(col, step))
//	...
//	d.MMA(s.Tile(a), s.Tile(b))

// Scaled attaches the tensor map of the scale factors, a ScaleMap, to that of an operand. In a CTA
// pair that shares the operand with MulticastHalf, both blocks load all scale factors.
func (m *TensorMap) Scaled(by *TensorMap) {
	if k := m.kernel(); k != nil && m.attach("Scaled", by) {
		if by.scale.Vector == 0 {
			k.fault(&ruleShape, "scale factors %s of %s are not declared by ScaleMap", by.name,
				m.name)
			return
		}
		m.scales = by
	}
}

// Sparse attaches the tensor map of the indices of stored elements, a SparsityMap of m, to that of
// the A operand of a sparse MMA.
func (m *TensorMap) Sparse(indices *TensorMap) {
	if m.attach("Sparse", indices) {
		m.indices = indices
	}
}

// attach reports whether a tensor map can be attached to m, and records the reason if not.
func (m *TensorMap) attach(call string, to *TensorMap) bool {
	k := m.kernel()
	if !checkCreated(k, "tensor map in "+call, to.kernel()) {
		return false
	}
	if to.kernel() == nil {
		k.fault(&ruleValue, "tensor map in %s is a zero value, not created by a builder call", call)
	}
	return to.kernel() != nil
}

// withFactors returns feeds with those of the attached tensor maps: first the scale factors, then
// the indices.
func withFactors(feeds []Feed) []Feed {
	all := append([]Feed(nil), feeds...)
	for _, f := range feeds {
		if f.from != nil && f.from.scales != nil {
			share := f.share
			if share == sameHalf {
				share = sameCol
			}
			all = append(all, Feed{from: f.from.scales, share: share})
		}
	}
	for _, f := range feeds {
		if f.from != nil && f.from.indices != nil {
			all = append(all, Feed{from: f.from.indices, share: f.share})
		}
	}
	return all
}

// LoadFactors loads the tiles of the tensor maps that are attached to m, if any. The position is
// that of the whole tile of the operand, also if a block of a CTA pair loads only half of it.
func (s *Stage) LoadFactors(m *TensorMap, tile TileCoord) {
	if s.kernel() == nil || m.kernel() == nil {
		return
	}
	if m.scales != nil {
		s.Load(m.scales, tile)
	}
	if m.indices != nil {
		s.Load(m.indices, tile)
	}
}

// attached returns the scale factors of a tile, or nil if its tensor map has none.
func (t SharedTile) attachedScales() (b BlockScale, factors SharedTile, ok bool) {
	if t.from == nil || t.from.scales == nil || t.stage == nil {
		return BlockScale{}, SharedTile{}, false
	}
	factors = t.stage.Tile(t.from.scales)
	factors.half = t.half
	return t.from.scales.scale, factors, true
}

// attachedIndices returns the indices of the stored elements of a tile, or nil if it is not sparse.
func (t SharedTile) attachedIndices() *SharedTile {
	if t.from == nil || t.from.indices == nil || t.stage == nil {
		return nil
	}
	indices := t.stage.Tile(t.from.indices)
	return &indices
}
