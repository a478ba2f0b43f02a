// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/isa"
)

// A thing is an operand: its text, its meaning, and the declarations that it needs.
type thing struct {
	text  string
	arg   isa.Arg
	needs []need
}

// A need is a declaration and where it must be written.
type need struct {
	where needWhere
	text  string
}

type needWhere uint8

const (
	inModule needWhere = iota
	inParams
	inDecls
	inBody
)

// An instance is an instruction with operands.
type instance struct {
	op   string
	args []thing
}

// String returns the instruction as PTX.
func (x instance) String() string {
	words := make([]string, len(x.args))
	for i, a := range x.args {
		words[i] = a.text
	}
	if len(words) == 0 {
		return x.op + ";"
	}
	return x.op + " " + strings.Join(words, ", ") + ";"
}

func (x instance) isaArgs() []isa.Arg {
	out := make([]isa.Arg, len(x.args))
	for i, a := range x.args {
		out[i] = a.arg
	}
	return out
}

// probe returns the instance with its declarations, as they are written at a place.
func (x instance) probe(at place) ptxas.Probe {
	var p ptxas.Probe
	lists := [...]*[]string{&p.Module, &p.Params, &p.Decls, &p.Body}
	for _, a := range x.args {
		for _, n := range a.needs {
			text := n.text
			if text == oneTexture && at.version < isa.MakeVersion(1, 5) {
				text = olderTexture
			}
			if l := lists[n.where]; !slices.Contains(*l, text) {
				*l = append(*l, text)
			}
		}
	}
	slices.Sort(p.Decls)
	slices.Sort(p.Params)
	p.Body = append(p.Body, x.String())
	return p
}

// Registers of a type have two declarations: a small one for most instructions, because declaring
// registers takes ptxas longer than reading an instruction, and a large one for long vectors.
const few, many = 16, 300

func register(t isa.Type, n int) thing {
	word, count := strings.TrimPrefix(t.String(), "."), few
	if t.Class() == isa.Pred {
		word = "p"
	}
	if n %= many; n >= few {
		word, count = "l"+word, many
	}
	return thing{
		text:  fmt.Sprintf("%%%s_%d", word, n),
		arg:   isa.Arg{Kind: isa.ArgReg, Type: t},
		needs: []need{{inDecls, fmt.Sprintf(".reg %s %%%s_<%d>;", t, word, count)}},
	}
}

func integer(v int64) thing {
	return thing{text: fmt.Sprint(v), arg: isa.Arg{Kind: isa.ArgInt, Value: v}}
}

func float(text string, t isa.Type) thing {
	return thing{text: text, arg: isa.Arg{Kind: isa.ArgFloat, Type: t}}
}

func sink() thing { return thing{text: "_", arg: isa.Arg{Kind: isa.ArgSink}} }

// A texture, in the syntax from PTX 1.5 and in the one before it.
const (
	oneTexture   = ".global .texref tex0;"
	olderTexture = ".tex .u64 tex0;"
)

// variables contains a variable of each state space, and of each opaque type.
var variables = []struct {
	space isa.Space
	typ   isa.Type
	name  string
	need  need
}{
	{isa.Global, isa.B32, "gv", need{inModule, ".global .align 16 .b32 gv[64];"}},
	{isa.Shared, isa.B32, "sv", need{inModule, ".shared .align 128 .b32 sv[64];"}},
	{isa.Const, isa.B32, "cv", need{inModule, ".const .align 16 .b32 cv[64];"}},
	{isa.Local, isa.B32, "lv", need{inDecls, ".local .align 16 .b32 lv[64];"}},
	{isa.ParamEntry, isa.B64, "pv", need{inParams, ".param .b64 pv"}},
	{isa.ParamFunc, isa.B32, "av", need{inDecls, ".param .align 16 .b32 av[64];"}},
	{isa.Global, isa.Texref, "tex0", need{inModule, oneTexture}},
	{isa.Global, isa.Surfref, "srf0", need{inModule, ".global .surfref srf0;"}},
}

// variable returns the variable of a space or of an opaque type.
func variable(space isa.Space, typ isa.Type) (thing, bool) {
	for _, v := range variables {
		if typ.Class() == isa.Opaque && v.typ == typ || typ.Class() != isa.Opaque &&
			v.typ.Class() != isa.Opaque &&
			(v.space == space || v.space.Base() == space.Base() && space != isa.ParamFunc) {
			return thing{
				text:  v.name,
				arg:   isa.Arg{Kind: isa.ArgSym, Space: v.space, Type: v.typ, Count: 64},
				needs: []need{v.need},
			}, true
		}
	}
	return thing{}, false
}

func label() thing {
	return thing{text: "L0", arg: isa.Arg{Kind: isa.ArgLabel}, needs: []need{{inBody, "L0:"}}}
}

func function() thing {
	return thing{text: "fn0", arg: isa.Arg{Kind: isa.ArgFunc},
		needs: []need{{inModule, ".func fn0;"}}}
}

func special(name string, t isa.Type) thing {
	return thing{text: name, arg: isa.Arg{Kind: isa.ArgSreg, Type: t}}
}

// group puts operands into a vector in braces, an address or a pair.
func group(kind isa.ArgKind, open, between, end string, parts []thing) thing {
	out := thing{arg: isa.Arg{Kind: kind}}
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p.text
		out.arg.Elems = append(out.arg.Elems, p.arg)
		for _, n := range p.needs {
			if !slices.Contains(out.needs, n) {
				out.needs = append(out.needs, n)
			}
		}
	}
	out.text = open + strings.Join(words, between) + end
	return out
}

func vector(parts []thing) thing  { return group(isa.ArgVector, "{", ", ", "}", parts) }
func address(parts []thing) thing { return group(isa.ArgAddress, "[", ", ", "]", parts) }
func pair(a, b thing) thing       { return group(isa.ArgPair, "", "|", "", []thing{a, b}) }

func negated(t thing) thing {
	t.text = "!" + t.text
	t.arg.Not = true
	return t
}

func offset(t thing, by int64) thing {
	t.text = fmt.Sprintf("%s+%d", t.text, by)
	t.arg.Value = by
	return t
}

func unified(t thing) thing {
	t.text += ".unified"
	t.arg.Unified = true
	return t
}
