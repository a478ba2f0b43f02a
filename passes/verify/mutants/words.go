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

// exchanges lists pairs of a synchronization modifier and a weaker one that replaces it.
var exchanges = [][2]string{
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

// words adds mutants with other modifiers and numbers in one statement.
func (b *body) words(s *statement) {
	if s.head == "" || s.wait && s.to-s.from > 3 {
		return
	}
	for _, w := range exchanges {
		b.replace("word", s, w[0], w[1])
	}
	change := func(kind string, where *regexp.Regexp, group int, to ...string) {
		m := where.FindStringSubmatchIndex(s.op)
		if m == nil || m[2*group] < 0 {
			return
		}
		was := s.op[m[2*group]:m[2*group+1]]
		for _, n := range to {
			if n != was {
				b.edit(kind, s, was+" to "+n, s.op[:m[2*group]]+n+s.op[m[2*group+1]:])
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
	if b.rings(s) {
		near("ring", ring, 1, -1, 1)
	}
	if b.computesParity(s) {
		near("bit", shifts, 1, -1, 1)
		near("bit", bits, 2, 1)
	}
	if m := steps.FindStringSubmatch(s.op); m != nil && m[1] == m[2] && b.counts(s, m[1]) {
		change("ring", steps, 3, "2", "0")
	}
	if b.bounds(s) {
		change("bound", bound, 1,
			map[string]string{"lt": "le", "le": "lt", "gt": "ge",
				"ge": "gt"}[first(bound.FindStringSubmatch(s.op))])
	}
	near("number", counts, 1, 32)
	near("number", waited, 1, -1)
	near("number", budget, 2, -8)
	near("number", expect, 1, -16)
	if m := counts.FindStringSubmatchIndex(s.op); m != nil && strings.Contains(s.op, "sync") {
		b.edit("number", s, "none", s.op[:strings.LastIndex(s.op, ",")]+";")
	}
	if m := elects.FindStringSubmatch(s.op); m != nil {
		b.edit("elect", s, "all", "setp.eq.u32 "+m[1]+", 0, 0;")
		b.edit("elect", s, "none", "setp.ne.u32 "+m[1]+", 0, 0;")
	}
	b.guards(s)
}

func first(m []string) string {
	if m == nil {
		return ""
	}
	return m[1]
}

// guards adds mutants with a negated branch predicate, or without a guard.
func (b *body) guards(s *statement) {
	if s.guard == "" || s.wait || b.again(s) {
		return
	}
	not := strings.Replace(s.guard, "@", "@!", 1)
	if strings.HasPrefix(s.guard, "@!") {
		not = "@" + s.guard[2:]
	}
	if s.head == "bra" && !b.governs(s) {
		return
	}
	if s.head == "bra" {
		b.edit("branch", s, "opposite", not+s.op[len(s.guard):])
		b.edit("branch", s, "never", "")
	} else if strings.Contains(s.head, "async") || strings.HasPrefix(s.head, "tcgen05.") {
		b.edit("branch", s, "opposite", not+s.op[len(s.guard):])
		b.edit("branch", s, "none", s.op[len(s.guard):])
	}
}

// again reports whether a mutation in lines.go changes the same predicate.
func (b *body) again(s *statement) bool {
	return droppable.MatchString(s.op) || strings.Contains(s.op, "cp.async.bulk")
}

// replace adds the mutant in which one word is replaced.
func (b *body) replace(kind string, s *statement, from, to string) {
	if strings.Contains(s.op, from) {
		b.edit(kind, s, fmt.Sprintf("%s to %s", from, to), strings.Replace(s.op, from, to, 1))
	}
}

// edit adds the mutant with another text of a statement, which keeps its labels.
func (b *body) edit(kind string, s *statement, what, text string) {
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

// rings reports whether a statement compares a stage index with the number of stages, so that the
// stage or the parity changes after it.
func (b *body) rings(s *statement) bool {
	if len(s.wrote) == 0 {
		return false
	}
	for _, o := range b.behind(s, 4) {
		if strings.HasPrefix(o.guard, "@"+s.wrote[0]+" ") && o.plain ||
			strings.HasPrefix(o.head, "selp") && slices.Contains(o.reads, s.wrote[0]) {
			return true
		}
	}
	return false
}

// computesParity reports whether a statement computes the parity of a wait.
func (b *body) computesParity(s *statement) bool {
	for _, o := range b.behind(s, 1) {
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

// counts reports whether an incremented register is compared later.
func (b *body) counts(s *statement, r string) bool {
	return slices.ContainsFunc(b.behind(s, 4), func(o *statement) bool {
		return strings.HasPrefix(o.head, "setp") && slices.Contains(o.reads, r)
	})
}

// behind returns the following n statements.
func (b *body) behind(s *statement, n int) []*statement {
	i := slices.Index(b.list, s)
	return b.list[i+1 : min(len(b.list), i+1+n)]
}

// bounds reports whether a comparison decides a branch around synchronization.
func (b *body) bounds(s *statement) bool {
	if len(s.wrote) == 0 {
		return false
	}
	for _, o := range b.behind(s, 3) {
		if strings.HasPrefix(o.head, "bra") && slices.Contains(o.reads, s.wrote[0]) {
			return b.governs(o)
		}
	}
	return false
}

// governs reports whether a branch, forward or back, encloses work of some threads for which others
// wait. If all threads have the same count, a different number of iterations only changes the
// result.
func (b *body) governs(s *statement) bool {
	i := slices.Index(b.list, s)
	j := -1
	for k, o := range b.list { // each kernel has its own labels
		if o.label != "" && o.label == target(s) && (j < 0 || max(k-i, i-k) < max(j-i, i-j)) {
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
