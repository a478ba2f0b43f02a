// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

import "github.com/ptxdsl/ptxdsl/ir"

// coverages returns the coverage annotations of the n tiles of a pipeline, one per tile.
func coverages(pipeline string, n int) []ir.PipelineTile {
	list := make([]ir.PipelineTile, n)
	for i := range list {
		list[i].Pipeline = pipeline
	}
	return list
}

// noteOtherRead records that code other than an MMA reads the tile, or a part of it. The analyzer
// that checks whether MMAs cover all of a tile then skips the tile.
func (t *SharedTile) noteOtherRead() {
	if t.cover != nil {
		t.cover.Others = true
	}
}

// operandSide describes n rows of a tile, starting at row from, as one operand of an MMA. The
// result is empty if the tile belongs to no pipeline.
func (t SharedTile) operandSide(from Reg[U32], n int) ir.Side {
	c := t.cover
	if c == nil {
		return ir.Side{}
	}
	rows, _ := t.operandShape()
	if c.Rows != 0 && (c.Rows != rows || c.Turned != t.isTransposed) {
		c.Others = true
	}
	c.Rows, c.Turned = rows, t.isTransposed
	shape := t.shape()
	shape.Transposed = false // messages name rows or columns of the tile itself
	return ir.Side{Of: c, Tile: shape, From: position(from), N: n}
}

// maxProducts is the maximum number of MMAs that are annotated.
const maxProducts = maxUses / 8

// annotateProduct annotates an MMA of a warp with its two operands, at least one of which is a
// tile of a pipeline.
func (k *Kernel) annotateProduct(a, b ir.Side) {
	if a.Of == nil && b.Of == nil {
		return
	}
	if k.isDivergent || !k.f.Kernel || k.BlockThreads() == 0 ||
		len(k.notes.Products) >= maxProducts {
		for _, s := range [...]ir.Side{a, b} {
			if s.Of != nil {
				s.Of.Others = true
			}
		}
		return
	}
	k.sharedConds = max(k.sharedConds, len(k.conds))
	k.notes.Products = append(k.notes.Products,
		ir.Product{Pos: k.m.calls.Here(), Conds: k.conds, Role: k.roleNote(),
			Sides: [2]ir.Side{a, b}})
}
