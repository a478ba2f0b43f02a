// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package global

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// An access is one global load or store. Its address is split into a block-independent root, a
// term in the block index, and an offset for each thread.
type access struct {
	e     *trace.Event
	i     int // index in the events of its trace
	write bool
	value *value.Value // stored value, or nil if the value is unknown
	bytes int64
	// The address of thread i is root + blocks * (block index) + starts[i]; root is the same in
	// all blocks. starts is sorted and has no duplicates.
	root   *value.Value
	blocks [3]int64
	starts []int64
	region memory.Region // bytes that the threads of one block access
	epoch  int           // number of block barriers before the access
	// anyBlock is set if no condition on the block index alone decides whether the access
	// executes.
	anyBlock bool
}

// accesses returns the accesses of a trace that certainly execute for some parameter values.
func accesses(k *trace.Kernel, t *trace.Trace) (list []access) {
	epoch := 0
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind == trace.BarrierSync {
			epoch++
		}
		if e.Kind != trace.Load && e.Kind != trace.Store || e.In.NamesShared() {
			continue
		}
		anyBlock, ok := mayExecute(t, i)
		if !ok {
			continue
		}
		x := access{e: e, i: i, write: e.Kind == trace.Store, bytes: memory.Bytes(e.In),
			epoch:    epoch,
			anyBlock: anyBlock}
		if x.write {
			n := len(e.In.Args) - 1
			if o := &e.In.Args[n]; o.Kind == ir.Int || o.Kind == ir.Single || o.Kind == ir.Double {
				x.value = k.Pool.Const(64, 0) // the same value in all threads
			} else {
				x.value = verify.Val(e, n)
			}
		}
		if x.splitAddress(k, verify.Val(e, verify.Address(e.In, 0))) {
			list = append(list, x)
		}
	}
	return list
}

// mayExecute reports whether an event executes for some parameter values. Each of its conditions
// must depend on the thread index, or compare an index with a parameter, and each parameter may
// occur once. anyBlock reports that no condition depends on the block index.
func mayExecute(t *trace.Trace, i int) (anyBlock, ok bool) {
	anyBlock = true
	visited := make(map[*ir.Instr]bool)
	isAllowed := func(cond *value.Value) bool {
		a, _ := cond.Condition()
		if a == nil {
			return true
		}
		if a.Tid {
			return true
		}
		parameter, block := false, false
		if a.Op != value.OpLt {
			return false
		}
		for _, arg := range a.Args {
			for _, t := range arg.Terms {
				switch {
				case t.Atom.Tid:
				case strings.HasPrefix(t.Atom.Name, "%ctaid."):
					block = true
				case t.Atom.Op == value.OpParameter:
					parameter = true
				default:
					return false
				}
			}
		}
		if block && !parameter {
			anyBlock = false
		}
		return true
	}
	for _, c := range t.Choices {
		if c.At > i {
			break
		}
		if a, _ := c.Cond.Condition(); a != nil && !a.Tid && visited[c.In] {
			return false, false // the event is in a later iteration of a loop
		}
		visited[c.In] = true
		if !isAllowed(c.Cond) {
			return false, false
		}
	}
	if g := t.Events[i].Guard; g != nil && !isAllowed(g) {
		return false, false
	}
	return anyBlock, true
}

// splitAddress sets root, blocks, starts and region from address v. It returns false if v has
// another form.
func (x *access) splitAddress(k *trace.Kernel, v *value.Value) bool {
	if v == nil {
		return false
	}
	p := k.Pool
	pointer := false
	x.root = p.Const(64, 0)
	whole, own := p.Const(64, 0), p.Const(64, v.K)
	for _, t := range v.Terms {
		term := p.Scale(64, p.Alone(t.Atom), t.Factor)
		switch {
		case t.Atom.Tid:
			own = p.Add(64, own, term)
		case strings.HasPrefix(t.Atom.Name, "%ctaid.") && t.Atom.Op == value.OpRegister:
			x.blocks[t.Atom.Name[len("%ctaid.")]-'x'] += t.Factor
			whole = p.Add(64, whole, term)
		case t.Atom.Level <= value.Block && !dependsOnBlock(t.Atom):
			pointer = pointer || t.Factor == 1 && t.Atom.Op == value.OpParameter
			x.root = p.Add(64, x.root, term)
		default:
			return false
		}
	}
	if !pointer {
		return false
	}
	pattern := p.Pattern(own, x.e.Threads)
	for _, at := range pattern.At {
		x.starts = append(x.starts, own.K+at)
	}
	var ok bool
	x.region, ok = memory.Of(p, v, x.bytes, *x.e.Threads)
	return ok && len(x.starts) > 0
}

// dependsOnBlock reports whether an atom depends on the block index.
func dependsOnBlock(a *value.Atom) bool {
	if strings.HasPrefix(a.Name, "%ctaid") || strings.HasPrefix(a.Name, "%cluster") ||
		a.Op == value.OpAfter {
		return true
	}
	for _, arg := range a.Args {
		for _, t := range arg.Terms {
			if dependsOnBlock(t.Atom) {
				return true
			}
		}
	}
	return false
}

// overlapsOtherBlock reports whether access x of one block overlaps access y of another block,
// for blocks whose indices differ by a small number along one axis. The parameter step is the
// distance in bytes between the addresses of neighboring blocks.
func overlapsOtherBlock(x, y *access, step int64) bool {
	const maxBlockDistance = 4
	for n := int64(1); n <= maxBlockDistance; n++ {
		if overlap(x.starts, x.bytes, y.starts, y.bytes, n*step) {
			return true
		}
	}
	return false
}

// overlap reports whether any of the na bytes at an offset in a overlaps any of the nb bytes at
// an offset in b plus by. Both lists of offsets must be sorted.
func overlap(a []int64, na int64, b []int64, nb, by int64) bool {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i]+na <= b[j]+by:
			i++
		case b[j]+by+nb <= a[i]:
			j++
		default:
			return true
		}
	}
	return false
}

// isShared reports whether several threads of a block access the same address.
func (x *access) isShared() bool { return len(x.starts) == 1 && x.e.Threads.Len() > 1 }

// readsOtherWarp reports whether a thread reads data that only threads of other warps write.
func readsOtherWarp(k *trace.Kernel, x, y *access) bool {
	read, write := x, y
	if x.write {
		read, write = y, x
	}
	sure, _ := read.region.Meets(&write.region)
	return sure && read.region.Foreign(&write.region, 32)
}

// mayDiffer reports whether two threads may store different values: the value is unknown, or
// depends on the block or thread index. If same is set, both threads have the same thread index.
func mayDiffer(v *value.Value, same bool) bool {
	if v == nil {
		return true
	}
	for _, t := range v.Terms {
		a := t.Atom
		switch {
		case dependsOnBlock(a):
			return true
		case a.Tid:
			if !same {
				return true
			}
		case a.Op == value.OpLoad || len(a.Args) > 0:
			for _, arg := range a.Args {
				if mayDiffer(arg, same) {
					return true
				}
			}
		case a.Level > value.Block:
			return true
		}
	}
	return false
}
