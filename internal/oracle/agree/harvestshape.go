// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// otherTarget and otherOperands match the messages of ptxas for a word that may be legal on another
// target, or with other operands.
var (
	otherTarget   = regexp.MustCompile(`target|sm_\d|architecture`)
	otherOperands = regexp.MustCompile(`[Aa]rgument|[Oo]perand|[Vv]ector`)
	otherWord     = regexp.MustCompile(`^\.([\w:]+) modifier required`)
)

// mostRequired limits how many words that ptxas requires are added to a trial.
const mostRequired = 3

// replace inserts the words that an instruction does not reject at each position among its
// modifiers, and also replaces each modifier by them. If ptxas rejects the operands or the target,
// it tries others.
func (h *harvester) replace(ctx context.Context, seeds map[place][]seed) error {
	for _, p := range h.targets {
		for part := range slices.Chunk(seeds[p], 200) {
			var list []trial
			for i := range part {
				for w := range h.live[part[i].ins.Name] {
					list = append(list, replacements(&part[i], w)...)
				}
			}
			slices.SortStableFunc(list, func(a, b trial) int { return strings.Compare(a.op, b.op) })
			if err := h.follow(ctx, p, list, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// replacements returns the instructions with a word written into a seed. The order of modifiers
// other than types is free.
func replacements(s *seed, word string) []trial {
	name, mods := len(strings.Split(s.ins.Name, ".")), strings.Split(s.op, ".")
	var out []trial
	add := func(what string, mods []string) {
		x := s.instance
		x.op = strings.Join(mods, ".")
		out = append(out, trial{s, word, what, x})
	}
	_, typed := isa.ParseType("." + word)
	for i := name; i <= len(mods); i++ {
		if typed || i == name || i == len(mods) {
			add("word inserted", slices.Insert(slices.Clone(mods), i, word))
		}
		if i < len(mods) {
			with := slices.Clone(mods)
			with[i] = word
			add("word replaced", with)
		}
	}
	return out
}

// follow judges trials. If ptxas says that the operands, the target or another word is wrong
// or missing, it tries again with others. The parameter added is the number of required words that
// the trials already contain.
func (h *harvester) follow(ctx context.Context, p place, list []trial, added int) error {
	list, verdicts, err := h.judge(ctx, p, list)
	if err != nil {
		return err
	}
	var bent, elsewhere, longer []trial
	complaints := map[string]bool{} // words in another order that get the same message
	for i, v := range verdicts {
		if v.OK() {
			continue
		}
		if word := required(v); word != "" && added < mostRequired {
			t := list[i]
			t.op += "." + word
			longer = append(longer, t)
		}
		if says(v, otherTarget) {
			elsewhere = append(elsewhere, list[i])
		} else if !says(v, wordRefused) && says(v, otherOperands) {
			if key := complaint(list[i], v); !complaints[key] {
				complaints[key] = true
				bent = append(bent, bends(list[i])...)
			}
		}
	}
	if len(longer) > 0 {
		if err := h.follow(ctx, p, longer, added+1); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(bent, 50_000) {
		if _, _, err := h.judge(ctx, p, part); err != nil {
			return err
		}
	}
	for _, q := range h.targets {
		if q == p {
			continue
		}
		if _, _, err := h.judge(ctx, q, slices.Clone(elsewhere)); err != nil {
			return err
		}
	}
	return nil
}

// complaint returns the message of ptxas for a trial, with the form and the set of its modifiers.
func complaint(t trial, v ptxas.Verdict) string {
	mods := strings.Split(t.op, ".")
	slices.Sort(mods)
	return t.seed.String() + strings.Join(mods, ".") + v.String()
}

// required returns a word that ptxas requires beside another.
func required(v ptxas.Verdict) string {
	for _, m := range v.Messages {
		if part := otherWord.FindStringSubmatch(m.Text); part != nil {
			return part[1]
		}
	}
	return ""
}

func says(v ptxas.Verdict, rx *regexp.Regexp) bool {
	return slices.ContainsFunc(v.Messages, func(m ptxas.Message) bool {
		return rx.MatchString(m.Text)
	})
}

// shapes tries other operand shapes with every seed.
func (h *harvester) shapes(ctx context.Context, seeds map[place][]seed) error {
	for _, p := range h.targets {
		for part := range slices.Chunk(seeds[p], 200) {
			var list []trial
			for i := range part {
				list = append(list, bends(trial{&part[i], "", "", part[i].instance})...)
			}
			if _, _, err := h.judge(ctx, p, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// bends returns the trial with one operand changed in shape, removed or added.
func bends(t trial) []trial {
	var out []trial
	add := func(what string, args []thing) {
		b := t
		b.args, b.what = args, strings.TrimPrefix(t.what+", "+what, ", ")
		out = append(out, b)
	}
	for i := range t.args {
		for _, v := range variants(t.args[i], i == 0) {
			args := slices.Clone(t.args)
			args[i] = v
			add("operand bent", args)
		}
		add("operand dropped", slices.Delete(slices.Clone(t.args), i, i+1))
	}
	for i := range len(t.args) + 1 {
		for _, x := range extras() {
			if i > 0 && x.arg.Kind == isa.ArgSink {
				continue
			}
			add("operand added", slices.Insert(slices.Clone(t.args), i, x))
		}
	}
	return out
}

// extras returns operands that an instruction may accept besides its own.
func extras() []thing {
	r, w := register(isa.B32, 12), register(isa.B64, 12)
	return []thing{
		register(isa.Predicate, 12), register(isa.B16, 12), r, w, register(isa.F32, 12), integer(1),
		sink(),
		vector([]thing{r}), address([]thing{w}),
		vector([]thing{register(isa.B32, 13), r, register(isa.B32, 14), r}),
	}
}

// variants returns an operand in other shapes: a vector of another length, alone or in a vector of
// one, negated, or a constant. The first operand is also tried as the sink _ and with a second one
// beside it, which is a syntax error anywhere else.
func variants(t thing, first bool) []thing {
	var out []thing
	single := func(x thing) {
		out = append(out, x, vector([]thing{x}))
		if p := register(isa.Predicate, 12); first {
			out = append(out, sink(), pair(x, p), pair(x, sink()), pair(sink(), p))
		}
	}
	switch t.arg.Kind {
	case isa.ArgVector:
		parts := partsOf(t)
		single(parts[0])
		for _, n := range []int{2, 3, 4, 8, 16} {
			if n != len(parts) {
				out = append(out, vector(repeated(parts, n)))
			}
		}
	case isa.ArgPair:
		single(partsOf(t)[0])
		out = append(out, partsOf(t)[1])
	case isa.ArgAddress:
		out = append(out, partsOf(t)[0])
		out = append(out, addresses(partsOf(t))...)
	case isa.ArgReg:
		single(t)
		out = append(out, vector([]thing{t, t}), vector([]thing{t, t, t, t}))
		if !first {
			out = append(out, integer(0), integer(1), float("0f3F800000", isa.F32))
		}
		if t.arg.Type == isa.Predicate {
			out = append(out, negated(t))
		}
	default:
		out = append(out, register(isa.B32, 12), register(isa.B64, 12), vector([]thing{t}))
	}
	return out
}

// addresses returns addresses with other operands after the base.
func addresses(parts []thing) []thing {
	var out []thing
	for i := 1; i < len(parts); i++ {
		for _, v := range variants(parts[i], false) {
			with := slices.Clone(parts)
			with[i] = v
			out = append(out, address(with))
		}
	}
	for _, x := range extras() {
		if x.arg.Kind != isa.ArgSink && x.arg.Kind != isa.ArgAddress {
			out = append(out, address(append(slices.Clone(parts), x)))
		}
	}
	return out
}

// repeated returns n elements by repeating parts.
func repeated(parts []thing, n int) []thing {
	out := make([]thing, n)
	for i := range out {
		out[i] = parts[i%len(parts)]
	}
	return out
}
