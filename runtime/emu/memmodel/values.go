// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package memmodel

// values computes the value that each event reads or writes. It requires that no value depends on
// itself, which grounded checks.
func (d *decider) values() []int {
	n := len(d.x.events)
	values := make([]int, n)
	known := make([]bool, n)
	var of func(i int) int
	of = func(i int) int {
		if known[i] {
			return values[i]
		}
		e := &d.x.events[i]
		x := 0
		switch e.kind {
		case Read:
			x = d.assemble(i, of)
		case Write:
			x = d.operand(i, 0, of)
			if e.partner >= 0 {
				x = combine(e.instr.combine, of(e.partner), x,
					func() int { return d.operand(i, 1, of) })
			}
			if e.size > 0 && e.size < 8 {
				x &= 1<<(8*e.size) - 1
			}
		}
		values[i], known[i] = x, true
		return x
	}
	for i := range n {
		of(i)
	}
	return values
}

// assemble combines the parts of memory that read i reads into one value.
func (d *decider) assemble(i int, of func(int) int) (x int) {
	e := &d.x.events[i]
	base := d.test.physical(e.instr.at)
	parts := d.parts[base]
	for p := range len(parts) - 1 {
		atom := d.first[base] + p
		if e.atoms>>atom&1 == 0 {
			continue
		}
		w := d.x.from[[2]int{i, atom}]
		bits := 8 * (parts[p+1] - parts[p])
		part := of(w) >> (8 * (parts[p] - d.x.events[w].offset))
		if bits < 63 {
			part &= 1<<bits - 1
		}
		x |= part << (8 * (parts[p] - e.offset))
	}
	return x
}

// operand returns a value operand of a write: a constant, or a register that an earlier read set.
func (d *decider) operand(i, k int, of func(int) int) int {
	e := &d.x.events[i]
	if k >= len(e.instr.args) {
		return 0
	}
	word := e.instr.args[k]
	if word[0] != 'r' {
		return number(word)
	}
	for j := i - 1; j >= 0; j-- {
		f := &d.x.events[j]
		if f.thread == e.thread && f.kind == Read && f.instr.to == word && f.instr != e.instr {
			return of(j)
		}
	}
	return 0
}

// combine computes an atomic operation.
func combine(op string, old, x int, second func() int) int {
	switch op {
	case "exch":
		return x
	case "cas":
		if old == x {
			return second()
		}
		return old
	case "min":
		return min(old, x)
	case "max":
		return max(old, x)
	case "and":
		return old & x
	case "or":
		return old | x
	case "xor":
		return old ^ x
	}
	return old + x
}
