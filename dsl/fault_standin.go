// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// standIns records the shapes that replace those of invalid declarations, so that building can
// continue. Findings about such a shape are dropped, because they follow from the error that has
// already been reported.
type standIns struct {
	tiles  []Tile
	shapes [][2]int // rows and columns of accumulators
}

// standIn records t as the replacement of an invalid tile, and returns t.
func (k *Kernel) standIn(t Tile) Tile {
	k.m.refused.tiles = append(k.m.refused.tiles, t)
	return t
}

// standInShape records the replacement of an invalid accumulator shape, and returns the
// arguments.
func (k *Kernel) standInShape(rows, cols int) (int, int) {
	k.m.refused.shapes = append(k.m.refused.shapes, [2]int{rows, cols})
	return rows, cols
}

// in reports whether the arguments of a message mention a replaced shape. A valid tile of the
// same shape also matches; its finding appears once the invalid declaration is correct.
func (s *standIns) in(args []any) bool {
	if len(s.tiles) == 0 && len(s.shapes) == 0 {
		return false
	}
	for i, arg := range args {
		switch arg := arg.(type) {
		case Tile:
			if s.tile(arg) {
				return true
			}
		case SharedTile:
			if s.tile(arg.Tile) {
				return true
			}
		case *SharedTile:
			if arg != nil && s.tile(arg.Tile) {
				return true
			}
		case int:
			if i+1 == len(args) {
				continue
			}
			if cols, ok := args[i+1].(int); ok && s.shape(arg, cols) {
				return true
			}
		}
	}
	return false
}

func (s *standIns) tile(t Tile) bool {
	for _, other := range s.tiles {
		if t == other {
			return true
		}
	}
	return false
}

func (s *standIns) shape(rows, cols int) bool {
	for _, other := range s.shapes {
		if other == [2]int{rows, cols} {
			return true
		}
	}
	return false
}
