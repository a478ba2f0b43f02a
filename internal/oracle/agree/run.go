// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A Config configures a comparison.
type Config struct {
	Families   []string // all if empty
	Only       string   // prefix of instruction names
	PerForm    int      // legal combinations of modifiers per form
	Variants   int      // random choices of operands per combination, besides the simplest one
	Mutants    int      // mutants per form
	Discover   int      // random combinations per instruction
	Seed       uint64
	Table      bool // use only the table, instead of parsing and checking the text
	Exceptions *Exceptions
	Progress   io.Writer // nil for none
}

// A Kind is the way in which a probe is generated.
type Kind uint8

// The kinds of probe.
const (
	Positive Kind = iota // legal according to the table
	Boundary             // legal, but one version too early or on an unsupported target
	Mutant               // a legal instruction with one change
	Random               // random combination of modifiers
	kinds
)

var kindNames = [kinds]string{"legal", "boundary", "mutated", "random"}

// String returns the name of the kind in reports.
func (k Kind) String() string { return kindNames[k] }

// A probe is an instruction at a version and target.
type probe struct {
	kind  Kind
	what  string // kind of change, for a mutant
	form  *isa.Form
	at    place
	tally *Family
	instance
}

// A Runner generates and judges the probes of an instruction set.
type Runner struct {
	set     *isa.Set
	tool    *ptxas.Tool
	config  Config
	report  *Report
	tally   *Family // results of the current family
	probes  map[place][]probe
	pending int
}

// batchSize is the number of probes that are collected before they are judged. Each version and
// target costs at least one run of ptxas, so many probes are judged at a time; a batch must fit
// into memory.
const batchSize = 300_000

// Run compares the instructions of a set with ptxas.
func Run(ctx context.Context, set *isa.Set, tool *ptxas.Tool, c Config) (*Report, error) {
	r := &Runner{set: set, tool: tool, config: c, report: &Report{Seed: c.Seed},
		probes: map[place][]probe{}}
	for ins := range set.All() {
		if len(c.Families) > 0 && !slices.Contains(c.Families, ins.Family) ||
			!strings.HasPrefix(ins.Name, c.Only) {
			continue
		}
		r.tally = r.report.family(ins.Family)
		r.instruction(ins)
		if r.pending >= batchSize {
			if err := r.flush(ctx); err != nil {
				return r.report, err
			}
		}
	}
	if err := r.flush(ctx); err != nil {
		return r.report, err
	}
	if slices.Contains(r.report.NoOperands, "call{.uni}") {
		return r.report, r.lists(ctx)
	}
	return r.report, nil
}

// flush judges the collected probes. It runs as many processes of ptxas at a time as there are
// processors.
func (r *Runner) flush(ctx context.Context) error {
	places := make([]place, 0, len(r.probes))
	for p := range r.probes {
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(len(r.probes[b]), len(r.probes[a])),
			cmp.Compare(a.version, b.version), cmp.Compare(a.target, b.target))
	})
	var (
		wait  sync.WaitGroup
		lock  sync.Mutex
		first error
		done  int
		seats = make(chan struct{}, runtime.NumCPU())
	)
	for _, p := range places {
		seats <- struct{}{}
		wait.Go(func() {
			defer func() { <-seats }()
			verdicts, err := r.judge(ctx, r.probes[p])
			lock.Lock()
			defer lock.Unlock()
			if err != nil && first == nil {
				first = fmt.Errorf("%s: %w", p, err)
			}
			for i := range verdicts {
				r.report.count(r.config.Exceptions, p, &r.probes[p][i], verdicts[i])
			}
			done++
			if r.config.Progress != nil {
				fmt.Fprintf(r.config.Progress, "\r%4d of %d places, %9d probes  ", done,
					len(places), r.report.Probes())
			}
		})
	}
	wait.Wait()
	r.probes, r.pending = map[place][]probe{}, 0
	return first
}

// rng returns a random generator for a form. Each form has its own generator, so that a change of
// one form does not change the probes of other forms.
func (r *Runner) rng(ins *isa.Instruction, n int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, ins.Family, ins.Name, n)
	return rand.New(rand.NewPCG(r.config.Seed, h.Sum64()))
}

func (r *Runner) add(p place, kind Kind, what string, f *isa.Form, x instance) {
	if !canDeclare(p, x) {
		return
	}
	r.probes[p] = append(r.probes[p], probe{kind, what, f, p, r.tally, x})
	r.pending++
}

func (r *Runner) instruction(ins *isa.Instruction) {
	words := r.vocabulary(ins)
	var home place
	for n := range ins.Forms {
		rng := r.rng(ins, n)
		f := &ins.Forms[n]
		list, whole := combinations(f, r.config.PerForm, rng)
		r.report.Forms++
		if !whole {
			r.report.Sampled++
		}
		made, ok := r.form(ins, f, list, rng)
		switch {
		case !ok:
			r.report.NoOperands = append(r.report.NoOperands, f.Template)
			continue
		case len(made) == 0:
			r.report.NoLegal = append(r.report.NoLegal, f.Template)
			continue
		}
		m := &mutator{rng: rng, words: words, all: r.set.Mods[1:]}
		for range r.config.Mutants {
			base := made[rng.IntN(len(made))]
			x, what := m.mutate(base.instance)
			r.add(base.at, Mutant, what, f, x)
		}
		home = made[0].at
	}
	if home.version != 0 && len(words) > 0 {
		r.discover(ins, words, home)
	}
}

// A placedInstance is an instruction with a version and target at which it is legal.
type placedInstance struct {
	instance
	at place
}

// form generates the probes of one form, and returns legal instructions to mutate. ok is false if
// no operands can be generated.
func (r *Runner) form(ins *isa.Instruction, f *isa.Form, list [][]isa.Mod,
	rng *rand.Rand) (made []placedInstance, ok bool) {
	swept := map[string]boundary{}
	matchers := map[place]*isa.Matcher{}
	plain := &operandMaker{rng: rng, plain: true}
	varied := &operandMaker{rng: rng}
	for i, slots := range list {
		open, gone := f.Bounds(slots)
		sig := signature(open, gone)
		b, seen := swept[sig]
		if !seen {
			var ok bool
			if b, ok = boundaryOf(open, gone); !ok {
				continue // no version and target passes all gates
			}
			swept[sig] = b
		}
		op := r.set.Opcode(ins, slots)
		m := matchers[b.newest]
		if m == nil {
			m = r.set.Matcher(b.newest.version, b.newest.target)
			matchers[b.newest] = m
		}
		cands, _ := m.Candidates(op)
		at := slices.IndexFunc(cands, func(c isa.Candidate) bool { return c.Form.Is(f) })
		if at < 0 {
			continue // the modifiers belong to another form
		}
		x, ok := plain.instance(op, &cands[at])
		if !ok {
			return nil, false
		}
		r.add(b.first, Positive, "", f, x)
		if b.newest != b.first {
			r.add(b.newest, Positive, "", f, x)
		}
		variants := r.config.Variants
		if i < 4 {
			variants *= 4
		}
		for range variants {
			if y, ok := varied.instance(op, &cands[at]); ok {
				r.add(b.newest, Positive, "", f, y)
				made = append(made, placedInstance{y, b.newest})
			}
		}
		made = append(made, placedInstance{x, b.newest})
		r.addBoundary(f, x, b, !seen, rng)
	}
	return made, true
}

// addBoundary adds probes on both sides of a boundary: for every target if everywhere is set,
// which is the case for the first combination with these gates, and otherwise for two targets.
func (r *Runner) addBoundary(f *isa.Form, x instance, b boundary, everywhere bool, rng *rand.Rand) {
	if everywhere {
		for _, p := range b.legal {
			r.add(p, Positive, "", f, x)
		}
		for _, list := range [][]place{b.early, b.never} {
			for _, p := range list {
				r.add(p, Boundary, "", f, x)
			}
		}
		return
	}
	for _, list := range [][]place{b.early, b.never} {
		if len(list) > 0 {
			r.add(list[rng.IntN(len(list))], Boundary, "", f, x)
		}
	}
}
