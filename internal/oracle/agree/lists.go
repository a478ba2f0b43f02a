// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package agree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/isa"
)

// The operands of call and brx.idx are names that are declared elsewhere in the module, so these
// two instructions are probed with whole modules.

// lists compares the verdicts on call and brx.idx.
func (r *Runner) lists(ctx context.Context) error {
	made := slices.Concat(callModules(), branchModules())
	texts := make([]string, len(made))
	for i, w := range made {
		texts[i] = w.Text
	}
	spoiler := NewSpoiler(r.config.Seed, texts)
	sound := len(made)
	for i := range r.config.Mutants {
		// only the calls and lists are changed, not the declarations
		if w, ok := spoiler.Spoil(made[i%sound].From, texts[i%sound]); ok && w.Line > 3 {
			made = append(made, w)
		}
	}
	disputes, err := Judge(ctx, r.tool, made)
	if err != nil {
		return err
	}
	tally := r.report.family("control")
	tally.Counts[Positive].Probes += sound
	tally.Counts[Mutant].Probes += len(made) - sound
	for _, d := range disputes {
		kind := Mutant
		if d.What == "" {
			kind = Positive
		}
		if c := &tally.Counts[kind]; d.Ours == "" {
			c.FalseAccepts++
		} else {
			c.FalseRejects++
		}
		tally.Disputes = append(tally.Disputes, Dispute{
			Kind: kind, What: d.What, Place: d.From, Text: d.Is, Form: "call or brx.idx",
			Ours: d.Ours, Ptxas: d.Ptxas.String(),
		})
	}
	r.report.NoOperands = slices.DeleteFunc(r.report.NoOperands, func(form string) bool {
		return strings.HasPrefix(form, "call") || strings.HasPrefix(form, "brx.idx")
	})
	return nil
}

// callModules returns modules with one call each: direct, indirect with a prototype or with a
// list of targets, with and without a result, and with each argument type.
func callModules() []Wild {
	types := []string{".b8", ".b16", ".b32", ".u32", ".s32", ".f32", ".b64", ".u64", ".s64", ".f64"}
	var out []Wild
	for _, uni := range []string{"", ".uni"} {
		for _, how := range []string{"direct", "prototype", "targets"} {
			for _, result := range []bool{false, true} {
				for n := range 4 {
					for _, t := range types {
						out = append(out, callModule(uni, how, result, t, n))
						if n == 0 {
							break // a call without arguments has no argument type
						}
					}
				}
			}
		}
	}
	return out
}

func callModule(uni, how string, result bool, t string, n int) Wild {
	var params, args []string
	for i := range n {
		params = append(params, fmt.Sprintf(".param %s p%d", t, i))
		args = append(args, fmt.Sprintf("a%d", i))
	}
	returns, gets := "", ""
	if result {
		returns, gets = "(.param .b32 r) ", "(got), "
	}
	given := ""
	if n > 0 {
		given = ", (" + strings.Join(args, ", ") + ")"
	}
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	line(".version %s", isa.Newest())
	line(".target sm_90")
	line(".address_size 64")
	line(".visible .func %sf(%s)\n{\nret;\n}", returns, strings.Join(params, ", "))
	line(".entry k()\n{\n.reg .b64 %%to;")
	for _, a := range args {
		line(".param %s %s;", t, a)
	}
	if result {
		line(".param .b32 got;")
	}
	target, last := "f", ""
	switch how {
	case "prototype":
		line("how: .callprototype %s_ (%s);", returns, strings.Join(params, ", "))
		target, last = "%to", ", how"
	case "targets":
		line("how: .calltargets f;")
		target, last = "%to", ", how"
	}
	if how != "direct" {
		line("mov.u64 %%to, f;")
	}
	line("call%s %s%s%s%s;", uni, gets, target, given, last)
	line("ret;\n}")
	return Wild{From: "call" + uni + " " + how, Text: b.String(), Line: 1}
}

// branchModules returns modules with one brx.idx each.
func branchModules() []Wild {
	var out []Wild
	for _, uni := range []string{"", ".uni"} {
		for _, t := range []string{".b32", ".u32", ".s32"} {
			for n := 1; n <= 4; n++ {
				var names []string
				for i := range n {
					names = append(names, fmt.Sprintf("L%d", i))
				}
				text := fmt.Sprintf(
					".version %s\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg %s %%i;\nts: .branchtargets %s;\nbrx.idx%s %%i, ts;\n%s:\nret;\n}\n",
					isa.Newest(), t, strings.Join(names, ", "), uni, strings.Join(names, ":\n"))
				out = append(out, Wild{From: "brx.idx" + uni, Text: text, Line: 1})
			}
		}
	}
	return out
}
