// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	droppable = regexp.MustCompile(
		`^(@!?%\w+\s+)?(fence\.|mbarrier\.(arrive|init|expect|inval)|cp\.async\.(commit|wait|mbarrier|bulk\.(commit|wait))|bar\.(sync|warp|arrive)|barrier\.|wgmma\.(fence|commit|wait)|tcgen05\.(fence|wait|commit|dealloc|relinquish)|setmaxnreg|griddepcontrol)`)
	syncOrMemory = regexp.MustCompile(
		`^(@!?%\w+\s+)?(ld\.(?:shared|global|volatile|relaxed|acquire)|st|red|atom|cp|ldmatrix|stmatrix|wgmma|mma|tcgen05|fence|membar|bar|barrier|mbarrier|setmaxnreg|griddepcontrol|clusterlaunchcontrol|elect)\b`)
	number = regexp.MustCompile(`(,\s*|\s)(\d+);\s*$`)
	parity = regexp.MustCompile(`^mov\.b32\s+%\w*parity\w*, ([01]);`)
	waits  = regexp.MustCompile(`(?:try|test)_wait\.parity.*,\s*([01]);`)
	flip   = regexp.MustCompile(`^@%\w+ xor\.b32\s+(%\w+), %\w+, 1;`)
	guard  = regexp.MustCompile(`^(\s*)@(!?)(%\w+)(\s+)(.*)$`)
	size   = regexp.MustCompile(`\],\s*(\d+)(?:,\s*\[|;)`)
	named  = regexp.MustCompile(`bar\.(?:sync|arrive)\s+(\d+),`)
	slot   = regexp.MustCompile(`mbarrier\S*\s.*\[[%\w]+\+(\d+)\]`)
)

// scopeSwaps lists pairs of scope modifiers: a mutant replaces the first by the second.
var scopeSwaps = [][2]string{
	{"fence.proxy.async.shared::cta", "fence.proxy.async.global"},
	{".release.cluster.shared::cluster", ".release.cta.shared::cluster"},
	{".acquire.cluster.shared::cta", ".acquire.cta.shared::cta"},
	{"wait::ld", "wait::st"}, {"wait::st", "wait::ld"},
	{"fence::before", "fence::after"}, {"fence::after", "fence::before"},
	{"wait_group 0", "wait_group.read 0"},
	{"fence.acq_rel.gpu", "fence.acq_rel.cta"},
}

// A line is the line of a kernel that is being mutated.
type line struct { // op is text without surrounding space
	at        int
	text, op  string // op has no space around it
	add       adder
	following string // the next line
}

// addReplaced adds the mutant in which text[from:to] is replaced.
func (l *line) addReplaced(kind, what string, from, to int, text string) {
	l.add(kind, l.at, 1, what+": "+l.op, l.text[:from]+text+l.text[to:])
}

func mutate(lines []string, i int, text string, add adder) {
	l := &line{at: i, text: text, op: strings.TrimSpace(text), add: add}
	if strings.HasPrefix(l.op, "//") || l.op == "" {
		return
	}
	if i+1 < len(lines) {
		l.following = lines[i+1]
	}
	sync := droppable.MatchString(l.op) && strings.HasSuffix(l.op, ";")
	if sync {
		add("drop", i, 1, "dropped: "+l.op)
	}
	if strings.Contains(l.op, "mbarrier.try_wait") && strings.Contains(l.following, "bra") {
		add("drop", i, 2, "dropped, with its loop: "+l.op)
	}
	l.addNumbers()
	l.addParities()
	for _, s := range scopeSwaps {
		if strings.Contains(text, s[0]) {
			add("scope", i, 1, s[0]+" to "+s[1]+": "+l.op, strings.Replace(text, s[0], s[1], 1))
		}
	}
	if m := slot.FindStringSubmatchIndex(text); m != nil {
		n, _ := strconv.Atoi(text[m[2]:m[3]])
		l.addReplaced("place", fmt.Sprintf("%d to %d", n, n+8), m[2], m[3], strconv.Itoa(n+8))
	}
	if m := named.FindStringSubmatchIndex(text); m != nil {
		n, _ := strconv.Atoi(text[m[2]:m[3]])
		l.addReplaced("place", fmt.Sprintf("barrier %d to %d", n, n+1), m[2], m[3],
			strconv.Itoa(n+1))
	}
	if m := guard.FindStringSubmatch(text); m != nil &&
		(sync || strings.Contains(m[5], "cp.async.bulk")) {
		not := "!"
		if m[2] == "!" {
			not = ""
		}
		add("predicate", i, 1, "opposite: "+l.op, m[1]+"@"+not+m[3]+m[4]+m[5])
		add("predicate", i, 1, "none: "+l.op, m[1]+m[5])
	}
	// An instruction that only uses registers may be moved anywhere, so only synchronization and
	// memory instructions are swapped.
	next := strings.TrimSpace(l.following)
	if sync && syncOrMemory.MatchString(next) && strings.HasSuffix(next, ";") && next != l.op {
		add("swap", i, 2, "swapped with the next: "+l.op, l.following, text)
	}
}

// addNumbers adds mutants with other counts and byte sizes.
func (l *line) addNumbers() {
	if m := size.FindStringSubmatchIndex(l.text); m != nil &&
		strings.Contains(l.op, "cp.async.bulk") {
		n, _ := strconv.Atoi(l.text[m[2]:m[3]])
		l.addReplaced("bytes", fmt.Sprintf("%d to %d", n, n-16), m[2], m[3], strconv.Itoa(n-16))
	}
	m := number.FindStringSubmatchIndex(l.text)
	if m == nil {
		return
	}
	n, _ := strconv.Atoi(l.text[m[4]:m[5]])
	change := func(kind string, to int) {
		l.addReplaced(kind, fmt.Sprintf("%d to %d", n, to), m[4], m[5], strconv.Itoa(to))
	}
	switch {
	case strings.Contains(l.op, "mbarrier.init"):
		change("count", n+1)
		if n > 1 {
			change("count", n-1)
		}
	case (strings.HasPrefix(l.op, "bar.sync") || strings.HasPrefix(l.op, "bar.arrive")) && n >= 64:
		change("count", n-32)
	case strings.Contains(l.op, "wait_group"):
		change("count", n+1)
	case strings.Contains(l.op, "expect_tx"):
		change("bytes", n+16)
		change("bytes", n/2)
	case strings.Contains(l.op, "setmaxnreg.inc") && n < 256:
		change("count", n+8)
	case strings.Contains(l.op, "setmaxnreg.dec") && n < 256:
		change("count", n+8)
	case strings.Contains(l.op, "tcgen05.alloc"), strings.Contains(l.op, "tcgen05.dealloc"):
		change("count", n/2)
	}
}

// addParities adds mutants with another phase parity of a wait.
func (l *line) addParities() {
	other := map[string]string{"0": "1", "1": "0"}
	m := waits.FindStringSubmatchIndex(l.text)
	if m == nil {
		if m = parity.FindStringSubmatchIndex(l.op); m != nil {
			indent := strings.Index(l.text, l.op)
			m[2], m[3] = m[2]+indent, m[3]+indent
		}
	}
	if m != nil {
		to := other[l.text[m[2]:m[3]]]
		l.addReplaced("parity", "to "+to, m[2], m[3], to)
	}
	if flip.MatchString(l.op) {
		l.add("parity", l.at, 1, "not flipped: "+l.op)
	}
}
