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

// otherTarget and otherOperands match the messages of ptxas for a modifier that may be legal on
// another target, or with other operands. otherWord matches a message that requires another
// modifier.
var (
	otherTarget   = regexp.MustCompile(`target|sm_\d|architecture`)
	otherOperands = regexp.MustCompile(`[Aa]rgument|[Oo]perand|[Vv]ector`)
	otherWord     = regexp.MustCompile(`^\.([\w:]+) modifier required`)
)

// maxRequired is the maximum number of modifiers that are added to a trial because ptxas requires
// them.
const maxRequired = 3

// replace tries each modifier that an instruction does not reject at each position among the
// modifiers of a seed, both inserted and in place of another. If ptxas rejects the operands or
// the target, other operands or targets are tried.
func (h *harvester) replace(ctx context.Context, seeds map[place][]seed) error {
	for _, p := range h.targets {
		for part := range slices.Chunk(seeds[p], 200) {
			var list []trial
			for i := range part {
				for w := range h.possible[part[i].ins.Name] {
					list = append(list, replacements(&part[i], w)...)
				}
			}
			slices.SortStableFunc(list, func(a, b trial) int { return strings.Compare(a.op, b.op) })
			if err := h.judgeFurther(ctx, p, list, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// replacements returns the seed with a modifier inserted or replaced in each possible way. The
// order of modifiers other than types does not matter.
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

// judgeFurther judges trials. If ptxas reports that the operands, the target or another modifier
// is wrong or missing, it modifies the trial accordingly and judges it again. added is the number
// of required modifiers that have been added to the trials.
func (h *harvester) judgeFurther(ctx context.Context, p place, list []trial, added int) error {
	list, verdicts, err := h.judge(ctx, p, list)
	if err != nil {
		return err
	}
	var bent, elsewhere, longer []trial
	complaints := map[string]bool{} // trials that differ only in the order of modifiers
	for i, v := range verdicts {
		if v.OK() {
			continue
		}
		if word := requiredWord(v); word != "" && added < maxRequired {
			t := list[i]
			t.op += "." + word
			longer = append(longer, t)
		}
		if hasMessage(v, otherTarget) {
			elsewhere = append(elsewhere, list[i])
		} else if !hasMessage(v, wordRefused) && hasMessage(v, otherOperands) {
			if key := messageKey(list[i], v); !complaints[key] {
				complaints[key] = true
				bent = append(bent, operandChanges(list[i])...)
			}
		}
	}
	if len(longer) > 0 {
		if err := h.judgeFurther(ctx, p, longer, added+1); err != nil {
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

// messageKey returns the message of ptxas for a trial, with the form and the set of modifiers.
func messageKey(t trial, v ptxas.Verdict) string {
	mods := strings.Split(t.op, ".")
	slices.Sort(mods)
	return t.seed.String() + strings.Join(mods, ".") + v.String()
}

// requiredWord returns a modifier that ptxas requires in addition, or "".
func requiredWord(v ptxas.Verdict) string {
	for _, m := range v.Messages {
		if part := otherWord.FindStringSubmatch(m.Text); part != nil {
			return part[1]
		}
	}
	return ""
}

func hasMessage(v ptxas.Verdict, rx *regexp.Regexp) bool {
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
				list = append(list, operandChanges(trial{&part[i], "", "", part[i].instance})...)
			}
			if _, _, err := h.judge(ctx, p, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// operandChanges returns the trial with one operand removed, added or changed in shape.
func operandChanges(t trial) []trial {
	var out []trial
	add := func(what string, args []operandSample) {
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
		for _, x := range extraOperands() {
			if i > 0 && x.arg.Kind == isa.ArgSink {
				continue
			}
			add("operand added", slices.Insert(slices.Clone(t.args), i, x))
		}
	}
	return out
}

// extraOperands returns operands that an instruction may accept in addition to its own.
func extraOperands() []operandSample {
	r, w := register(isa.B32, 12), register(isa.B64, 12)
	return []operandSample{
		register(isa.Predicate, 12), register(isa.B16, 12), r, w, register(isa.F32, 12), integer(1),
		sink(),
		vector([]operandSample{r}), address([]operandSample{w}),
		vector([]operandSample{register(isa.B32, 13), r, register(isa.B32, 14), r}),
	}
}

// variants returns operands of other shapes than t: a vector of another length, alone or in a
// vector of one, negated, or a constant. The first operand is also tried as the sink _ and with a
// second one beside it, which is a syntax error anywhere else.
func variants(t operandSample, first bool) []operandSample {
	var out []operandSample
	single := func(x operandSample) {
		out = append(out, x, vector([]operandSample{x}))
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
				out = append(out, vector(repeatOperands(parts, n)))
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
		out = append(out, vector([]operandSample{t, t}), vector([]operandSample{t, t, t, t}))
		if !first {
			out = append(out, integer(0), integer(1), float("0f3F800000", isa.F32))
		}
		if t.arg.Type == isa.Predicate {
			out = append(out, negate(t))
		}
	default:
		out = append(out, register(isa.B32, 12), register(isa.B64, 12), vector([]operandSample{t}))
	}
	return out
}

// addresses returns addresses with a different operand after the base.
func addresses(parts []operandSample) []operandSample {
	var out []operandSample
	for i := 1; i < len(parts); i++ {
		for _, v := range variants(parts[i], false) {
			with := slices.Clone(parts)
			with[i] = v
			out = append(out, address(with))
		}
	}
	for _, x := range extraOperands() {
		if x.arg.Kind != isa.ArgSink && x.arg.Kind != isa.ArgAddress {
			out = append(out, address(append(slices.Clone(parts), x)))
		}
	}
	return out
}

// repeatOperands returns n operands that repeat the elements of parts.
func repeatOperands(parts []operandSample, n int) []operandSample {
	out := make([]operandSample, n)
	for i := range out {
		out[i] = parts[i%len(parts)]
	}
	return out
}
