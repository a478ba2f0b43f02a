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

// A HarvestConfig configures RunHarvest.
type HarvestConfig struct {
	Families   []string // all if empty
	Only       string   // prefix of instruction names
	Words      []string // modifiers without their dot
	Targets    []string // in order of preference; harvestTargets if empty
	Table      bool     // use only the table, instead of parsing and checking the text
	Part       int      // try one in Part forms and one in Part words; 1 tries all
	Exceptions *Exceptions
	Progress   io.Writer     // nil for none
	Report     func(Dispute) // called for each difference when it is found; nil for none
}

// harvestTargets has one target of each kind. A form is tried on the first target that supports
// it.
var harvestTargets = []string{
	"sm_107a", "sm_103a", "sm_100a", "sm_120a", "sm_90a", "sm_110a", "sm_121a", "sm_80", "sm_20",
}

// A Harvest is the result of trying a list of modifiers with every form. Ordinary probes are
// generated from the table, so they cannot find what the table lacks. The probes of a harvest use
// modifiers and operands from other sources.
type Harvest struct {
	Words    int // number of modifiers that were tried
	Forms    int // number of forms that were tried
	Probes   int
	Excepted int
	Found    []Dispute // instructions that ptxas accepts and the table rejects
}

// A trial is an instruction that the table may lack.
type trial struct {
	seed *seed
	word string // the modifier under test, without its dot
	what string
	instance
}

// A seed is a legal instruction of a form, which trials modify.
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
	// possible has, for each instruction, the modifiers that ptxas does not reject as unknown.
	possible map[string]map[string]bool
	tried    map[uint64]bool // hashes of the places and texts that were tried
}

// RunHarvest tries modifiers and operand shapes with the forms of set. It reports the
// instructions that ptxas accepts and the table lacks.
func RunHarvest(
	ctx context.Context, set *isa.Set, tool *ptxas.Tool, c HarvestConfig,
) (*Harvest, error) {
	h := &harvester{
		runner: &Runner{
			set: set, tool: tool, report: &Report{}, config: Config{Exceptions: c.Exceptions},
		},
		config:   c,
		result:   &Harvest{Words: len(c.Words)},
		possible: map[string]map[string]bool{},
		tried:    map[uint64]bool{},
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

// seeds returns a legal instruction of every form, by the first target that supports the form.
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

// seed returns a legal instruction of a form for the first target that supports it. Of a few
// candidates it returns the shortest, because ptxas takes as long for a vector of 128 registers
// as for many other probes.
func (h *harvester) seed(ins *isa.Instruction, f *isa.Form) (p place, best seed, ok bool) {
	rng := h.runner.rng(ins, 0)
	list, _ := combinations(f, 100, rng)
	for _, p := range h.targets {
		m := h.runner.set.Matcher(p.version, p.target)
		for _, slots := range list {
			if open, gone := f.Bounds(slots); !p.isAllowed(open, gone) {
				continue
			}
			op := h.runner.set.Opcode(ins, slots)
			cands, _ := m.Candidates(op)
			n := slices.IndexFunc(cands, func(c isa.Candidate) bool { return c.Form.Is(f) })
			if n < 0 {
				continue
			}
			x, ok := (&operandMaker{rng: rng, plain: true}).instance(op, &cands[n])
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

// judge runs ptxas on the trials that the table rejects, and records the trials that ptxas
// accepts.
func (h *harvester) judge(
	ctx context.Context, p place, list []trial,
) ([]trial, []ptxas.Verdict, error) {
	m := h.runner.set.Matcher(p.version, p.target)
	list = slices.DeleteFunc(list, func(t trial) bool {
		hash := fnv.New64a()
		fmt.Fprint(hash, p, t.String())
		key := hash.Sum64()
		if h.tried[key] || !canDeclare(p, t.instance) {
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
	readings := make([]formVerdict, len(texts))
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
		case h.config.Exceptions.excludes(p, t.String(), true):
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

// insert adds each modifier at the end of the modifiers of each form. A modifier that ptxas
// rejects for an instruction is not tried again with that instruction.
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
					h.addPossible(list[i].seed.ins, list[i].word)
				}
			}
		}
	}
	return nil
}

func (h *harvester) addPossible(ins *isa.Instruction, word string) {
	if h.possible[ins.Name] == nil {
		h.possible[ins.Name] = map[string]bool{}
	}
	h.possible[ins.Name][word] = true
}

// wordRefused matches the messages of ptxas for a modifier that an instruction does not accept.
var wordRefused = regexp.MustCompile(
	`^(Illegal (.+ )?(modifier|operation)|Unknown modifier|No .+ expected)|` +
		`^(Not a name|Parsing error)|` +
		`(is|are) not allowed|Illegal [a-z]+ modifier`)

// refusesWord reports whether ptxas rejected an instruction because of the modifier.
func refusesWord(v ptxas.Verdict) bool { return !v.OK() && hasMessage(v, wordRefused) }
