// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/isa"

// A ScaleCopy is a pipeline input with the scale factors of tiles, which the lanes of one warp copy
// with cp.async. Unlike a ScaleMap it needs no tensor map, and a copy has no fixed cost:
//
//	sfa := k.ScaleCopy("sfa", dsl.NVFP4, 128, depth)
//	factors := k.Pipeline("factors", 4, sfa.Feed())
//	...
//	for s := range factors.Produce(steps) {
//		sfa.Load(s, row, length)
//		k.CommitCopies()
//		k.WaitCopies(0)
//	}
type ScaleCopy struct {
	tile  *ComputedTile
	from  Array[U64]
	each  int // number of elements of a row that an atom of scale factors covers
	atoms int // number of atoms per row in a stage
	rows  int // number of groups of 128 rows
}

// ScaleCopy declares a parameter for the scale factors, and the pipeline input for tiles of the
// given size: a multiple of 128 rows, and of the columns that four scale factors cover.
func (k *Kernel) ScaleCopy(name string, b BlockScale, rows, cols int) *ScaleCopy {
	k = k.sound()
	each := 4 * max(1, b.Vector)
	if b.Vector < 1 || rows < 128 || rows%128 != 0 || cols < each || cols%each != 0 {
		k.fault(&ruleShape,
			"scale factors are copied for %dx%d with one per %d elements, expected a multiple of 128 rows and of %d columns",
			rows, cols, b.Vector, each)
		rows, cols = 128, each
	}
	s := &ScaleCopy{from: Global[U64](k, name), each: each, atoms: cols / each, rows: rows / 128}
	s.tile = k.ComputedTile(name+"_tile",
		Tile{Type: isa.U64, Rows: s.rows, Cols: 64 * s.atoms})
	return s
}

// computed returns the tile, or nil for a zero value.
func (s *ScaleCopy) computed() *ComputedTile {
	if s == nil {
		return nil
	}
	return s.tile
}

// Feed returns the scale factors as an input of a Pipeline.
func (s *ScaleCopy) Feed() Feed { return s.computed().Feed() }

// Tile returns the scale factors in a stage, for ScaledMMA.
func (s *ScaleCopy) Tile(stage *Stage) SharedTile { return s.computed().Tile(stage) }

// Load starts the copies for the tile in a row of tiles whose column is the iteration of the stage.
// The rows of the matrix have length elements; atoms after their end are filled with zeros. All
// lanes of the warp must call it, and wait for the copies before the stage ends.
func (s *ScaleCopy) Load(stage *Stage, row, length Reg[U32]) {
	k := s.computed().kernel()
	if !checkCreated(k, "scale copy in Load", stage.kernel(), row.k, length.k) {
		return
	}
	to, lane := s.Tile(stage), k.Lane()
	across := length.CeilDiv(int64(s.each)) // number of atoms per row of the matrix
	for r := range s.rows {
		for i := range s.atoms {
			atom := stage.Iteration().MulI(int64(s.atoms)).AddI(int64(i))
			first := row.MulI(int64(s.rows)).AddI(int64(r)).Mul(across).Add(atom)
			// each lane copies 16 bytes of the 512 of an atom
			from := s.from.At(first.ShlI(6).Add(lane.ShlI(1)))
			from.CopyAsync(Element[U64](to, k.U32(r), lane.ShlI(1).AddI(int64(64*i))), 2,
				atom.LT(across))
		}
	}
}
