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

// An access is one load or store of global memory, with a decomposed address.
type access struct {
	e     *trace.Event
	i     int // index in the events of its trace
	write bool
	value *value.Value // stored value, or nil if it is unknown
	bytes int64
	// The address is the sum of root, which is the same in all blocks, the block index times
	// blocks, and for each thread one element of starts.
	root   *value.Value
	blocks [3]int64
	starts []int64
	region memory.Region // region of the threads of one block
	epoch  int           // number of barriers before it
	// anyBlock reports whether no condition on only the block index decides whether it executes.
	anyBlock bool
}

// accesses lists the accesses of a trace that certainly execute for some parameter values.
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
		anyBlock, ok := executes(t, i)
		if !ok {
			continue
		}
		x := access{e: e, i: i, write: e.Kind == trace.Store, bytes: memory.Bytes(e.In),
			epoch:    epoch,
			anyBlock: anyBlock}
		if x.write {
			n := len(e.In.Args) - 1
			if o := &e.In.Args[n]; o.Kind == ir.Int || o.Kind == ir.Single || o.Kind == ir.Double {
				x.value = k.Pool.Const(64, 0) // the same in all threads
			} else {
				x.value = verify.Val(e, n)
			}
		}
		if x.address(k, verify.Val(e, verify.Address(e.In, 0))) {
			list = append(list, x)
		}
	}
	return list
}

// executes reports whether an event executes for some values of the parameters. Each of its
// conditions must depend on the thread index, or compare an index with a parameter, and each
// parameter may occur once. The result anyBlock reports that the conditions do not depend on the
// block index.
func executes(t *trace.Trace, i int) (anyBlock, ok bool) {
	anyBlock = true
	met := make(map[*ir.Instr]bool)
	judge := func(cond *value.Value) bool {
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
		if a, _ := c.Cond.Condition(); a != nil && !a.Tid && met[c.In] {
			return false, false // a later iteration of a loop
		}
		met[c.In] = true
		if !judge(c.Cond) {
			return false, false
		}
	}
	if g := t.Events[i].Guard; g != nil && !judge(g) {
		return false, false
	}
	return anyBlock, true
}

// address decomposes an address. It returns false if it cannot.
func (x *access) address(k *trace.Kernel, v *value.Value) bool {
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
		case t.Atom.Level <= value.Block && !selects(t.Atom):
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

// selects reports whether an atom depends on the block index.
func selects(a *value.Atom) bool {
	if strings.HasPrefix(a.Name, "%ctaid") || strings.HasPrefix(a.Name, "%cluster") ||
		a.Op == value.OpAfter {
		return true
	}
	for _, arg := range a.Args {
		for _, t := range arg.Terms {
			if selects(t.Atom) {
				return true
			}
		}
	}
	return false
}

// apart reports whether the access x of one block and the access y of another overlap, for blocks
// whose indices differ by a small number along one axis. The parameter step is the distance between
// the addresses of neighbouring blocks.
func apart(x, y *access, step int64) bool {
	const few = 4
	for n := int64(1); n <= few; n++ {
		if overlap(x.starts, x.bytes, y.starts, y.bytes, n*step) {
			return true
		}
	}
	return false
}

// overlap reports whether bytes at an offset in a overlap bytes at an offset in b, shifted by by.
// Both lists are sorted.
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

// shared reports whether several threads of a block access the same address.
func (x *access) shared() bool { return len(x.starts) == 1 && x.e.Threads.Len() > 1 }

// crosses reports whether a thread reads data that is written only by threads of other warps.
func crosses(k *trace.Kernel, x, y *access) bool {
	read, write := x, y
	if x.write {
		read, write = y, x
	}
	sure, _ := read.region.Meets(&write.region)
	return sure && read.region.Foreign(&write.region, 32)
}

// varies reports whether two threads may store different values: the value is unknown, or depends
// on the block or thread index. The parameter same is set if both threads have the same thread
// index.
func varies(v *value.Value, same bool) bool {
	if v == nil {
		return true
	}
	for _, t := range v.Terms {
		a := t.Atom
		switch {
		case selects(a):
			return true
		case a.Tid:
			if !same {
				return true
			}
		case a.Op == value.OpLoad || len(a.Args) > 0:
			for _, arg := range a.Args {
				if varies(arg, same) {
					return true
				}
			}
		case a.Level > value.Block:
			return true
		}
	}
	return false
}
