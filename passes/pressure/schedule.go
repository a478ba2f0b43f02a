// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import "slices"

// A tally counts the registers in use as ops go by, one way or the other.
type tally struct {
	s    *words
	live []int32 // a word is live where its stamp is the present one
	mark int32
	now  int
	warp int // words in registers of the warp
	flag int // predicates
}

func (t *tally) start(out []word) {
	t.mark++
	t.now, t.warp, t.flag = 0, 0, 0
	for _, w := range out {
		t.enter(w)
	}
}

func (t *tally) enter(w word) bool {
	if t.live[w] == t.mark {
		return false
	}
	t.live[w] = t.mark
	switch t.s.class[w] {
	case general:
		t.now++
	case uniform:
		t.warp++
	case predicate:
		t.flag++
	}
	return true
}

func (t *tally) leave(w word) bool {
	if t.live[w] != t.mark {
		return false
	}
	t.live[w] = 0
	switch t.s.class[w] {
	case general:
		t.now--
	case uniform:
		t.warp--
	case predicate:
		t.flag--
	}
	return true
}

// back goes from behind an op to before it. It returns how many registers are in use while it works.
func (t *tally) back(o *op) int {
	for _, d := range o.defs {
		t.enter(d) // even what nothing reads is written somewhere
	}
	during := t.now
	for _, d := range o.defs {
		t.leave(d)
	}
	for _, u := range o.uses {
		t.enter(u)
	}
	return max(during, t.now) + o.temps
}

// A peak is the most that is in use at once.
type peak struct {
	count     int
	block, at int // in the order that was looked at
	warp      int // the most words in registers of the warp
	flags     int // the most predicates
	inner     int // the most in use in loops of one block
}

// inOrder returns the peak when ops run in the order of the text.
func (g *graph) inOrder(out [][]word) peak {
	t := &tally{s: g.words, live: make([]int32, len(g.words.alias))}
	var p peak
	for b := range g.ops {
		t.start(out[b])
		loop := slices.Contains(g.flow.Succs[b], b)
		for i := len(g.ops[b]) - 1; i >= 0; i-- {
			n := t.back(&g.ops[b][i])
			if n > p.count {
				p.count, p.block, p.at = n, b, i
			}
			if loop {
				p.inner = max(p.inner, n)
			}
			p.warp = max(p.warp, t.warp)
			p.flags = max(p.flags, t.flag)
		}
	}
	return p
}

// edges are the ops of a block that must come before others: succs of each.
type edges struct {
	succs [][]edge
	preds []int32 // how many
}

// An edge leads to an op that comes later: since it reads what is made, or only since the two may not change places, for which
// it need not wait.
type edge struct {
	to   int32
	read bool
}

// wait returns how many cycles an op behind an edge runs after the op before it at least, as far as
// chains of ops are measured.
func (e edge) wait(o *op) int32 {
	if e.read {
		return int32(o.latency)
	}
	return 1
}

// stall returns how many cycles the order holds an op behind an edge back, if there is something
// else to do: hardly any. The assembler leaves it to other warps to hide what global memory takes,
// but for what comes from near.
func (e edge) stall(o *op) int32 {
	if e.read {
		return int32(o.stall)
	}
	return 1
}

// window is how many stores back the dependences of accesses are sought.
const window = 64

// order finds what depends on what in a block.
func (g *graph) order(ops []op, last map[word]int32, readers map[word][]int32) *edges {
	clear(last)
	clear(readers)
	e := &edges{succs: make([][]edge, len(ops)), preds: make([]int32, len(ops))}
	link := func(from, to int32, read bool) {
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
	add := func(from, to int32) { link(from, to, false) }
	fence := int32(-1)
	var since []int32          // accesses behind the fence
	var read, wrote [2][]int32 // and those of each space, if something may depend on them
	after := func(list []int32, n int32) {
		for _, m := range list {
			if !apart(&ops[m], &ops[n]) {
				add(m, n)
			}
		}
	}
	wall := int32(-1) // the last op that nothing is moved across
	for i := range ops {
		o := &ops[i]
		n := int32(i)
		if o.slow {
			for j := wall + 1; j < n; j++ {
				add(j, n)
			}
		}
		add(wall, n)
		if o.slow {
			wall = n
		}
		for _, u := range o.uses {
			if d, ok := last[u]; ok {
				link(d, n, true)
			}
		}
		for _, d := range o.defs {
			for _, r := range readers[d] {
				add(r, n)
			}
			if p, ok := last[d]; ok {
				add(p, n)
			}
		}
		for _, u := range o.uses {
			if !g.words.single(u) {
				readers[u] = append(readers[u], n)
			}
		}
		for _, d := range o.defs {
			last[d] = n
			delete(readers, d)
		}
		switch o.memory {
		case untouched:
			continue
		case loadsGlobal, loadsShared:
			k := int(o.memory - loadsGlobal)
			after(wrote[k], n)
			read[k] = append(read[k], n)
		case storesGlobal, storesShared:
			k := int(o.memory - storesGlobal)
			after(read[k], n)
			after(wrote[k], n)
			wrote[k] = append(wrote[k], n)
			if len(wrote[k]) > window {
				wrote[k] = wrote[k][len(wrote[k])-window/2:]
			}
			if len(read[k]) > 4*window {
				read[k] = read[k][len(read[k])-2*window:]
			}
		case ordered:
			for _, l := range since {
				add(l, n)
			}
			add(fence, n)
			since, fence = since[:0], n
			read, wrote = [2][]int32{}, [2][]int32{}
			continue
		}
		add(fence, n)
		since = append(since, n)
	}
	// What leaves the block stays last.
	if n := len(ops); n > 0 && ops[n-1].in.Ends() {
		for i := range n - 1 {
			if len(e.succs[i]) == 0 {
				add(int32(i), int32(n-1))
			}
		}
	}
	return e
}
