// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	object = regexp.MustCompile(
		`mbarrier\.(?:init|arrive|try|test|expect|complete|inval)\S*\s[^\[]*(\[[^\]]*\])|tcgen05\.commit\S*\s(\[[^\]]*\])`)
	masked = regexp.MustCompile(
		`^(?:@!?%\w+\s+)?(?:shfl|vote|match|redux|bar\.warp|elect)\..*[\s,](0xffffffff|-1);`)
	casts  = regexp.MustCompile(`multicast::cluster.*,\s*(\d+|%\w+);`)
	maps   = regexp.MustCompile(`^(?:@!?%\w+\s+)?mapa\.\S+\s+%\w+,\s*[^,]+,\s*(\d+|%\w+);`)
	ring   = regexp.MustCompile(`^setp\.(?:eq|ne)\.[su]32\s+%\w+,\s*%\w+,\s*([1-9]\d?);`)
	steps  = regexp.MustCompile(`^(?:@!?%\w+\s+)?add\.[su]32\s+(%\w+),\s*(%\w+),\s*(1);`)
	bits   = regexp.MustCompile(`^(?:@!?%\w+\s+)?(?:and|xor)\.b32\s+%\w+,\s*%\w+,\s*(0x)?(1);`)
	shifts = regexp.MustCompile(`^(?:@!?%\w+\s+)?shr\.[usb]32\s+%\w+,\s*%\w+,\s*([1-5]);`)
	bound  = regexp.MustCompile(`^setp\.(lt|le|gt|ge)\.[su](?:32|64)\s`)
	elects = regexp.MustCompile(`^elect\.sync\s+\S+\|(%\w+),.*;`)
	counts = regexp.MustCompile(
		`^(?:@!?%\w+\s+)?(?:bar|barrier)\.(?:cta\.)?(?:sync|arrive)\S*\s+\d+,\s*(\d+);`)
	waited = regexp.MustCompile(`wait_group\S*\s+(\d+);`)
	budget = regexp.MustCompile(`setmaxnreg\.(inc|dec)\S*\s+(\d+);`)
	expect = regexp.MustCompile(`(?:expect_tx|complete_tx)\.\S*\s.*,\s*(\d+);`)
)

// modifierSwaps lists pairs of a synchronization modifier and a weaker modifier that replaces it
// in a mutant.
var modifierSwaps = [][2]string{
	{"mbarrier.arrive.shared", "mbarrier.arrive.relaxed.cta.shared"},
	{"mbarrier.arrive.shared::cta", "mbarrier.arrive.relaxed.cluster.shared::cta"},
	{".release.cluster.shared", ".relaxed.cluster.shared"},
	{".arrive.expect_tx.shared", ".arrive.expect_tx.relaxed.cta.shared"},
	{"try_wait.parity.shared", "try_wait.parity.relaxed.cta.shared"},
	{"try_wait.parity.acquire.cluster.shared", "try_wait.parity.relaxed.cluster.shared"},
	{"try_wait.parity.shared::cta", "try_wait.parity.acquire.cluster.shared::cta"},
	{"barrier.cluster.arrive.release", "barrier.cluster.arrive.relaxed"},
	{"barrier.cluster.arrive.aligned", "barrier.cluster.arrive.relaxed.aligned"},
	{"fence.acq_rel.cluster", "fence.acq_rel.cta"},
	{"fence.mbarrier_init.release.cluster", "fence.acq_rel.cluster"},
	{"fence.mbarrier_init.release.cluster", "fence.proxy.async.shared::cta"},
	{"fence.proxy.async.shared::cta", "fence.proxy.alias"},
	{"fence.proxy.async;", "fence.proxy.async.global;"},
	{"fence.proxy.async.shared::cta", "fence.acq_rel.cta"},
	{".acquire.gpu", ".relaxed.gpu"}, {".acquire.gpu", ".acquire.cta"},
	{".release.gpu", ".relaxed.gpu"}, {".release.gpu", ".release.cta"},
	{".acq_rel.gpu", ".relaxed.gpu"}, {"atom.acq_rel.gpu", "atom.acq_rel.cta"},
	{"fence.acq_rel.gpu", "fence.acq_rel.cluster"},
	{"fence.sc.gpu", "fence.acq_rel.cta"}, {"membar.gl", "membar.cta"},
	{"multicast::cluster.", ""}, {".multicast::cluster", ""},
	{"cp.async.wait_all", "cp.async.wait_group 1"},
	{"setmaxnreg.inc", "setmaxnreg.dec"}, {"setmaxnreg.dec", "setmaxnreg.inc"},
	{"cta_group::2", "cta_group::1"},
	{"shared::cluster.global", "shared::cta.global"},
}

// addWords adds mutants with other modifiers and numbers in one statement.
func (b *body) addWords(s *statement) {
	if s.head == "" || s.wait && s.to-s.from > 3 {
		return
	}
	for _, w := range modifierSwaps {
		b.addReplacement("word", s, w[0], w[1])
	}
	change := func(kind string, where *regexp.Regexp, group int, to ...string) {
		m := where.FindStringSubmatchIndex(s.op)
		if m == nil || m[2*group] < 0 {
			return
		}
		was := s.op[m[2*group]:m[2*group+1]]
		for _, n := range to {
			if n != was {
				b.addEdited(kind, s, was+" to "+n, s.op[:m[2*group]]+n+s.op[m[2*group+1]:])
			}
		}
	}
	near := func(kind string, where *regexp.Regexp, group int, by ...int) {
		m := where.FindStringSubmatch(s.op)
		if m == nil {
			return
		}
		n, err := strconv.Atoi(m[group])
		if err != nil {
			return
		}
		for _, d := range by {
			if n+d >= 0 {
				change(kind, where, group, strconv.Itoa(n+d))
			}
		}
	}
	change("mask", masked, 1, "0x0000ffff", "0xfffffffe")
	near("mask", casts, 1, -1, 1)
	near("rank", maps, 1, 16)
	if b.comparesStage(s) {
		near("ring", ring, 1, -1, 1)
	}
	if b.computesParity(s) {
		near("bit", shifts, 1, -1, 1)
		near("bit", bits, 2, 1)
	}
	if m := steps.FindStringSubmatch(s.op); m != nil && m[1] == m[2] && b.isComparedLater(s, m[1]) {
		change("ring", steps, 3, "2", "0")
	}
	if b.isBranchCondition(s) {
		change("bound", bound, 1,
			map[string]string{"lt": "le", "le": "lt", "gt": "ge",
				"ge": "gt"}[first(bound.FindStringSubmatch(s.op))])
	}
	near("number", counts, 1, 32)
	near("number", waited, 1, -1)
	near("number", budget, 2, -8)
	near("number", expect, 1, -16)
	if m := counts.FindStringSubmatchIndex(s.op); m != nil && strings.Contains(s.op, "sync") {
		b.addEdited("number", s, "none", s.op[:strings.LastIndex(s.op, ",")]+";")
	}
	if m := elects.FindStringSubmatch(s.op); m != nil {
		b.addEdited("elect", s, "all", "setp.eq.u32 "+m[1]+", 0, 0;")
		b.addEdited("elect", s, "none", "setp.ne.u32 "+m[1]+", 0, 0;")
	}
	b.addGuards(s)
}

func first(m []string) string {
	if m == nil {
		return ""
	}
	return m[1]
}

// addGuards adds mutants with a negated branch predicate, or without a guard.
func (b *body) addGuards(s *statement) {
	if s.guard == "" || s.wait || b.isMutatedElsewhere(s) {
		return
	}
	not := strings.Replace(s.guard, "@", "@!", 1)
	if strings.HasPrefix(s.guard, "@!") {
		not = "@" + s.guard[2:]
	}
	if s.head == "bra" && !b.enclosesSync(s) {
		return
	}
	if s.head == "bra" {
		b.addEdited("branch", s, "opposite", not+s.op[len(s.guard):])
		b.addEdited("branch", s, "never", "")
	} else if strings.Contains(s.head, "async") || strings.HasPrefix(s.head, "tcgen05.") {
		b.addEdited("branch", s, "opposite", not+s.op[len(s.guard):])
		b.addEdited("branch", s, "none", s.op[len(s.guard):])
	}
}

// isMutatedElsewhere reports whether a mutation in lines.go changes the same predicate.
func (b *body) isMutatedElsewhere(s *statement) bool {
	return droppable.MatchString(s.op) || strings.Contains(s.op, "cp.async.bulk")
}

// addReplacement adds the mutant in which one word of a statement is replaced.
func (b *body) addReplacement(kind string, s *statement, from, to string) {
	if strings.Contains(s.op, from) {
		b.addEdited(kind, s, fmt.Sprintf("%s to %s", from, to), strings.Replace(s.op, from, to, 1))
	}
}

// addEdited adds the mutant with another text of a statement, which keeps its labels.
func (b *body) addEdited(kind string, s *statement, what, text string) {
	if s.wait {
		edited := slices.Clone(b.lines[s.from:s.to])
		for i, l := range edited {
			if at := strings.Index(l, "mbarrier."); at >= 0 {
				edited[i] = l[:at] + text[strings.Index(text, "mbarrier."):]
			}
		}
		b.add(kind, s.from, s.to-s.from, what+": "+s.op, edited...)
		return
	}
	if s.label != "" {
		text = s.label + ": " + text
	}
	b.add(kind, s.from, s.to-s.from, what+": "+s.op, "\t"+text)
}

// comparesStage reports whether a statement compares a stage index with the number of stages, so
// that a following statement changes the stage or the parity.
func (b *body) comparesStage(s *statement) bool {
	if len(s.wrote) == 0 {
		return false
	}
	for _, o := range b.following(s, 4) {
		if strings.HasPrefix(o.guard, "@"+s.wrote[0]+" ") && o.registersOnly ||
			strings.HasPrefix(o.head, "selp") && slices.Contains(o.reads, s.wrote[0]) {
			return true
		}
	}
	return false
}

// computesParity reports whether a statement computes the phase parity of a wait.
func (b *body) computesParity(s *statement) bool {
	for _, o := range b.following(s, 1) {
		if len(s.wrote) > 0 && bits.MatchString(o.op) && slices.Contains(o.reads, s.wrote[0]) &&
			shifts.MatchString(s.op) {
			s = o
		}
	}
	return bits.MatchString(s.op) &&
		slices.ContainsFunc(b.list, func(o *statement) bool {
			return o.wait && slices.Contains(o.reads, s.wrote[0])
		})
}

// isComparedLater reports whether one of the next statements compares register r.
func (b *body) isComparedLater(s *statement, r string) bool {
	return slices.ContainsFunc(b.following(s, 4), func(o *statement) bool {
		return strings.HasPrefix(o.head, "setp") && slices.Contains(o.reads, r)
	})
}

// following returns up to n statements after s.
func (b *body) following(s *statement, n int) []*statement {
	i := slices.Index(b.list, s)
	return b.list[i+1 : min(len(b.list), i+1+n)]
}

// isBranchCondition reports whether a comparison decides a branch around synchronization.
func (b *body) isBranchCondition(s *statement) bool {
	if len(s.wrote) == 0 {
		return false
	}
	for _, o := range b.following(s, 3) {
		if strings.HasPrefix(o.head, "bra") && slices.Contains(o.reads, s.wrote[0]) {
			return b.enclosesSync(o)
		}
	}
	return false
}

// enclosesSync reports whether a branch, forward or back, encloses operations of some threads for
// which other threads wait. If all threads have the same iteration count, another count changes
// only the result.
func (b *body) enclosesSync(s *statement) bool {
	i := slices.Index(b.list, s)
	j := -1
	for k, o := range b.list { // each kernel has its own labels
		if o.label != "" && o.label == branchTarget(s) && (j < 0 || max(k-i, i-k) < max(j-i, i-j)) {
			j = k
		}
	}
	if j < 0 {
		return false
	}
	return slices.ContainsFunc(b.list[min(i, j):max(i, j)], func(o *statement) bool {
		return o != s &&
			(o.wait || strings.HasPrefix(o.head, "mbarrier.") ||
				strings.Contains(o.head, "tcgen05.commit") ||
				strings.HasPrefix(o.head, "bar.arrive"))
	})
}
