// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

// window is the number of earlier stores that are searched for dependences of an access.
const window = 64

// dependences finds the edges of a block, op by op.
type dependences struct {
	*edges
	ops     []op
	words   *words
	last    map[word]int32   // the op that defined a word last
	readers map[word][]int32 // the ops that have read a word since it was defined
	wall    int32            // the last op that nothing is reordered across, or -1
	fence   int32            // the last access that no other access is reordered across, or -1
	since   []int32          // accesses after the last fence
	// reads and writes of each state space that later accesses may depend on
	read, wrote [2][]int32
}

// order finds the dependences within a block. The maps are reused.
func (g *graph) order(ops []op, last map[word]int32, readers map[word][]int32) *edges {
	clear(last)
	clear(readers)
	d := &dependences{
		edges: &edges{succs: make([][]edge, len(ops)), preds: make([]int32, len(ops))},
		ops:   ops, words: g.words, last: last, readers: readers, wall: -1, fence: -1}
	for n := range int32(len(ops)) {
		d.barriers(n)
		d.registers(n)
		d.memory(n)
	}
	d.end()
	return d.edges
}

// link adds an edge from one op to a later op. read is true if the later op reads the result of the
// earlier one.
func (e *edges) link(from, to int32, read bool) {
	if from == to || from < 0 {
		return
	}
	if l := e.succs[from]; len(l) > 0 && l[len(l)-1].to == to {
		l[len(l)-1].read = l[len(l)-1].read || read
		return
	}
	e.succs[from] = append(e.succs[from], edge{to, read})
	e.preds[to]++
}

// barriers adds the dependence of an op on the last op that ptxas does not reorder. Such ops are
// barriers and slow instructions.
func (d *dependences) barriers(n int32) {
	slow := d.ops[n].slow
	if slow {
		for i := d.wall + 1; i < n; i++ {
			d.link(i, n, false)
		}
	}
	d.link(d.wall, n, false)
	if slow {
		d.wall = n
	}
}

// registers adds the dependences of an op on the ops that define its operands, and on earlier uses
// of its results.
func (d *dependences) registers(n int32) {
	o := &d.ops[n]
	for _, u := range o.uses {
		if from, ok := d.last[u]; ok {
			d.link(from, n, true)
		}
	}
	for _, w := range o.defs {
		for _, r := range d.readers[w] {
			d.link(r, n, false)
		}
		if from, ok := d.last[w]; ok {
			d.link(from, n, false)
		}
	}
	for _, u := range o.uses {
		if !d.words.single(u) {
			d.readers[u] = append(d.readers[u], n)
		}
	}
	for _, w := range o.defs {
		d.last[w] = n
		delete(d.readers, w)
	}
}

// memory adds the dependences of a memory access on earlier accesses.
func (d *dependences) memory(n int32) {
	switch m := d.ops[n].memory; m {
	case untouched:
		return
	case loadsGlobal, loadsShared:
		k := int(m - loadsGlobal)
		d.after(d.wrote[k], n)
		d.read[k] = append(d.read[k], n)
	case storesGlobal, storesShared:
		k := int(m - storesGlobal)
		d.after(d.read[k], n)
		d.after(d.wrote[k], n)
		d.wrote[k] = recent(append(d.wrote[k], n), window)
		d.read[k] = recent(d.read[k], 4*window)
	case ordered:
		for _, l := range d.since {
			d.link(l, n, false)
		}
		d.link(d.fence, n, false)
		d.since, d.fence = d.since[:0], n
		d.read, d.wrote = [2][]int32{}, [2][]int32{}
		return
	}
	d.link(d.fence, n, false)
	d.since = append(d.since, n)
}

// recent returns list, or only its last limit/2 elements if it has more than limit elements.
func recent(list []int32, limit int) []int32 {
	if len(list) > limit {
		return list[len(list)-limit/2:]
	}
	return list
}

// after adds the dependences of an access on the earlier accesses in list, except accesses that
// are certainly to other addresses.
func (d *dependences) after(list []int32, n int32) {
	for _, m := range list {
		if !disjoint(&d.ops[m], &d.ops[n]) {
			d.link(m, n, false)
		}
	}
}

// end adds the edges that keep the branch of a block after all other ops.
func (d *dependences) end() {
	n := len(d.ops)
	if n == 0 || !d.ops[n-1].in.Ends() {
		return
	}
	for i := range n - 1 {
		if len(d.succs[i]) == 0 {
			d.link(int32(i), int32(n-1), false)
		}
	}
}
