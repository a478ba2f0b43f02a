// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

func mergeRegisters() *Pass {
	return &Pass{
		Name: "merge-registers",
		Doc: "lets registers of one type share a name if they are never live at the same time, " +
			"and numbers them without gaps. Registers that a person named keep their names. " +
			"Modules with debug information (.target ..., debug), whose tables name registers, " +
			"are unchanged.",
		Edits: true,
		Run: func(s *Step) {
			if slices.Contains(s.Module.Options, "debug") {
				return
			}
			taken := globalNames(s.Module)
			for _, f := range s.Module.Funcs() {
				s.Changes += allocate(f, taken)
			}
		},
	}
}

// class is a register class; only registers of one class can share a register.
type class struct {
	typ isa.Type
	vec uint8
}

// allocate replaces the compiler-named registers of f by as few new ones as their live intervals
// allow, and returns the number of replaced registers.
func allocate(f *ir.Func, taken map[string]bool) int {
	number := make(map[*ir.Reg]int, len(f.Regs))
	for i, r := range f.Regs {
		number[r] = i
	}
	fixed := keptRegisters(f, number)
	list := intervals(f, number)
	for i := range asyncRegisters(f, number) {
		list[i] = interval{from: math.MinInt, to: math.MaxInt, used: true}
	}
	order := make([]int, 0, len(f.Regs))
	for i := range f.Regs {
		if !fixed[i] && list[i].used {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(list[a].from, list[b].from) })
	letters := stems(f, fixed, taken)
	kept := make(map[string]bool)
	for i, r := range f.Regs {
		if fixed[i] {
			kept[r.Name] = true
		}
	}
	pools := make(map[class]*pool)
	changes := 0
	to := make([]*ir.Reg, len(f.Regs))
	for _, i := range order {
		r := f.Regs[i]
		c := class{r.Type, r.Vec}
		p := pools[c]
		if p == nil {
			p = &pool{letters: letters[c], next: -1}
			pools[c] = p
		}
		n := p.take(list[i])
		if n == len(p.regs) {
			p.regs = append(p.regs,
				&ir.Reg{Name: p.name(kept), Type: r.Type, Vec: r.Vec, Pos: r.Pos})
		}
		to[i] = p.regs[n]
		if to[i].Name != r.Name {
			changes++
		}
	}
	if changes == 0 {
		return 0
	}
	replace(f, number, to)
	f.Regs = declared(f.Regs, to, fixed)
	return changes
}

// A pool holds the new registers of a class, by index.
type pool struct {
	letters string
	next    int // number of the last name
	regs    []*ir.Reg
	free    numbers // heap of unused registers, the smallest first
	busy    []lease // heap of registers in use, the earliest end first
}

type lease struct{ until, number int }

// name returns the next name that no kept register has.
func (p *pool) name(kept map[string]bool) string {
	for {
		p.next++
		if name := p.letters + strconv.Itoa(p.next); !kept[name] {
			return name
		}
	}
}

// take returns the smallest register that is free from the start of an interval. The result of an
// instruction may take the register of an operand that dies there.
func (p *pool) take(v interval) int {
	for len(p.busy) > 0 && p.busy[0].until < v.from {
		l := heap.Pop((*leases)(&p.busy)).(lease)
		heap.Push(&p.free, l.number)
	}
	n := len(p.regs)
	if len(p.free) > 0 {
		n = heap.Pop(&p.free).(int)
	}
	heap.Push((*leases)(&p.busy), lease{v.to, n})
	return n
}

type leases []lease

func (l leases) Len() int           { return len(l) }
func (l leases) Less(i, j int) bool { return l[i].until < l[j].until }
func (l leases) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *leases) Push(x any)        { *l = append(*l, x.(lease)) }
func (l *leases) Pop() any {
	old := *l
	x := old[len(old)-1]
	*l = old[:len(old)-1]
	return x
}

type numbers []int

func (l numbers) Len() int           { return len(l) }
func (l numbers) Less(i, j int) bool { return l[i] < l[j] }
func (l numbers) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *numbers) Push(x any)        { *l = append(*l, x.(int)) }
func (l *numbers) Pop() any {
	old := *l
	x := old[len(old)-1]
	*l = old[:len(old)-1]
	return x
}

// keptRegisters returns the registers that are not replaced: those named by a person, and
// parameters and results of the function.
func keptRegisters(f *ir.Func, number map[*ir.Reg]int) []bool {
	fixed := make([]bool, len(f.Regs))
	named := make(map[string]bool)
	for i, r := range f.Regs {
		fixed[i] = !isCompilerName(r.Name)
		named[r.Name] = fixed[i]
	}
	for i, r := range f.Regs {
		// lift has numbered several registers of this name, from different scopes
		if j := strings.LastIndexByte(r.Name, '_'); j > 0 &&
			strings.TrimRight(r.Name[j+1:], "0123456789") == "" && named[r.Name[:j]] {
			fixed[i] = false
		}
	}
	for _, vars := range [][]*ir.Var{f.Params, f.Results} {
		for _, v := range vars {
			if i, ok := number[v.Reg]; ok && v.Reg != nil {
				fixed[i] = true
			}
		}
	}
	return fixed
}

// asyncRegisters returns the registers that the hardware reads or writes asynchronously, while
// later instructions run. Liveness does not know when that ends, so they share with no others.
func asyncRegisters(f *ir.Func, number map[*ir.Reg]int) map[int]bool {
	alone := make(map[int]bool)
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if !in.Directive() &&
				(in.Form == nil || in.Has(isa.EffectAsync) || in.Has(isa.EffectTensor)) {
				in.Registers(func(r *ir.Reg, _ isa.Access) {
					if i, ok := number[r]; ok {
						alone[i] = true
					}
				})
			}
		}
	}
	return alone
}

// isCompilerName reports whether a register's name consists of letters that compilers use for its
// class, and a number.
func isCompilerName(name string) bool {
	letters := strings.TrimRight(name, "0123456789")
	if letters == name && name != "" {
		return false
	}
	switch strings.TrimRight(letters, "_") {
	case "", "%p", "%rs", "%r", "%rd", "%rq", "%f", "%fd", "%h", "%hh", "%b":
		return true
	}
	return false
}

// stems returns the name prefix of each class: the usual one, with underscores if it conflicts with
// other names.
func stems(f *ir.Func, fixed []bool, taken map[string]bool) map[class]string {
	used := make(map[string]bool)
	of := make(map[string]class) // classes of the prefixes that remain in use
	note := func(name string) { used[strings.TrimRight(name, "0123456789")] = true }
	for i, r := range f.Regs {
		if !fixed[i] {
			continue
		}
		c, stem := class{r.Type, r.Vec}, strings.TrimRight(r.Name, "0123456789")
		if before, ok := of[stem]; ok && before != c || !isCompilerName(r.Name) {
			used[stem] = true
		}
		of[stem] = c
	}
	for _, vars := range [][]*ir.Var{f.Params, f.Results, f.Vars} {
		for _, v := range vars {
			note(v.Name)
		}
	}
	for _, t := range f.Targets {
		note(t.Name)
	}
	for _, b := range f.Blocks {
		for i := range b.Labels {
			note(b.Labels[i].Name)
		}
	}
	letters := make(map[class]string)
	for i, r := range f.Regs {
		c := class{r.Type, r.Vec}
		if _, ok := letters[c]; ok || fixed[i] {
			continue
		}
		stem := ir.Stem(c.typ)
		other := func(stem string) bool { before, ok := of[stem]; return ok && before != c }
		for used[stem] || taken[stem] || other(stem) {
			stem += "_"
		}
		letters[c] = stem
		used[stem] = true
	}
	return letters
}

// globalNames returns the prefixes of names that are visible in all functions, including special
// registers.
func globalNames(m *ir.Module) map[string]bool {
	taken := make(map[string]bool)
	note := func(name string) { taken[strings.TrimRight(name, "0123456789")] = true }
	for i := range isa.Specials {
		note(isa.Specials[i].Name)
	}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ir.Var:
			note(d.Name)
		case *ir.Func:
			note(d.Name)
		}
	}
	return taken
}

// replace replaces the old registers by the new ones.
func replace(f *ir.Func, number map[*ir.Reg]int, to []*ir.Reg) {
	fresh := func(r *ir.Reg) *ir.Reg {
		if i, ok := number[r]; ok && to[i] != nil {
			return to[i]
		}
		return r
	}
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			if in.Guard.Reg != nil {
				in.Guard.Reg = fresh(in.Guard.Reg)
			}
			for i := range in.Args {
				in.Args[i].Walk(func(o *ir.Operand) {
					if r := o.Reg; r != nil {
						o.Reg = fresh(r)
					}
				})
			}
		}
	}
}

// declared returns the registers of a function in order: each new register at the position of the
// first old one that it replaces, without unused ones.
func declared(regs, to []*ir.Reg, fixed []bool) []*ir.Reg {
	var list []*ir.Reg
	seen := make(map[*ir.Reg]bool)
	for i, r := range regs {
		if !fixed[i] {
			r = to[i]
		}
		if r != nil && !seen[r] {
			seen[r] = true
			list = append(list, r)
		}
	}
	return list
}
