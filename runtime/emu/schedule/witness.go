// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Segment lets lanes of a warp run until they have executed Count synchronizations, or lets an
// asynchronous operation complete.
type Segment struct {
	Block, Warp, Lane uint32
	Async             bool
	// number of synchronizations since the launch began; if Async is set, number of earlier
	// operations of the lane
	Count int
}

// A Witness is an order of synchronizations, up to the one that fails.
type Witness []Segment

// String formats a witness for -replay. 0.4.0:7 lets lane 0 of warp 4 of block 0 run until its 7th
// synchronization. 0.4.0@2 lets its third asynchronous operation complete.
func (w Witness) String() string {
	var words []string
	for _, s := range w {
		sign := ":"
		if s.Async {
			sign = "@"
		}
		words = append(words, fmt.Sprintf("%d.%d.%d%s%d", s.Block, s.Warp, s.Lane, sign, s.Count))
	}
	return strings.Join(words, ",")
}

// ParseWitness parses a witness.
func ParseWitness(text string) (w Witness, err error) {
	for word := range strings.SplitSeq(text, ",") {
		var s Segment
		i := strings.IndexAny(word, ":@")
		if i < 0 {
			return nil, fmt.Errorf("%q is not a step of an order, such as 0.4.0:7", word)
		}
		s.Async = word[i] == '@'
		if n, err := fmt.Sscanf(word[:i]+" "+word[i+1:], "%d.%d.%d %d", &s.Block, &s.Warp, &s.Lane,
			&s.Count); n != 4 || err != nil {
			return nil, fmt.Errorf("%q is not a step of an order, such as 0.4.0:7", word)
		}
		w = append(w, s)
	}
	return w, nil
}

// visible reports whether a guide can choose the order of an operation of a thread.
func visible(t *Trace, o *op) bool {
	return o.kind != opLeave && o.kind != opIssue && !t.objects[o.object].lanes
}

// witness returns the witness for a list of steps: segments of consecutive steps by one thread.
func (t *Trace) witness(steps []int) (w Witness) {
	count := make(map[int]int)
	at := make(map[int]int)
	last := -1
	for _, a := range steps {
		x := &t.actors[a]
		if x.async {
			w = append(w, Segment{x.block, x.warp, x.lane, true, x.nth})
			last = -1
			continue
		}
		if visible(t, &x.ops[at[a]]) {
			count[a]++
			if last == a {
				w[len(w)-1].Count = count[a]
			} else {
				w = append(w, Segment{x.block, x.warp, x.lane, false, count[a]})
				last = a
			}
		}
		at[a]++
	}
	return w
}

// finish runs steps as far as possible and then continues in the order of the search. It returns
// all steps and the violation.
func (t *Trace) finish(steps []int) (all []int, kind Kind, notes []string) {
	s := t.start()
	run := func(a int) bool {
		k, _ := s.step(a, nil)
		all = append(all, a)
		kind = k
		return k == ""
	}
	for _, a := range steps {
		if s.enabled(a) && !run(a) {
			return all, kind, nil
		}
	}
	x := &search{t: t}
	current := 0
	for {
		a := x.choose(s, current, nil)
		if a < 0 {
			break
		}
		if current = a; !run(a) {
			return all, kind, nil
		}
	}
	if !s.done() {
		kind, notes = s.stuck()
	}
	return all, kind, notes
}

// minimize shortens a violation. It drops sequences of steps of one actor that are not needed for
// the violation.
func (t *Trace) minimize(v *Violation) {
	runs := split(v.steps)
	// find the shortest prefix
	low, high := 0, len(runs)
	for low < high {
		mid := (low + high) / 2
		if _, kind, _ := t.finish(flatten(runs[:mid])); kind == v.Kind {
			high = mid
		} else {
			low = mid + 1
		}
	}
	runs = runs[:min(high, len(runs))]
	if _, kind, _ := t.finish(flatten(runs)); kind != v.Kind {
		runs = split(v.steps)
	}
	for n, tries := max(1, len(runs)/2), 0; n >= 1 && tries < 400; n /= 2 {
		for i := 0; i+n <= len(runs) && tries < 400; tries++ {
			less := append(append([][]int(nil), runs[:i]...), runs[i+n:]...)
			if _, kind, _ := t.finish(flatten(less)); kind == v.Kind {
				runs = split(flatten(less))
				continue
			}
			i += n
		}
	}
	prefix := flatten(runs)
	all, kind, notes := t.finish(prefix)
	if kind == v.Kind {
		v.steps, v.Witness = all, t.witness(all)
		if notes != nil {
			v.Notes = notes
		}
		return
	}
	v.Witness = t.witness(v.steps)
}

// split splits steps where the actor changes.
func split(steps []int) (runs [][]int) {
	for i, a := range steps {
		if i > 0 && steps[i-1] == a {
			runs[len(runs)-1] = append(runs[len(runs)-1], a)
			continue
		}
		runs = append(runs, []int{a})
	}
	return runs
}

func flatten(runs [][]int) (steps []int) {
	for _, r := range runs {
		steps = append(steps, r...)
	}
	return steps
}

// An Entry is a step of a timeline.
type Entry struct {
	Step      int
	Who, What string
	Block     uint32
	Actor     int
}

// Timeline returns the steps of a violation in their order.
func (t *Trace) Timeline(v *Violation) (list []Entry) {
	at := make(map[int]int)
	for i, a := range v.steps {
		x := &t.actors[a]
		o := &x.ops[at[a]]
		at[a]++
		if t.objects[o.object].lanes && o.kind != opIssue {
			continue
		}
		what := map[opKind]string{
			opInit: "initializes", opInval: "invalidates", opArrive: "arrives at",
			opWait: "waited for", opJoin: "arrives at", opLeave: "leaves",
			opIssue: "issues", opEffect: "completes at",
		}[o.kind]
		if o.kind != opIssue {
			what += " " + t.objects[o.object].name
		}
		if p := t.place(o); p != "" {
			what += " (" + p + ")"
		}
		list = append(list, Entry{i, x.name(), what, x.block, a})
	}
	return list
}

// Text writes a timeline with one step per line.
func Text(w io.Writer, list []Entry) error {
	for _, e := range list {
		if _, err := fmt.Fprintf(w, "%5d  %-36s %s\n", e.Step, e.Who, e.What); err != nil {
			return err
		}
	}
	return nil
}

// Perfetto writes a timeline as a Perfetto trace, with a process per block and a track per set of
// lanes.
func Perfetto(w io.Writer, list []Entry) error {
	type event struct {
		Name  string         `json:"name"`
		Phase string         `json:"ph"`
		Start int            `json:"ts"`
		Long  int            `json:"dur,omitempty"`
		Block uint32         `json:"pid"`
		Actor int            `json:"tid"`
		Args  map[string]any `json:"args,omitempty"`
	}
	var events []event
	named := make(map[int]bool)
	for _, e := range list {
		if !named[e.Actor] {
			named[e.Actor] = true
			events = append(events,
				event{Name: "thread_name", Phase: "M", Block: e.Block, Actor: e.Actor,
					Args: map[string]any{"name": e.Who}})
		}
		events = append(events,
			event{Name: e.What, Phase: "X", Start: e.Step, Long: 1, Block: e.Block, Actor: e.Actor})
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": events})
}
