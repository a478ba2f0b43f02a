// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memmodel

import (
	"fmt"
	"slices"
	"strings"
)

// A Verdict is the result of deciding the condition of a test.
type Verdict struct {
	Possible   bool // some execution satisfies the condition
	Always     bool // every execution satisfies it
	Executions int  // number of consistent executions
}

// Holds reports whether the condition of a test holds with its quantifier.
func (t *Test) Holds(v Verdict) bool {
	switch t.Quantifier {
	case "forall":
		return v.Always
	case "~exists":
		return !v.Possible
	}
	return v.Possible
}

// maxEvents limits the number of events in an execution.
const maxEvents = 60

// Decide enumerates the executions of a test.
func Decide(t *Test) (Verdict, error) {
	d := &decider{test: t, verdict: Verdict{Always: true}}
	if err := d.build(); err != nil {
		return Verdict{}, err
	}
	d.read(0)
	return d.verdict, nil
}

// A decider enumerates the executions of a test.
type decider struct {
	test    *Test
	x       execution
	reads   [][2]int // read and memory part
	first   map[string]int
	parts   map[string][]int // per location: the offsets of its parts, and its size
	verdict Verdict
}

// build creates the events.
func (d *decider) build() error {
	t := d.test
	d.first, d.parts = map[string]int{}, map[string][]int{}
	var cuts = map[string][]int{}
	for _, th := range t.Threads {
		for _, in := range th.code {
			if in.at != "" {
				base := t.physical(in.at)
				cuts[base] = append(cuts[base], in.offset, in.offset+in.size)
			}
		}
	}
	for _, name := range t.condition.names() {
		name, _, _ = strings.Cut(name, "+")
		if base := t.physical(name); cuts[base] == nil {
			cuts[base] = []int{0, 4}
			t.widths[base] = max(t.widths[base], 4)
		}
	}
	var bases []string
	for base := range cuts {
		bases = append(bases, base)
	}
	slices.Sort(bases)
	atoms := 0
	for _, base := range bases {
		list := append(cuts[base], 0, t.widths[base])
		slices.Sort(list)
		list = slices.Compact(list)
		d.first[base], d.parts[base] = atoms, list
		atoms += len(list) - 1
	}
	if atoms > 60 {
		return fmt.Errorf("%s accesses too many parts of memory", t.Name)
	}
	addresses := map[string]int{}
	for i, base := range bases {
		addresses[base] = i
		d.x.events = append(d.x.events, event{
			thread: -1, kind: Write, partner: -1, address: i,
			atoms: d.mask(base, 0, t.widths[base]), size: t.widths[base],
			instr: &instr{at: base, args: []string{fmt.Sprint(t.Init[base])}},
		})
	}
	for i, th := range t.Threads {
		d.x.places = append(d.x.places, th.Place)
		generation := map[int]int{}
		for _, in := range th.code {
			d.instr(i, in, addresses, generation)
		}
	}
	n := len(d.x.events)
	if n > maxEvents {
		return fmt.Errorf("%s has %d events, expected at most %d", t.Name, n, maxEvents)
	}
	d.x.po, d.x.rf, d.x.sc = make(relation, n), make(relation, n), make(relation, n)
	d.x.from = map[[2]int]int{}
	for a := range n {
		for b := range n {
			ea, eb := &d.x.events[a], &d.x.events[b]
			if ea.thread < 0 && eb.thread >= 0 || ea.thread == eb.thread && a < b &&
				ea.thread >= 0 {
				d.x.po.add(a, b)
			}
		}
		if e := &d.x.events[a]; e.kind == Read {
			for atom := range 60 {
				if e.atoms>>atom&1 != 0 {
					d.reads = append(d.reads, [2]int{a, atom})
				}
			}
		}
	}
	return nil
}

// mask returns the parts of a location that cover a range of its bytes.
func (d *decider) mask(base string, offset, size int) (m uint64) {
	for i, at := range d.parts[base][:len(d.parts[base])-1] {
		if at >= offset && at < offset+size {
			m |= 1 << (d.first[base] + i)
		}
	}
	return m
}

// instr adds the events of an instruction.
func (d *decider) instr(thread int, in *instr, addresses map[string]int, generation map[int]int) {
	e := event{thread: thread, order: in.order, scope: in.scope, proxy: in.proxy, partner: -1,
		instr: in}
	if in.at != "" {
		base := d.test.physical(in.at)
		name := in.at
		if in.proxy != Generic { // other proxies use the physical address of an alias
			name = base
		}
		if _, ok := addresses[name]; !ok {
			addresses[name] = len(addresses)
		}
		e.address = addresses[name]
		e.atoms, e.offset, e.size = d.mask(base, in.offset, in.size), in.offset, in.size
	}
	add := func(k Kind) {
		e.kind = k
		d.x.events = append(d.x.events, e)
	}
	switch in.op {
	case "ld":
		add(Read)
	case "st":
		add(Write)
	case "atom":
		n := len(d.x.events)
		o := e.order
		e.partner = n + 1
		if e.order = o; o == Release {
			e.order = Relaxed
		}
		add(Read)
		e.partner = n
		if e.order = o; o == Acquire {
			e.order = Relaxed
		}
		add(Write)
	case "fence":
		add(Fence)
	case "proxy":
		// A tensor map fence is also a fence: what it orders precedes a release, and comes after
		// an acquire.
		if in.proxy == TensorMap && in.order == Acquire {
			add(Fence)
		}
		add(ProxyFence)
		if in.proxy == TensorMap && in.order != Acquire {
			add(Fence)
		}
	case "alias":
		add(AliasFence)
	case "bar":
		e.barrier = in.number<<8 | generation[in.number]
		generation[in.number]++
		add(Arrive)
		if !in.only {
			add(Wait)
		}
	}
}

// read tries each write from which read i may read, and continues with the next read.
func (d *decider) read(i int) {
	if i == len(d.reads) {
		d.fences()
		return
	}
	r, atom := d.reads[i][0], d.reads[i][1]
	for w := range d.x.events {
		e := &d.x.events[w]
		if e.kind != Write || e.atoms>>atom&1 == 0 || d.x.events[r].partner == w {
			continue
		}
		had := d.x.rf.has(w, r)
		d.x.rf.add(w, r)
		d.x.from[d.reads[i]] = w
		d.read(i + 1)
		if !had {
			d.x.rf[w] &^= 1 << r
		}
		delete(d.x.from, d.reads[i])
	}
}

// fences enumerates the orders of morally strong fence.sc pairs.
func (d *decider) fences() {
	if !d.grounded() {
		return
	}
	var pairs [][2]int
	for a := range d.x.events {
		for b := a + 1; b < len(d.x.events); b++ {
			e, f := &d.x.events[a], &d.x.events[b]
			if e.kind == Fence && f.kind == Fence && e.order == SC && f.order == SC &&
				d.x.morally(a, b) {
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	d.orient(pairs, d.x.sc, func() {
		d.x.order()
		if d.x.base.cyclic() {
			return
		}
		d.coherence()
	})
}

// orient adds each pair to relation r in both orders, one after the other, and calls done for each
// combination.
func (d *decider) orient(pairs [][2]int, r relation, done func()) {
	if len(pairs) == 0 {
		done()
		return
	}
	a, b := pairs[0][0], pairs[0][1]
	for _, p := range [][2]int{{a, b}, {b, a}} {
		r.add(p[0], p[1])
		d.orient(pairs[1:], r, done)
		r[p[0]] &^= 1 << p[1]
	}
}

// grounded reports whether the execution satisfies the axiom "no thin air": there is no cycle of
// reads and of writes whose values depend on these reads.
func (d *decider) grounded() bool {
	n := len(d.x.events)
	r := make(relation, n)
	for a := range n {
		r[a] |= d.x.rf[a]
		e := &d.x.events[a]
		if e.kind != Read {
			continue
		}
		if e.partner >= 0 {
			r.add(a, e.partner)
		}
		for b := a + 1; b < n; b++ {
			f := &d.x.events[b]
			if f.thread == e.thread && f.kind == Write &&
				slices.Contains(f.instr.args, e.instr.to) {
				r.add(a, b)
			}
		}
	}
	r.close()
	return !r.cyclic()
}

// coherence enumerates the coherence orders. Two writes are ordered if causality orders them or if
// they are morally strong. Other writes stay unordered, which allows the most executions.
func (d *decider) coherence() {
	n := len(d.x.events)
	co := make(relation, n)
	var pairs [][2]int
	for a := range n {
		for b := range n {
			e, f := &d.x.events[a], &d.x.events[b]
			if a == b || e.kind != Write || f.kind != Write || !d.x.overlap(a, b) {
				continue
			}
			switch {
			case e.thread < 0 && f.thread >= 0 || d.x.cause.has(a, b):
				co.add(a, b)
			case a < b && !d.x.cause.has(b, a) && d.x.morally(a, b):
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	d.orient(pairs, co, func() {
		d.x.co = slices.Clone(co)
		d.x.co.close()
		if !d.x.co.cyclic() && d.x.consistent() {
			d.finish()
		}
	})
}

// finish evaluates the condition of an execution for each of its possible final memory values.
func (d *decider) finish() {
	d.verdict.Executions++
	values := d.values()
	final := map[string][]int{}
	names := d.test.condition.names()
	for _, name := range names {
		base := d.test.physical(name)
		for w, e := range d.x.events {
			if e.kind != Write || d.test.physical(e.instr.at) != base {
				continue
			}
			last := true
			for v := range d.x.events {
				last = last && !(d.x.co.has(w, v))
			}
			if last {
				final[name] = append(final[name], values[w])
			}
		}
	}
	d.choose(names, final, map[string]int{}, values)
}

// choose enumerates the combinations of final memory values, one location after another.
func (d *decider) choose(names []string, final map[string][]int, chosen map[string]int,
	values []int) {
	if len(names) > 0 {
		if _, done := chosen[names[0]]; done {
			d.choose(names[1:], final, chosen, values)
			return
		}
		for _, x := range final[names[0]] {
			chosen[names[0]] = x
			d.choose(names[1:], final, chosen, values)
			delete(chosen, names[0])
		}
		return
	}
	holds := d.test.condition.holds(func(name string) int {
		thread, reg, ok := strings.Cut(name, ":")
		if !ok {
			return chosen[name]
		}
		x := 0
		for i, e := range d.x.events {
			if e.kind == Read && e.instr.to == reg && d.test.Threads[e.thread].Name == thread {
				x = values[i]
			}
		}
		return x
	})
	d.verdict.Possible = d.verdict.Possible || holds
	d.verdict.Always = d.verdict.Always && holds
}
