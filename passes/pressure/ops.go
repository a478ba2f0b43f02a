// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package pressure

import (
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// An op is an instruction that is left when copies are gone: what it reads and makes, in words, each once.
type op struct {
	in      *ir.Instr
	uses    []word
	defs    []word
	temps   int // registers it needs for itself while it works: a division is many instructions
	latency int // cycles until what it makes can be used, about
	memory  access
	base    word  // what the address of a load or store is made of, or nothing
	offset  int64 // and what is added
	size    int64 // bytes
}

// access says what an op does to memory, as far as the order of ops depends on it.
type access uint8

const (
	untouched access = iota
	loads            // from where nothing is stored
	loadsGlobal
	loadsShared
	storesGlobal
	storesShared
	ordered // nothing passes it
)

// A graph is the ops of a function by its blocks, without those whose results nobody needs.
type graph struct {
	words    *words
	flow     *ir.Flow
	ops      [][]op
	point    Point    // where most words are in use in the order of the text
	behind   [][]word // what is read behind each block, before blocks are merged
	unrolled int      // loops
}

func newGraph(f *ir.Func, number int) *graph {
	s := newWords(f)
	skip := make(map[*ir.Instr]bool)
	s.copies(skip)
	wide := s.addresses(skip)
	g := &graph{words: s, flow: ir.FlowOf(f), ops: make([][]op, len(f.Blocks))}
	arena := &arena{}
	for i, b := range f.Blocks {
		list := make([]op, 0, len(b.Instrs))
		for _, in := range b.Instrs {
			if in.Directive() || skip[in] {
				continue
			}
			list = append(list, s.op(in, wide, arena))
		}
		g.ops[i] = list
	}
	g.sweep()
	g.behind = g.live()
	g.natures(number, false)
	p := g.inOrder(g.behind)
	g.point = g.pointAt(g.behind, p)
	g.rename()
	g.unrolled = g.unroll()
	g.merge()
	return g
}

// arena hands out slices of words without one allocation for each.
type arena struct{ room []word }

func (a *arena) keep(list []word) []word {
	if len(a.room) < len(list) {
		a.room = make([]word, max(4096, len(list)))
	}
	kept := a.room[:len(list):len(list)]
	a.room = a.room[len(list):]
	copy(kept, list)
	return kept
}

// op is what an instruction needs and makes.
func (s *words) op(in *ir.Instr, wide map[int]*ir.Instr, a *arena) op {
	var uses, defs [64]word
	u, d := uses[:0], defs[:0]
	in.Registers(func(r *ir.Reg, access isa.Access) {
		i, ok := s.of(r)
		if !ok {
			return
		}
		if access != isa.Write {
			if from := wide[i]; from != nil && in.Head() == "add" {
				// The product goes into the sum: what it is made of is read here.
				from.Registers(func(r *ir.Reg, access isa.Access) {
					if j, ok := s.of(r); ok && access == isa.Read {
						u = s.add(u, j)
					}
				})
			} else {
				u = s.add(u, i)
			}
		}
		if access != isa.Read {
			d = s.add(d, i)
		}
	})
	o := op{in: in, uses: a.keep(u), defs: a.keep(d)}
	o.temps, o.latency = cost(in)
	o.temps += s.held(in)
	o.memory = memory(in)
	s.locate(&o)
	return o
}

// held is how many registers an access to memory needs for what has none of its own: addresses and values
// that are constants must be put into registers for it.
func (s *words) held(in *ir.Instr) int {
	switch in.Head() {
	case "ld", "st", "atom", "red":
	default:
		return 0
	}
	if in.Mod("param") || in.Mod("const") {
		return 0
	}
	n := 0
	from := 1
	if in.Head() == "st" || in.Head() == "red" {
		from = 0
	}
	for i := range in.Args {
		if i < from {
			continue
		}
		in.Args[i].Walk(func(o *ir.Operand) {
			switch o.Kind {
			case ir.Int, ir.Single, ir.Double, ir.Variable:
				if in.Args[i].Kind != ir.Address || in.Mod("global") {
					n++
				}
			case ir.Register:
				if r, ok := s.of(o.Reg()); ok {
					for j := range word(s.width[r]) {
						if s.find(s.first[r]+j) == nothing {
							n++
						}
					}
				}
			}
		})
	}
	return n
}

// locate finds what the address of a load or store is made of.
func (s *words) locate(o *op) {
	o.base = nothing
	switch o.memory {
	case loadsGlobal, loadsShared, storesGlobal, storesShared:
	default:
		return
	}
	if h := o.in.Head(); h != "ld" && h != "st" {
		return
	}
	for i := range o.in.Args {
		a := &o.in.Args[i]
		if a.Kind != ir.Address {
			if a.Kind == ir.Vector {
				o.size = int64(4 * len(a.Args))
				if len(a.Args) > 0 {
					if r, ok := s.of(a.Args[0].Reg()); ok {
						o.size = int64(4 * len(a.Args) * int(s.width[r]))
					}
				}
			} else if r, ok := s.of(a.Reg()); ok {
				o.size = int64(4 * s.width[r])
			}
			continue
		}
		if len(a.Args) != 1 {
			continue
		}
		r, ok := s.of(a.Args[0].Reg())
		if !ok {
			continue
		}
		o.offset = a.Args[0].Value
		for s.from[r] >= 0 {
			o.offset += s.plus[r]
			r = int(s.from[r])
		}
		o.base = s.find(s.first[r])
	}
	o.size = max(o.size, 4)
	if o.in.Mod("u8") || o.in.Mod("s8") || o.in.Mod("b8") {
		o.size = 1
	}
}

// apart reports whether two accesses touch different bytes.
func apart(a, b *op) bool {
	return a.base != nothing && a.base == b.base && (a.offset+a.size <= b.offset || b.offset+b.size <= a.offset)
}

// add adds a register's words to a list, each once.
func (s *words) add(list []word, reg int) []word {
next:
	for j := range word(s.width[reg]) {
		w := s.find(s.first[reg] + j)
		if w == nothing {
			continue
		}
		if len(list) < 64 {
			for _, other := range list {
				if other == w {
					continue next
				}
			}
		}
		list = append(list, w)
	}
	return list
}

// addresses folds constants that are added to addresses into the accesses, and products of an index and a size into the sums that
// they are for; it returns these products by the register that they are in.
func (s *words) addresses(skip map[*ir.Instr]bool) map[int]*ir.Instr {
	other := make([]int32, len(s.f.Regs)) // uses that are no addresses
	sums := make([]int32, len(s.f.Regs))  // uses in 64-bit sums
	for _, b := range s.f.Blocks {
		for _, in := range b.Instrs {
			if skip[in] || in.Directive() {
				continue
			}
			sum := in.Op == "add.s64" || in.Op == "add.u64"
			in.Registers(func(r *ir.Reg, a isa.Access) {
				if i, ok := s.of(r); ok && a != isa.Write {
					other[i]++
					if sum {
						sums[i]++
					}
				}
			})
			for i := range in.Args {
				if o := &in.Args[i]; o.Kind == ir.Address && len(o.Args) == 1 && plain(in) {
					if r, ok := s.of(o.Args[0].Reg()); ok {
						other[r]--
					}
				}
			}
		}
	}
	wide := make(map[int]*ir.Instr)
	for i := len(s.f.Blocks) - 1; i >= 0; i-- {
		list := s.f.Blocks[i].Instrs
		for j := len(list) - 1; j >= 0; j-- {
			in := list[j]
			if skip[in] || in.Guard.Reg != nil || len(in.Args) != 3 {
				continue
			}
			d, ok := s.once(&in.Args[0])
			if !ok {
				continue
			}
			a, also := s.once(&in.Args[1])
			if in.Head() == "add" && also && in.Args[2].Kind == ir.Int && other[d] == 0 && s.width[d] == s.width[a] {
				folded := true
				for n := range word(s.width[d]) {
					folded = s.copyWord(s.first[d]+n, s.first[a]+n) && folded
				}
				if folded {
					s.from[d], s.plus[d] = int32(a), in.Args[2].Value
					other[a]--
					skip[in] = true
				}
			}
			if in.Head() == "mul" && in.Mod("wide") && in.Args[2].Kind == ir.Int && s.width[d] == 2 && sums[d] > 0 && sums[d] == other[d] && also {
				wide[d] = in
				skip[in] = true
			}
		}
	}
	return wide
}

// rename gives what is written several times in one block a word of its own each time, but for the last,
// so that nothing seems to wait for what it has nothing to do with.
func (g *graph) rename() {
	s := g.words
	count := make([]int32, len(s.alias))
	now := make(map[word]word)
	for b := range g.ops {
		for i := range g.ops[b] {
			for _, d := range g.ops[b][i].defs {
				count[d]++
			}
		}
		clear(now)
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			for j, u := range o.uses {
				if n, ok := now[u]; ok {
					o.uses[j] = n
				}
			}
			if n, ok := now[o.base]; ok {
				o.base = n
			}
			for j, d := range o.defs {
				if int(d) >= len(count) {
					continue
				}
				if count[d]--; count[d] > 0 {
					n := s.fresh(d)
					o.defs[j] = n
					now[d] = n
				} else {
					delete(now, d)
				}
			}
		}
	}
}

// plain reports whether an instruction takes addresses with a number added to them.
func plain(in *ir.Instr) bool {
	switch in.Head() {
	case "ld", "st", "atom", "red", "ldu", "prefetch":
		return true
	}
	return false
}

// sweep drops ops whose results nobody needs.
func (g *graph) sweep() {
	count := make([]int32, len(g.words.alias))
	type place struct{ block, at int32 }
	makers := make(map[word][]place)
	free := func(o *op) bool {
		return o.in.Has("pure") && !o.in.Has("convergent") || o.in.Head() == "ld" && !o.in.Mod("volatile")
	}
	for b := range g.ops {
		for i := range g.ops[b] {
			o := &g.ops[b][i]
			for _, u := range o.uses {
				if !has(o.defs, u) {
					count[u]++
				}
			}
		}
	}
	var dead []place
	check := func(p place) {
		o := &g.ops[p.block][p.at]
		if o.in == nil || !free(o) || len(o.defs) == 0 {
			return
		}
		for _, d := range o.defs {
			if count[d] > 0 {
				return
			}
		}
		dead = append(dead, p)
	}
	for b := range g.ops {
		for i := range g.ops[b] {
			for _, d := range g.ops[b][i].defs {
				makers[d] = append(makers[d], place{int32(b), int32(i)})
			}
			check(place{int32(b), int32(i)})
		}
	}
	for len(dead) > 0 {
		p := dead[len(dead)-1]
		dead = dead[:len(dead)-1]
		o := &g.ops[p.block][p.at]
		if o.in == nil {
			continue
		}
		for _, u := range o.uses {
			if has(o.defs, u) {
				continue
			}
			if count[u]--; count[u] == 0 {
				for _, m := range makers[u] {
					check(m)
				}
			}
		}
		o.in = nil
	}
	for b := range g.ops {
		kept := g.ops[b][:0]
		for _, o := range g.ops[b] {
			if o.in != nil {
				kept = append(kept, o)
			}
		}
		g.ops[b] = kept
	}
}

func has(list []word, w word) bool {
	for _, x := range list {
		if x == w {
			return true
		}
	}
	return false
}

// cost is about how many registers an instruction needs for itself, and how many cycles pass until its
// results are there.
func cost(in *ir.Instr) (temps, latency int) {
	double := in.Mod("f64")
	switch in.Head() {
	case "div", "rem":
		switch {
		case double:
			return 12, 200
		case in.Mod("s64") || in.Mod("u64"):
			return 14, 300
		case in.Mod("f32") && in.Mod("rn"):
			return 6, 80
		case in.Mod("f32"):
			return 2, 40
		}
		return 5, 60
	case "sqrt", "rcp", "rsqrt":
		switch {
		case double:
			return 8, 120
		case in.Mod("rn"):
			return 4, 60
		}
		return 0, 20
	case "ex2", "lg2", "sin", "cos", "tanh":
		return 0, 20
	case "ld", "ldu":
		switch {
		case in.Mod("shared"):
			return 0, 25
		case in.Mod("param") || in.Mod("const"):
			return 0, 30
		}
		return 0, 300
	case "atom", "tex", "tld4", "suld", "txq":
		return 0, 300
	case "shfl", "vote", "match", "redux", "ldmatrix", "activemask":
		return 0, 25
	case "mma", "wmma":
		return 0, 30
	case "mov":
		if special(in) {
			return 0, 25
		}
		return 0, 5
	case "call":
		return 0, 100
	}
	if double {
		return 0, 10
	}
	return 0, 5
}

// memory is what an instruction does to memory.
func memory(in *ir.Instr) access {
	switch head := in.Head(); head {
	case "ld", "ldu", "ldmatrix":
		switch {
		case in.Mod("volatile") || in.Mod("acquire") || in.Mod("mmio"):
			return ordered
		case in.Mod("param") || in.Mod("const") || in.Mod("nc"):
			return loads
		case in.Mod("shared") || strings.HasPrefix(head, "ldm"):
			return loadsShared
		}
		return loadsGlobal
	case "tex", "tld4", "suld":
		return loads
	case "st":
		switch {
		case in.Mod("volatile") || in.Mod("release") || in.Mod("mmio"):
			return ordered
		case in.Mod("shared") || in.Mod("param"):
			return storesShared
		}
		return storesGlobal
	case "atom", "red":
		if in.Mod("shared") {
			return storesShared
		}
		return storesGlobal
	}
	if in.Has("pure") {
		return untouched
	}
	switch in.Head() {
	case "shfl", "vote", "match", "redux", "activemask", "mma", "elect", "bra", "setp", "movmatrix":
		return untouched
	}
	return ordered
}
