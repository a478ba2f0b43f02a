// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import "github.com/ptxdsl/ptxdsl/ir"

// A Holder is an Observer that delays warps. A warp that it holds waits before an instruction, as
// a slow warp would, until the holder lets it continue.
type Holder interface {
	Observer
	// Holds reports whether a warp must wait before the instruction that it has reached.
	Holds(block, warp uint32, in *ir.Instr) bool
	// Release is called if no other thread can make progress. It lets one warp continue, and
	// reports whether a warp was held.
	Release() bool
}

// holderOf returns the holder among observers, or nil.
func holderOf(o Observer) Holder {
	if list, ok := o.(observerList); ok {
		for _, x := range list {
			if h, ok := x.(Holder); ok {
				return h
			}
		}
		return nil
	}
	h, _ := o.(Holder)
	return h
}

// held reports whether the holder of the grid makes a warp wait before a command.
func (w *warp) held(h Holder, in *command) bool {
	return in.at != nil && h.Holds(uint32(w.block.number()), uint32(w.index), in.at)
}
