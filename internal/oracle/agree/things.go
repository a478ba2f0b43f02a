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

// An operandSample is an operand: its text, its form in package isa, and the declarations that it
// requires.
type operandSample struct {
	text         string
	arg          isa.Arg
	declarations []declaration
}

// A declaration is a line of PTX and the place where it must be written.
type declaration struct {
	where declarationPlace
	text  string
}

type declarationPlace uint8

const (
	inModule declarationPlace = iota
	inParams
	inDecls
	inBody
)

// An instance is an instruction with operands.
type instance struct {
	op   string
	args []operandSample
}

// String returns the instruction as PTX, with a semicolon.
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

// probe returns the instruction and its declarations in the syntax of a version.
func (x instance) probe(at place) ptxas.Probe {
	var p ptxas.Probe
	lists := [...]*[]string{&p.Module, &p.Params, &p.Decls, &p.Body}
	for _, a := range x.args {
		for _, n := range a.declarations {
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

// The registers of a type are declared in one of two numbers: a small one for most instructions,
// because ptxas takes longer to declare registers than to read an instruction, and a large one
// for long vectors.
const smallCount, largeCount = 16, 300

func register(t isa.Type, n int) operandSample {
	word, count := strings.TrimPrefix(t.String(), "."), smallCount
	if t.Class() == isa.Pred {
		word = "p"
	}
	if n %= largeCount; n >= smallCount {
		word, count = "l"+word, largeCount
	}
	return operandSample{
		text:         fmt.Sprintf("%%%s_%d", word, n),
		arg:          isa.Arg{Kind: isa.ArgReg, Type: t},
		declarations: []declaration{{inDecls, fmt.Sprintf(".reg %s %%%s_<%d>;", t, word, count)}},
	}
}

func integer(v int64) operandSample {
	return operandSample{text: fmt.Sprint(v), arg: isa.Arg{Kind: isa.ArgInt, Value: v}}
}

func float(text string, t isa.Type) operandSample {
	return operandSample{text: text, arg: isa.Arg{Kind: isa.ArgFloat, Type: t}}
}

func sink() operandSample { return operandSample{text: "_", arg: isa.Arg{Kind: isa.ArgSink}} }

// A texture declaration, since PTX 1.5 and before.
const (
	oneTexture   = ".global .texref tex0;"
	olderTexture = ".tex .u64 tex0;"
)

// variables lists a variable for each state space, and for each opaque type.
var variables = []struct {
	space isa.Space
	typ   isa.Type
	name  string
	need  declaration
}{
	{isa.Global, isa.B32, "gv", declaration{inModule, ".global .align 16 .b32 gv[64];"}},
	{isa.Shared, isa.B32, "sv", declaration{inModule, ".shared .align 128 .b32 sv[64];"}},
	{isa.Const, isa.B32, "cv", declaration{inModule, ".const .align 16 .b32 cv[64];"}},
	{isa.Local, isa.B32, "lv", declaration{inDecls, ".local .align 16 .b32 lv[64];"}},
	{isa.ParamEntry, isa.B64, "pv", declaration{inParams, ".param .b64 pv"}},
	{isa.ParamFunc, isa.B32, "av", declaration{inDecls, ".param .align 16 .b32 av[64];"}},
	{isa.Global, isa.Texref, "tex0", declaration{inModule, oneTexture}},
	{isa.Global, isa.Surfref, "srf0", declaration{inModule, ".global .surfref srf0;"}},
}

// variable returns the variable of a state space or of an opaque type. ok is false if
// variables does not contain one.
func variable(space isa.Space, typ isa.Type) (operandSample, bool) {
	for _, v := range variables {
		if typ.Class() == isa.Opaque && v.typ == typ || typ.Class() != isa.Opaque &&
			v.typ.Class() != isa.Opaque &&
			(v.space == space || v.space.Base() == space.Base() && space != isa.ParamFunc) {
			return operandSample{
				text:         v.name,
				arg:          isa.Arg{Kind: isa.ArgSym, Space: v.space, Type: v.typ, Count: 64},
				declarations: []declaration{v.need},
			}, true
		}
	}
	return operandSample{}, false
}

func label() operandSample {
	return operandSample{text: "L0", arg: isa.Arg{Kind: isa.ArgLabel},
		declarations: []declaration{{inBody, "L0:"}}}
}

func function() operandSample {
	return operandSample{text: "fn0", arg: isa.Arg{Kind: isa.ArgFunc},
		declarations: []declaration{{inModule, ".func fn0;"}}}
}

func special(name string, t isa.Type) operandSample {
	return operandSample{text: name, arg: isa.Arg{Kind: isa.ArgSreg, Type: t}}
}

// group joins operands to a vector, an address or a pair.
func group(kind isa.ArgKind, open, between, end string, parts []operandSample) operandSample {
	out := operandSample{arg: isa.Arg{Kind: kind}}
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = p.text
		out.arg.Elems = append(out.arg.Elems, p.arg)
		for _, n := range p.declarations {
			if !slices.Contains(out.declarations, n) {
				out.declarations = append(out.declarations, n)
			}
		}
	}
	out.text = open + strings.Join(words, between) + end
	return out
}

func vector(parts []operandSample) operandSample {
	return group(isa.ArgVector, "{", ", ", "}", parts)
}
func address(parts []operandSample) operandSample {
	return group(isa.ArgAddress, "[", ", ", "]", parts)
}
func pair(a, b operandSample) operandSample {
	return group(isa.ArgPair, "", "|", "", []operandSample{a, b})
}

func negate(t operandSample) operandSample {
	t.text = "!" + t.text
	t.arg.Not = true
	return t
}

func offset(t operandSample, by int64) operandSample {
	t.text = fmt.Sprintf("%s+%d", t.text, by)
	t.arg.Value = by
	return t
}

// withUnified returns the operand with the suffix .unified.
func withUnified(t operandSample) operandSample {
	t.text += ".unified"
	t.arg.Unified = true
	return t
}
