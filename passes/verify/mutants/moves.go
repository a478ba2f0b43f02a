// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"regexp"
	"slices"
	"strings"
)

// A body is the text of a module, as lines, with the list of its statements.
type body struct {
	lines []string
	list  []*statement
	add   adder
}

// addMoved adds the mutant in which a statement is moved in front of the line with index at.
func (b *body) addMoved(kind string, s *statement, at int, what string) {
	text := b.lines[s.from:s.to]
	if at <= s.from {
		b.add(kind, at, s.to-at, what+": "+s.op, slices.Concat(text, b.lines[at:s.from])...)
	} else {
		b.add(kind, s.from, at-s.from, what+": "+s.op, slices.Concat(b.lines[s.to:at], text)...)
	}
}

// isMovable reports whether a statement concerns memory or synchronization, and may be moved.
func (s *statement) isMovable() bool { return s.isStraight() && !s.registersOnly }

// addOrders adds mutants in which two neighboring statements are swapped, if their registers
// allow it. Instructions that only use registers may stand between the two.
func (b *body) addOrders() {
	for i, s := range b.list {
		if !s.isMovable() {
			continue
		}
		for j := i + 1; j < len(b.list) && j < i+12; j++ {
			o := b.list[j]
			if !s.canSwap(o) || !o.isStraight() {
				break
			}
			if o.registersOnly {
				continue
			}
			if j == i+1 && s.op == o.op {
				break
			}
			kind := "order"
			if s.barrier != o.barrier {
				kind = "past"
			}
			if droppable.MatchString(s.op) || droppable.MatchString(o.op) || s.barrier ||
				o.barrier {
				b.addMoved(kind, s, o.to, "behind "+o.head)
			}
			break
		}
		// Also move each statement backward: a forward move, as above, does not move the
		// instructions between the two statements.
		for j := i - 1; j >= 0 && j > i-12; j-- {
			o := b.list[j]
			if !s.canSwap(o) || !o.isStraight() {
				break
			}
			if o.registersOnly {
				continue
			}
			if o.barrier && !s.barrier && j < i-1 {
				b.addMoved("past", s, o.from, "ahead of "+o.head)
			}
			break
		}
	}
}

// addLoopMoves adds mutants in which an instruction is moved out of a loop or into it.
func (b *body) addLoopMoves() {
	at := make(map[string]int)
	for i, s := range b.list {
		if s.label != "" {
			at[s.label] = i
		}
		if s.head != "bra" && !strings.HasPrefix(s.head, "bra.") {
			continue
		}
		label := strings.TrimSuffix(s.op[strings.LastIndexAny(s.op, " \t")+1:], ";")
		start, back := at[label]
		if !back {
			continue
		}
		if slices.ContainsFunc(b.list[start+1:i], func(o *statement) bool {
			return strings.HasPrefix(o.head, "bra") && at[branchTarget(o)] > start
		}) {
			// The loop contains an inner loop.
			continue
		}
		head := b.list[start]
		for _, o := range b.list[start+1 : i] {
			if !o.isMovable() || !droppable.MatchString(o.op) && !o.wait {
				continue
			}
			b.addMoved("loop", o, head.from, "out of the loop, ahead")
			b.addMoved("loop", o, s.to, "out of the loop, behind")
		}
		for j := start - 1; j >= 0 && j > start-4; j-- {
			if o := b.list[j]; o.isStraight() && droppable.MatchString(o.op) {
				b.addMoved("loop", o, head.to, "into the loop behind")
			}
		}
		for j := i + 1; j < len(b.list) && j < i+4; j++ {
			if o := b.list[j]; o.isStraight() && droppable.MatchString(o.op) {
				b.addMoved("loop", o, s.from, "into the loop ahead")
			}
		}
	}
}

// branchTarget returns the label that a branch names.
func branchTarget(s *statement) string {
	return strings.TrimSuffix(s.op[strings.LastIndexAny(s.op, " \t")+1:], ";")
}

// addReturns adds mutants in which some threads exit before a barrier.
func (b *body) addReturns() {
	for _, s := range b.list {
		if s.head == "" || s.label != "" ||
			!(s.barrier || s.wait || strings.Contains(s.head, "arrive") ||
				strings.Contains(s.head, "commit")) {
			continue
		}
		for _, who := range []struct{ what, set string }{
			{"a lane leaves ahead of",
				"and.b32 %mutant_r, %mutant_r, 31;|setp.eq.u32 %mutant_p, %mutant_r, 5;"},
			{"odd warps leave ahead of",
				"and.b32 %mutant_r, %mutant_r, 32;|setp.ne.u32 %mutant_p, %mutant_r, 0;"},
		} {
			if strings.HasPrefix(who.what, "odd") && !s.wait &&
				!strings.Contains(s.head, "mbarrier") && !counts.MatchString(s.op) {
				continue // the barrier does not wait for exited threads
			}
			set := strings.Split(who.set, "|")
			b.add("return", s.from, s.to-s.from, who.what+": "+s.op,
				slices.Concat([]string{"\t{", "\t.reg .pred %mutant_p;", "\t.reg .b32 %mutant_r;",
					"\tmov.u32 %mutant_r, %tid.x;",
					"\t" + set[0], "\t" + set[1], "\t@%mutant_p ret;",
					"\t}"}, b.lines[s.from:s.to])...)
		}
	}
}

// onceOnly matches instructions that have an effect each time they are executed.
var onceOnly = regexp.MustCompile(
	`^(mbarrier\.(arrive|init|expect|inval)|barrier\.cluster|cp\.async\.(commit|mbarrier)|bar\.arrive|wgmma\.commit|tcgen05\.(commit|alloc|dealloc)|setmaxnreg)`)

// addDoubles adds mutants that repeat an instruction that must execute only once.
func (b *body) addDoubles() {
	for _, s := range b.list {
		if s.head == "" || s.label != "" || s.wait || !onceOnly.MatchString(s.head) {
			continue
		}
		text := b.lines[s.from:s.to]
		b.add("double", s.from, s.to-s.from, "twice: "+s.op, slices.Concat(text, text)...)
	}
}

// addObjects adds mutants in which an instruction uses the mbarrier of a nearby instruction.
func (b *body) addObjects() {
	var last []string
	list := slices.Clone(b.list)
	for _, backward := range []bool{false, true} {
		last = nil
		if backward {
			slices.Reverse(list)
		}
		for _, s := range list {
			at := object.FindStringSubmatch(s.op)
			if at != nil && at[1] == "" {
				at[1] = at[2]
			}
			if at == nil || s.label != "" || strings.Contains(s.op, "mbarrier.init") && backward {
				continue
			}
			for _, o := range last {
				if o == at[1] {
					continue
				}
				edited := slices.Clone(b.lines[s.from:s.to])
				for i := range edited {
					edited[i] = strings.Replace(edited[i], at[1], o, 1)
				}
				b.add("object", s.from, s.to-s.from, "of "+o+": "+s.op, edited...)
				break
			}
			if len(last) == 0 || last[0] != at[1] {
				last = append([]string{at[1]}, last[:min(len(last), 3)]...)
			}
		}
	}
}
