// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa/eval"
)

// special decodes a special register. Without a component such as .x, the result holds all
// components.
func (d *decoder) special(o *ir.Operand) []ref {
	name, part, found := strings.Cut(o.Text(), ".")
	if found {
		return []ref{d.specialPart(name, component("."+part), o)}
	}
	if _, vector := threeParts[name]; vector {
		var list []ref
		for i := range 4 {
			list = append(list, d.specialPart(name, i, o))
		}
		return list
	}
	return []ref{d.specialPart(name, 0, o)}
}

// threeParts maps special registers with components to their values.
var threeParts = map[string]func(w *warp) [3]uint32{
	"%ntid":           func(w *warp) [3]uint32 { return w.block.grid.launch.Block },
	"%nctaid":         func(w *warp) [3]uint32 { return w.block.grid.launch.Grid },
	"%ctaid":          func(w *warp) [3]uint32 { return w.block.id },
	"%clusterid":      func(w *warp) [3]uint32 { return w.block.cluster.id },
	"%nclusterid":     func(w *warp) [3]uint32 { return w.block.grid.clusters() },
	"%cluster_nctaid": func(w *warp) [3]uint32 { return w.block.grid.clusterSize() },
	"%cluster_ctaid": func(w *warp) [3]uint32 {
		size, r := w.block.grid.clusterSize(), w.block.rank
		return [3]uint32{r % size[0], r / size[0] % size[1], r / size[0] / size[1]}
	},
	"%tid": nil, // differs between lanes
}

// onePart maps special registers with the same value in all lanes to functions that return the
// value.
var onePart = map[string]func(w *warp) uint64{
	"%warpid":  func(w *warp) uint64 { return uint64(w.index) },
	"%nwarpid": func(w *warp) uint64 { return 64 },
	"%smid": func(w *warp) uint64 {
		return w.block.number() % uint64(w.block.grid.device.info.SMs)
	},
	"%nsmid":            func(w *warp) uint64 { return uint64(w.block.grid.device.info.SMs) },
	"%gridid":           func(w *warp) uint64 { return w.block.grid.number },
	"%clock":            func(w *warp) uint64 { return uint64(uint32(w.block.time())) },
	"%clock_hi":         func(w *warp) uint64 { return w.block.time() >> 32 },
	"%clock64":          func(w *warp) uint64 { return w.block.time() },
	"%globaltimer":      func(w *warp) uint64 { return w.block.time() },
	"%globaltimer_lo":   func(w *warp) uint64 { return uint64(uint32(w.block.time())) },
	"%globaltimer_hi":   func(w *warp) uint64 { return w.block.time() >> 32 },
	"%cluster_ctarank":  func(w *warp) uint64 { return uint64(w.block.rank) },
	"%cluster_nctarank": func(w *warp) uint64 { return uint64(len(w.block.cluster.blocks)) },
	"%total_smem_size":  func(w *warp) uint64 { return uint64(w.block.grid.sharedBytes()) },
	"%aggr_smem_size": func(w *warp) uint64 {
		return uint64(w.block.grid.sharedBytes() + sharedStart)
	},
	"%dynamic_smem_size": func(w *warp) uint64 {
		return uint64(w.block.grid.launch.Shared)
	},
	"%reserved_smem_offset_begin": func(w *warp) uint64 { return 0 },
	"%reserved_smem_offset_end":   func(w *warp) uint64 { return sharedStart },
	"%reserved_smem_offset_cap":   func(w *warp) uint64 { return sharedStart },
	"%reserved_smem_offset_0":     func(w *warp) uint64 { return 0 },
	"%reserved_smem_offset_1":     func(w *warp) uint64 { return groupStart },
	"%current_graph_exec":         func(w *warp) uint64 { return 0 },
}

// byLane maps special registers that depend only on the lane to their values.
var byLane = map[string]func(lane uint64) uint64{
	"%laneid":      func(l uint64) uint64 { return l },
	"%lanemask_eq": func(l uint64) uint64 { return 1 << l },
	"%lanemask_le": func(l uint64) uint64 { return 2<<l - 1 },
	"%lanemask_lt": func(l uint64) uint64 { return 1<<l - 1 },
	"%lanemask_ge": func(l uint64) uint64 { return full &^ (1<<l - 1) },
	"%lanemask_gt": func(l uint64) uint64 { return full &^ (2<<l - 1) },
}

// specialPart returns one component of a special register, as an operand.
func (d *decoder) specialPart(name string, part int, o *ir.Operand) ref {
	if name == "%tid" {
		if part == 3 {
			return ref{kind: refConstant, constant: splat(0)}
		}
		return ref{kind: refComputed, compute: func(w *warp, to *eval.Vector) {
			*to = w.thread[part]
		}}
	}
	if f := threeParts[name]; f != nil {
		if part == 3 {
			return ref{kind: refConstant, constant: splat(0)}
		}
		return same(func(w *warp) uint64 { return uint64(f(w)[part]) })
	}
	if f := onePart[name]; f != nil {
		if name == "%reserved_smem_offset_1" {
			d.image.grouped = true
		}
		return same(f)
	}
	if f := byLane[name]; f != nil {
		v := new(eval.Vector)
		for l := range v {
			v[l] = f(uint64(l))
		}
		return ref{kind: refConstant, constant: v, varies: true}
	}
	switch {
	case name == "%envreg1": // cooperative groups read the grid workspace address
		d.image.meeting = true
		return same(func(w *warp) uint64 { return w.block.grid.workspace >> 32 })
	case name == "%envreg2":
		d.image.meeting = true
		return same(func(w *warp) uint64 { return uint64(uint32(w.block.grid.workspace)) })
	case name == "%is_explicit_cluster":
		return ref{kind: refComputed, not: o.Not, holds: func(w *warp) uint32 {
			return truthOf(w.block.grid.launch.Cluster[0] != 0)
		}}
	case strings.HasPrefix(name, "%pm"), strings.HasPrefix(name, "%envreg"):
		// Performance counters and similar registers are always 0.
		return ref{kind: refConstant, constant: splat(0)}
	}
	d.fail("special register " + name + " is not emulated")
	return ref{}
}

// same returns an operand whose value is f(w) in all lanes of warp w.
func same(f func(w *warp) uint64) ref {
	return ref{kind: refComputed, compute: func(w *warp, to *eval.Vector) {
		x := f(w)
		for l := range to {
			to[l] = x
		}
	}}
}

// number returns the linear index of the block in its grid.
func (b *block) number() uint64 {
	n := b.grid.launch.Grid
	return uint64(b.id[0]) + uint64(n[0])*(uint64(b.id[1])+uint64(n[1])*uint64(b.id[2]))
}
