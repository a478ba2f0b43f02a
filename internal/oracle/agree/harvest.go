// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A HarvestConfig configures a harvest.
type HarvestConfig struct {
	Families   []string // all if empty
	Only       string   // prefix of instruction names
	Words      []string // modifiers without their dot
	Targets    []string // in order of preference; harvestTargets if empty
	Table      bool     // ask only the table, instead of parsing and checking text
	Part       int      // tries one in Part forms and one in Part words; 1 tries all
	Exceptions *Exceptions
	Progress   io.Writer     // nil for none
	Report     func(Dispute) // called for each finding as it is made, or nil for none
}

// harvestTargets has one target of each kind. A form is tried on the first one that supports it.
var harvestTargets = []string{
	"sm_107a", "sm_103a", "sm_100a", "sm_120a", "sm_90a", "sm_110a", "sm_121a", "sm_80", "sm_20",
}

// A Harvest is the result of trying a vocabulary with every form. Ordinary probes are generated
// from the table, so they cannot find what it lacks. These probes use words and operands from all
// other sources.
type Harvest struct {
	Words    int // number of modifiers that ptxas knows
	Forms    int // number of seeds
	Probes   int
	Excepted int
	Found    []Dispute // what ptxas accepts and the table does not
}

// A trial is an instruction that the table may lack.
type trial struct {
	seed *seed
	word string // the modifier under test, without its dot
	what string
	instance
}

// A seed is a legal instruction of a form.
type seed struct {
	ins  *isa.Instruction
	form *isa.Form
	instance
}

type harvester struct {
	runner  *Runner
	config  HarvestConfig
	targets []place
	result  *Harvest
	// By instruction: the words that ptxas does not reject as such.
	live  map[string]map[string]bool
	tried map[uint64]bool // hashes of place and text
}

// RunHarvest tries words and operand shapes with the forms of set. It reports what ptxas accepts
// and the table lacks.
func RunHarvest(
	ctx context.Context, set *isa.Set, tool *ptxas.Tool, c HarvestConfig,
) (*Harvest, error) {
	h := &harvester{
		runner: &Runner{
			set: set, tool: tool, report: &Report{}, config: Config{Exceptions: c.Exceptions},
		},
		config: c,
		result: &Harvest{Words: len(c.Words)},
		live:   map[string]map[string]bool{},
		tried:  map[uint64]bool{},
	}
	names := c.Targets
	if len(names) == 0 {
		names = harvestTargets
	}
	for _, name := range names {
		t, ok := isa.ParseTarget(name)
		if !ok {
			return nil, fmt.Errorf("no target is called %s", name)
		}
		h.targets = append(h.targets, place{isa.Newest(), t})
	}
	seeds := h.seeds()
	steps := []func(context.Context, map[place][]seed) error{h.insert, h.replace, h.shapes}
	for _, step := range steps {
		if err := step(ctx, seeds); err != nil {
			return h.result, err
		}
	}
	return h.result, nil
}

// seeds returns legal instructions of every form, for the first target that supports it.
func (h *harvester) seeds() map[place][]seed {
	out := map[place][]seed{}
	n := 0
	for ins := range h.runner.set.All() {
		if len(h.config.Families) > 0 && !slices.Contains(h.config.Families, ins.Family) ||
			!strings.HasPrefix(ins.Name, h.config.Only) {
			continue
		}
		for i := range ins.Forms {
			if n++; n%max(h.config.Part, 1) != 0 {
				continue
			}
			if p, s, ok := h.seed(ins, &ins.Forms[i]); ok {
				out[p] = append(out[p], s)
				h.result.Forms++
			}
		}
	}
	return out
}

// seed returns a legal instruction of a form for the first target that supports it. It returns the
// shortest of a few, because ptxas takes as long for a vector of 128 registers as for many other
// probes.
func (h *harvester) seed(ins *isa.Instruction, f *isa.Form) (p place, best seed, ok bool) {
	rng := h.runner.rng(ins, 0)
	list, _ := combinations(f, 100, rng)
	for _, p := range h.targets {
		m := h.runner.set.Matcher(p.version, p.target)
		for _, slots := range list {
			if open, gone := f.Bounds(slots); !p.admits(open, gone) {
				continue
			}
			op := h.runner.set.Opcode(ins, slots)
			cands, _ := m.Candidates(op)
			n := slices.IndexFunc(cands, func(c isa.Candidate) bool { return c.Form.Is(f) })
			if n < 0 {
				continue
			}
			x, ok := (&maker{rng: rng, plain: true}).instance(op, &cands[n])
			if ok && (best.ins == nil || len(x.String()) < len(best.String())) {
				best = seed{ins, f, x}
			}
		}
		if best.ins != nil {
			return p, best, true
		}
	}
	return place{}, seed{}, false
}

// judge asks ptxas about trials that the table rejects, and records those that it accepts.
func (h *harvester) judge(
	ctx context.Context, p place, list []trial,
) ([]trial, []ptxas.Verdict, error) {
	m := h.runner.set.Matcher(p.version, p.target)
	list = slices.DeleteFunc(list, func(t trial) bool {
		hash := fnv.New64a()
		fmt.Fprint(hash, p, t.String())
		key := hash.Sum64()
		if h.tried[key] || !declarable(p, t.instance) {
			return true
		}
		h.tried[key] = true
		form, _ := m.Match(t.op, t.isaArgs())
		return form != nil
	})
	if len(list) == 0 {
		return nil, nil, nil
	}
	ask := make([]ptxas.Probe, len(list))
	for i, t := range list {
		ask[i] = t.probe(p)
	}
	verdicts, err := h.runner.tool.Judge(ctx, p.version.String(), p.target.String(), ask)
	if err != nil {
		return nil, nil, err
	}
	h.result.Probes += len(list)
	h.record(p, list, ask, verdicts)
	if h.config.Progress != nil {
		fmt.Fprintf(h.config.Progress, "\r%9d probes, %6d found  ", h.result.Probes,
			len(h.result.Found))
	}
	return list, verdicts, nil
}

// record records the trials that ptxas accepts and that the parser, the form check or the table
// rejects.
func (h *harvester) record(p place, list []trial, ask []ptxas.Probe, verdicts []ptxas.Verdict) {
	var accepted []int
	var texts []ptxas.Probe
	for i, v := range verdicts {
		if v.OK() {
			accepted, texts = append(accepted, i), append(texts, ask[i])
		}
	}
	readings := make([]reading, len(texts))
	if h.config.Table {
		for n := range readings {
			readings[n].why = "not in the table"
		}
	} else {
		readings = read(p, texts)
	}
	for n, r := range readings {
		t := &list[accepted[n]]
		switch {
		case r.why == "":
		case h.config.Exceptions.excuses(p, t.String(), true):
			h.result.Excepted++
		default:
			d := Dispute{
				What: t.what, Place: p.String(), Text: t.String(),
				Form: t.seed.form.Template, Ours: r.why, Ptxas: "accepted",
			}
			h.result.Found = append(h.result.Found, d)
			if h.config.Report != nil {
				h.config.Report(d)
			}
		}
	}
}

// insert adds each word after the modifiers of each form. Combinations that are rejected only
// because of the word are not tried again.
func (h *harvester) insert(ctx context.Context, seeds map[place][]seed) error {
	for _, p := range h.targets {
		for part := range slices.Chunk(seeds[p], 200) {
			var list []trial
			for i := range part {
				for n, w := range h.config.Words {
					if h.config.Part > 1 && (n+i)%h.config.Part != 0 {
						continue
					}
					x := part[i].instance
					x.op += "." + w
					list = append(list, trial{&part[i], w, "word inserted", x})
				}
			}
			list, verdicts, err := h.judge(ctx, p, list)
			if err != nil {
				return err
			}
			for i, v := range verdicts {
				if !refusesWord(v) {
					h.keep(list[i].seed.ins, list[i].word)
				}
			}
		}
	}
	return nil
}

func (h *harvester) keep(ins *isa.Instruction, word string) {
	if h.live[ins.Name] == nil {
		h.live[ins.Name] = map[string]bool{}
	}
	h.live[ins.Name][word] = true
}

// wordRefused matches the messages of ptxas for a word that an instruction does not accept.
var wordRefused = regexp.MustCompile(
	`^(Illegal (.+ )?(modifier|operation)|Unknown modifier|No .+ expected)|` +
		`^(Not a name|Parsing error)|` +
		`(is|are) not allowed|Illegal [a-z]+ modifier`)

// refusesWord reports whether a verdict says that the word does not belong to the
// instruction.
func refusesWord(v ptxas.Verdict) bool { return !v.OK() && says(v, wordRefused) }
