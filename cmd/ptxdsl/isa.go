// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/isa"
)

func isaCommand() *command {
	return &command{
		name:  "isa",
		args:  "[flags] [pattern ...]",
		short: "show the instruction set",
		long: `
Isa prints the forms of an instruction with the values of each modifier, the
operands it takes, and the PTX versions and targets that support it. This is
the table that verify checks against. It is tested against the real assembler.

A pattern is the name of an instruction (add), an opcode with modifiers
(ld.global.v4), a name with wildcards (*mbarrier*), a modifier
(.multicast::cluster), a special register (%tid), a directive (.maxntid), or
part of any name. Without a pattern, it lists all instructions.

Optional parts are in braces. A bracket after a value names the PTX version and
targets that support it: sm_90+ is sm_90 and all later targets, sm_100f is the
sm_100 family, and sm_100a is only that target.

Exit codes: 0 found, 2 nothing matches.`,
		examples: `
    ptxdsl isa                              all instructions, one per line
    ptxdsl isa mbarrier.try_wait            its forms
    ptxdsl isa -target=sm_90a -ptx=8.0 mma  only those that sm_90a has in PTX 8.0
    ptxdsl isa -json cvt                    one JSON object per form and line
    ptxdsl isa -stats                       counts by instruction family`,
		run: runISA,
	}
}

// isaFlags holds the flags of isa.
type isaFlags struct {
	json, stats bool
	filter      filter
}

func runISA(c *call) int {
	var f isaFlags
	var target, version string
	c.flags.BoolVar(&f.json, "json", false, "print one JSON object per form and line")
	c.flags.StringVar(&version, "ptx", "", "show only what PTX `version` supports, such as 8.5")
	c.flags.BoolVar(&f.stats, "stats", false, "count opcodes and forms by instruction family")
	c.flags.StringVar(&target, "target", "", "show only what `target` supports, such as sm_90a")
	if code, ok := c.parse(); !ok {
		return code
	}
	f.filter.version = isa.Newest()
	if version != "" {
		v, err := isa.ParseVersion(version)
		if err == nil && !v.Known() {
			err = fmt.Errorf("unknown PTX version, expected %s to %s", isa.Versions[0].Version,
				isa.Newest())
		}
		if err != nil {
			return c.reportMisuse("-ptx=%s: %v", version, err)
		}
		f.filter.version = v
	}
	f.filter.wanted = version != "" || target != ""
	if target != "" {
		t, ok := isa.ParseTarget(target)
		if !ok {
			var known []string
			for _, info := range isa.Targets {
				known = append(known, info.Name)
			}
			return c.reportMisuse("-target=%s: unknown target%s", target,
				didYouMean("", diag.Nearest(target, known)))
		}
		f.filter.target = &t
	}
	found := f.find(c)
	switch {
	case found == nil:
		return exitTrouble
	case f.stats:
		printStats(c.stdout, found.instructions, c.flags.NArg() == 0)
	case f.json:
		printISAJSON(c.stdout, found.instructions)
	default:
		found.print(c.stdout, c.flags.NArg() == 0)
	}
	return exitClean
}

// A selection is the part of the instruction set that the patterns select.
type selection struct {
	instructions []isa.Instruction
	specials     []isa.Special
	directives   []isa.DirectiveInfo
}

// instructions returns a copy of the instruction table, which filters may modify.
func instructions() []isa.Instruction {
	var all []isa.Instruction
	for ins := range isa.Standard().All() {
		all = append(all, *ins)
	}
	return all
}

// find returns the selection of all patterns. If a pattern matches nothing, it prints a message
// and returns nil.
func (f *isaFlags) find(c *call) *selection {
	all := instructions()
	out := &selection{}
	patterns := c.flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"*"}
	}
	for _, p := range patterns {
		if !out.add(strings.TrimSuffix(p, ";"), all) {
			fmt.Fprintf(c.stderr, "ptxdsl isa: nothing matches %q%s\n", p,
				didYouMean("", nearestWord(p, all)))
			return nil
		}
	}
	if f.filter.wanted {
		out.instructions = f.filter.apply(out.instructions)
		f.filter.words(out)
	}
	if len(out.instructions)+len(out.specials)+len(out.directives) == 0 {
		where := "PTX " + f.filter.version.String()
		if f.filter.target != nil {
			where += " on " + f.filter.target.String()
		}
		fmt.Fprintf(c.stderr, "ptxdsl isa: %s has no form for %s\n", where,
			strings.Join(patterns, " "))
		return nil
	}
	return out
}

// add adds the matches of a pattern, by the first interpretation of the pattern that matches
// anything. It reports whether there is a match.
func (s *selection) add(pattern string, all []isa.Instruction) bool {
	switch {
	case strings.HasPrefix(pattern, "%"):
		return s.addSpecials(pattern)
	case strings.HasPrefix(pattern, "."):
		for _, d := range isa.Directives {
			if d.Name == pattern {
				s.directives = append(s.directives, d)
			}
		}
		with := withModifiers(all, []string{pattern})
		s.instructions = append(s.instructions, with...)
		return len(with)+len(s.directives) > 0
	case strings.ContainsAny(pattern, "*?["):
		return s.addWhere(all, func(name string) bool {
			ok, err := path.Match(pattern, name)
			return ok && err == nil
		})
	}
	return s.addWhere(all, func(name string) bool {
		return name == pattern || strings.HasPrefix(name, pattern+".")
	}) ||
		s.addOpcode(all, pattern) ||
		s.addWhere(all, func(name string) bool { return strings.Contains(name, pattern) })
}

func (s *selection) addWhere(all []isa.Instruction, ok func(name string) bool) bool {
	found := false
	for _, ins := range all {
		if ok(ins.Name) {
			s.instructions = append(s.instructions, ins)
			found = true
		}
	}
	return found
}

// addOpcode interprets the pattern as an instruction name with modifiers, and adds the forms that
// have these modifiers.
func (s *selection) addOpcode(all []isa.Instruction, pattern string) bool {
	found := false
	for name := pattern; !found && name != ""; {
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			break
		}
		name = name[:i]
		var named []isa.Instruction
		for _, ins := range all {
			if ins.Name == name {
				named = append(named, ins)
			}
		}
		var mods []string
		for word := range strings.SplitSeq(pattern[i+1:], ".") {
			mods = append(mods, "."+word)
		}
		with := withModifiers(named, mods)
		s.instructions = append(s.instructions, with...)
		found = len(with) > 0
	}
	return found
}

func (s *selection) addSpecials(pattern string) bool {
	found := false
	for _, sp := range isa.Specials {
		ok, err := path.Match(pattern, sp.Name)
		base, _, _ := strings.Cut(pattern, ".")
		if ok && err == nil || sp.Name == base {
			s.specials = append(s.specials, sp)
			found = true
		}
	}
	for _, sp := range isa.Specials {
		if !found && strings.Contains(sp.Name, pattern) {
			s.specials = append(s.specials, sp)
		}
	}
	return len(s.specials) > 0
}

// withModifiers returns the instructions with only those forms that can have all of the
// modifiers.
func withModifiers(list []isa.Instruction, mods []string) []isa.Instruction {
	var out []isa.Instruction
	for _, ins := range list {
		ins.Forms = slices.DeleteFunc(slices.Clone(ins.Forms), func(form isa.Form) bool {
			for _, m := range mods {
				if !slices.ContainsFunc(form.Slots, func(s isa.Slot) bool {
					return slices.ContainsFunc(s.Values, func(v isa.Value) bool {
						return word(v.Mod) == m
					})
				}) {
					return true
				}
			}
			return false
		})
		if len(ins.Forms) > 0 {
			out = append(out, ins)
		}
	}
	return out
}

// nearestWord returns the name that is most similar to a pattern, or "".
func nearestWord(pattern string, all []isa.Instruction) string {
	var words []string
	for _, ins := range all {
		words = append(words, ins.Name)
	}
	for _, s := range isa.Specials {
		words = append(words, s.Name)
	}
	for _, d := range isa.Directives {
		words = append(words, d.Name)
	}
	return diag.Nearest(pattern, words)
}
