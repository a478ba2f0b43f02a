// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// A mutator changes one modifier or operand of an instruction.
type mutator struct {
	rng   *rand.Rand
	words []string // modifiers that the instruction uses
	all   []string // all modifiers of the table
}

// mutate returns x with one change, and the name of the change.
func (m *mutator) mutate(x instance) (instance, string) {
	if m.rng.IntN(2) == 0 {
		return m.modifiers(x)
	}
	return m.operands(x)
}

// modifiers drops, repeats, swaps, replaces or inserts a modifier of x.
func (m *mutator) modifiers(x instance) (instance, string) {
	words := strings.Split(x.op, ".")
	head, mods := words[0], words[1:]
	pick := func() int { return m.rng.IntN(len(mods)) }
	what := "insert"
	switch n := m.rng.IntN(8); {
	case len(mods) == 0 || n < 2:
		mods = slices.Insert(mods, m.rng.IntN(len(mods)+1), m.word())
	case n < 3:
		what = "drop"
		i := pick()
		mods = slices.Delete(mods, i, i+1)
	case n < 4:
		what = "repeat"
		mods = slices.Insert(mods, m.rng.IntN(len(mods)+1), mods[pick()])
	case n < 5 && len(mods) > 1:
		what = "swap"
		i, j := pick(), pick()
		mods[i], mods[j] = mods[j], mods[i]
	default:
		what = "replace"
		mods[pick()] = m.word()
	}
	x.op = strings.Join(append([]string{head}, mods...), ".")
	return x, "modifier " + what
}

// word returns a random modifier without its dot, usually one that the instruction uses.
func (m *mutator) word() string {
	list := m.words
	if len(list) == 0 || m.rng.IntN(6) == 0 {
		list = m.all
	}
	return strings.TrimPrefix(list[m.rng.IntN(len(list))], ".")
}

// operands drops, repeats, swaps, replaces or changes an operand of x.
func (m *mutator) operands(x instance) (instance, string) {
	x.args = slices.Clone(x.args)
	if len(x.args) == 0 {
		x.args = []operandSample{m.randomOperand()}
		return x, "operand insert"
	}
	i := m.rng.IntN(len(x.args))
	switch m.rng.IntN(10) {
	case 0:
		x.args = slices.Delete(x.args, i, i+1)
		return x, "operand drop"
	case 1:
		x.args = slices.Insert(x.args, i, m.randomOperand())
		return x, "operand insert"
	case 2:
		if j := m.rng.IntN(len(x.args)); j != i {
			x.args[i], x.args[j] = x.args[j], x.args[i]
			return x, "operand swap"
		}
		fallthrough
	case 3, 4:
		x.args[i] = m.randomOperand()
		return x, "operand replace"
	}
	x.args[i] = m.changeInside(x.args[i])
	return x, "operand bend"
}

// randomOperand returns a random operand.
func (m *mutator) randomOperand() operandSample {
	list := operandKinds()
	return list[m.rng.IntN(len(list))]
}

// operandKinds returns one operand of each kind.
func operandKinds() []operandSample {
	var out []operandSample
	for _, t := range registerTypes() {
		out = append(out, register(t, 7))
	}
	out = append(out, integer(0), integer(1), integer(-1), integer(3), integer(255), integer(4096),
		integer(1<<40),
		float("0f3F800000", isa.F32), float("0d3FF0000000000000", isa.F64), float("1.5", isa.F64),
		operandSample{text: "WARP_SZ", arg: isa.Arg{Kind: isa.ArgInt, Value: 32}},
		sink(), label(), function(), special("%laneid", isa.U32), special("%clock64", isa.U64),
		negate(register(isa.Predicate, 3)))
	for _, v := range variables {
		t, _ := variable(v.space, v.typ)
		out = append(out, t, address([]operandSample{t}))
	}
	for _, t := range []isa.Type{isa.B16, isa.B32, isa.F32, isa.B64, isa.Predicate} {
		r := register(t, 8)
		out = append(out, address([]operandSample{r}), vector([]operandSample{r, register(t, 9)}),
			vector([]operandSample{r, register(t, 9), register(t, 10), register(t, 11)}),
			pair(r, register(t, 9)))
	}
	return out
}

// changeInside changes a property of an operand: the type of a register, the value of a constant,
// the length of a vector, or the base of an address.
func (m *mutator) changeInside(t operandSample) operandSample {
	switch t.arg.Kind {
	case isa.ArgReg:
		if t.arg.Part != "" && m.rng.IntN(2) == 0 {
			fields := [...]string{".b0", ".b2", ".b4", ".h1", ".h2", ".h01", ".h23", ".h45", ".b21",
				".b310", ".b0123", ".b9876", ".x"}
			f := fields[m.rng.IntN(len(fields))]
			t.text, t.arg.Part = strings.TrimSuffix(t.text, t.arg.Part)+f, f
			return t
		}
		types := registerTypes()
		return register(types[m.rng.IntN(len(types))], 5)
	case isa.ArgInt:
		by := []int64{1, -1, 2, 8, 100, -1000, 1 << 33}
		return integer(t.arg.Value + by[m.rng.IntN(len(by))])
	case isa.ArgVector, isa.ArgAddress, isa.ArgPair:
		return m.changeGroup(t)
	}
	return m.randomOperand()
}

func (m *mutator) changeGroup(t operandSample) operandSample {
	parts := partsOf(t)
	i := m.rng.IntN(len(parts))
	switch n := m.rng.IntN(4); {
	case n == 0 && len(parts) > 1 && t.arg.Kind != isa.ArgPair:
		parts = slices.Delete(parts, i, i+1)
	case n == 1 && t.arg.Kind == isa.ArgVector:
		parts = slices.Insert(parts, i, parts[i])
	default:
		parts[i] = m.changeInside(parts[i])
	}
	switch t.arg.Kind {
	case isa.ArgVector:
		return vector(parts)
	case isa.ArgAddress:
		return address(parts)
	}
	return pair(parts[0], parts[1])
}

// partsOf splits an operand that consists of several parts.
func partsOf(t operandSample) []operandSample {
	text := t.text
	between := ", "
	switch t.arg.Kind {
	case isa.ArgVector, isa.ArgAddress:
		text = text[1:strings.LastIndexAny(text, "]}")]
	case isa.ArgPair:
		between = "|"
	}
	var out []operandSample
	for i, word := range splitTop(text, between) {
		out = append(out,
			operandSample{text: word, arg: t.arg.Elems[i], declarations: t.declarations})
	}
	return out
}

// splitTop splits text at separators that are outside braces and brackets.
func splitTop(text, between string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 && strings.HasPrefix(text[i:], between) {
			out = append(out, text[start:i])
			start = i + len(between)
			i = start - 1
		}
	}
	return append(out, text[start:])
}
