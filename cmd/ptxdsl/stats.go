// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
	"github.com/ptxdsl/ptxdsl/ptx"
)

func statsCommand() *command {
	return &command{
		name:  "stats",
		args:  "[flags] [path ...]",
		short: "predict the registers of kernels, and what they cost",
		long: `
Stats predicts, for every kernel, the registers that each thread will need: the
number that "ptxas -v" reports for the target that the file names. It says where
in the text most registers are in use and what is in them (and of which line of
the program that is, if .loc says so), how many warps run at once on a
multiprocessor of that target, whether the kernel may spill, and for setmaxnreg
what the launch gives and the budgets take. A path is a file, or a
folder, which stands for all .ptx files in and under it; without a path, standard
input is read.

The count is an estimate; how good, docs/explanation/register-prediction.md says. The words in use are
counted in the order of the text, without copies and constants; the assembler
orders instructions anew, so that the count can be above or below them.

Exit codes: 0 done, 1 a module has errors, 2 a file could not be read, or there
was none.`,
		examples: `
    ptxdsl stats a.ptx              a table
    ptxdsl stats -v a.ptx           and for each kernel what is in use where most is
    ptxdsl stats -json . | jq .     one object a kernel, one kernel a line`,
		run: runStats,
	}
}

// statsFlags are the flags of stats.
type statsFlags struct{ json, more bool }

// A counted is what was found out about one file.
type counted struct {
	name, text string
	module     *ir.Module
	kernels    []pressure.Kernel
	findings   diag.List // why there is nothing
	err        error
}

func runStats(c *call) int {
	var f statsFlags
	c.flags.BoolVar(&f.json, "json", false, "print one object a kernel, one kernel a line")
	c.flags.BoolVar(&f.more, "v", false, "say of each kernel where most registers are in use, and by what")
	if code, ok := c.parse(); !ok {
		return code
	}
	inputs := func(yield func(input) bool) { walk(c.flags.Args(), yield) }
	if c.flags.NArg() == 0 {
		inputs = func(yield func(input) bool) { yield(input{name: standardInput}) }
	}
	code, files := exitClean, 0
	each(c, inputs, "counting", func(in *input) counted { return countOf(c, in) }, func(r counted) {
		files++
		switch {
		case r.err != nil:
			code = c.trouble(r.err)
		case len(r.findings) > 0:
			c.findings(c.stderr, r.name, r.text, r.findings, false)
			code = max(code, exitFindings)
		case f.json:
			for i := range r.kernels {
				printJSON(c, r.object(&r.kernels[i]))
			}
		default:
			r.print(c.stdout, f.more)
		}
	})
	if files == 0 {
		return c.trouble(errNothing)
	}
	return code
}

// countOf reads one file and predicts the registers of its kernels.
func countOf(c *call, in *input) counted {
	r := counted{name: in.name}
	if r.text, r.err = in.read(c.stdin); r.err != nil {
		return r
	}
	file, l := ptx.Parse(r.name, r.text)
	l = append(l, form.Check(file, form.Options{})...).Sort()
	errs := func(d diag.Diagnostic) bool { return d.Severity != diag.Error }
	if l = slices.DeleteFunc(l, errs); len(l) > 0 {
		r.findings = l
		return r
	}
	r.module, l = lift.Module(file)
	if l = slices.DeleteFunc(l, errs); len(l) > 0 {
		r.findings = l
		return r
	}
	r.kernels = pressure.Of(r.module)
	return r
}

// line is the line of the text that an instruction stands on, 0 where there is none.
func (r *counted) line(in *ir.Instr) int {
	if in == nil {
		return 0
	}
	at, _ := r.module.At(in.Pos)
	return at.Line
}

// statsObject is a kernel as -json prints it.
type statsObject struct {
	File      string        `json:"file"`
	Kernel    string        `json:"kernel"`
	Target    string        `json:"target"`
	Registers int           `json:"registers"`
	Wanted    int           `json:"wanted"`
	Limit     int           `json:"limit,omitempty"`
	Spills    bool          `json:"spills"`
	Threads   int           `json:"threads,omitempty"`
	Shared    int64         `json:"shared"`
	Hottest   *statsPoint   `json:"hottest,omitempty"`
	Occupancy statsWarps    `json:"occupancy"`
	Budgets   *statsBudgets `json:"budgets,omitempty"`
}

type statsPoint struct {
	Line        int         `json:"line"`
	Origin      string      `json:"origin,omitempty"` // the line of the program, from .loc
	Instruction string      `json:"instruction"`
	Words       int         `json:"words"`
	Live        []statsLive `json:"live"`
}

type statsLive struct {
	Name  string `json:"name"`
	Words int    `json:"words"`
}

type statsWarps struct {
	Warps  int    `json:"warps"`
	Of     int    `json:"of"`
	Blocks int    `json:"blocks,omitempty"`
	Bound  string `json:"bound"`
}

type statsBudgets struct {
	Pool   int           `json:"pool"`
	Groups int           `json:"warpgroups"`
	Roles  []statsBudget `json:"roles"`
	Shares [][]int       `json:"shares"`
}

type statsBudget struct {
	Line  int  `json:"line"`
	Count int  `json:"count"`
	Takes bool `json:"takes"`
	Words int  `json:"words"`
	Valid bool `json:"valid"`
}

func (r *counted) object(k *pressure.Kernel) statsObject {
	o := statsObject{
		File: r.name, Kernel: k.Func.Name, Target: k.Target.String(), Registers: k.Registers, Wanted: k.Wanted, Limit: k.Limit, Spills: k.Spills,
		Threads: k.Threads, Shared: k.Shared, Occupancy: statsWarps{k.Occupancy.Warps, k.Occupancy.Of, k.Occupancy.Blocks, k.Occupancy.Bound},
	}
	if in := k.Peak.Instr; in != nil {
		o.Hottest = &statsPoint{Line: r.line(in), Origin: r.origin(in), Instruction: in.Op, Words: k.Peak.Words, Live: []statsLive{}}
		for _, l := range k.Peak.Live {
			o.Hottest.Live = append(o.Hottest.Live, statsLive{l.Reg.Name, l.Words})
		}
	}
	if b := k.Budgets; len(b.Roles) > 0 {
		o.Budgets = &statsBudgets{Pool: b.Pool(k.Registers), Groups: b.Groups, Shares: [][]int{}}
		for _, role := range b.Roles {
			o.Budgets.Roles = append(o.Budgets.Roles, statsBudget{r.line(role.Instr), role.Count, role.Takes, role.Words, role.Valid})
		}
		for _, s := range b.Shares(k.Registers) {
			o.Budgets.Shares = append(o.Budgets.Shares, s.Groups)
		}
	}
	return o
}

func printJSON(c *call, o any) {
	line, err := json.Marshal(o)
	if err != nil {
		panic("bug: " + err.Error())
	}
	fmt.Fprintf(c.stdout, "%s\n", line)
}
