// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/pressure"
)

func statsCommand() *command {
	return &command{
		name:  "stats",
		args:  "[flags] [path ...]",
		short: "count or estimate the registers of kernels, and what they cost",
		long: `
Stats reports how many registers each thread of a kernel needs, for the target
that the file names. Where ptxas is installed it counts them ("exact"): stats looks
for it in $PTXAS, $PATH and $CUDA_HOME/bin. Without ptxas, or with -exact=false, the
number is an estimate, printed with the range that holds for nine of ten kernels:
~72 (64-88). docs/explanation/register-prediction.md says how the estimate is
made and how far off it is.

Stats also reports the line where most registers are live and what is in them (with
the source line, if .loc names one), how many warps are resident on a multiprocessor
of the target, whether the kernel spills, and for setmaxnreg the registers at launch
and the budget of each role. A path is a file, or a directory, which means all
regular .ptx files in and below it; without a path, and for -, standard input is
read. At most 2 GiB of a file are read, and 256 MiB of standard input, a pipe or a
device.

Live registers are counted in the order of the text, without copies and constants.
The assembler reorders instructions, so its count can be higher or lower.

Exit codes: 0 success, 1 if a module has errors, 2 if a file could not be read
or none was found.`,
		examples: `
    ptxdsl stats a.ptx              a table
    ptxdsl stats -v a.ptx           also the live registers at the peak of each kernel
    ptxdsl stats -json . | jq .     one JSON object per kernel and line`,
		run: runStats,
	}
}

// statsFlags holds the flags of stats.
type statsFlags struct{ json, more, exact bool }

// A statsResult is the result of stats for one file.
type statsResult struct {
	name, text string
	module     *ir.Module
	kernels    []pressure.Kernel
	refused    string    // first message of ptxas, if it rejects the module
	findings   diag.List // errors, if there is no result
	err        error
}

func runStats(c *call) int {
	var f statsFlags
	c.flags.BoolVar(&f.json, "json", false, "print one JSON object per kernel and line")
	c.flags.BoolVar(&f.exact, "exact", true, "count with ptxas if it is installed; if given "+
		"explicitly, a missing ptxas is an error")
	c.flags.BoolVar(&f.more, "v", false, "show where the register pressure of each kernel peaks, "+
		"and what is live there")
	if code, ok := c.parse(); !ok {
		return code
	}
	tool, err := f.assembler(c)
	if err != nil {
		return c.reportTrouble(err)
	}
	inputs, code, ok := c.inputs("")
	if !ok {
		return code
	}
	each(c, inputs, "counting", func(in *input) statsResult { return countOf(c, in, tool) },
		func(r statsResult) {
			switch {
			case isHarmless(r.err):
				fmt.Fprintln(c.stderr, r.err)
			case r.err != nil:
				code = c.reportTrouble(r.err)
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
	return code
}

// exactTimeout is the maximum time of a run of ptxas, which takes minutes for some large modules.
// After that, the registers are estimated.
const exactTimeout = 30 * time.Second

// assembler returns the ptxas with which registers are counted, or nil if they are to be
// estimated.
func (f *statsFlags) assembler(c *call) (*ptxas.Tool, error) {
	if !f.exact {
		return nil, nil
	}
	tool, err := ptxas.Find()
	if err == nil {
		tool.Timeout = exactTimeout
		return tool, nil
	}
	asked := os.Getenv("PTXAS") != ""
	c.flags.Visit(func(g *flag.Flag) { asked = asked || g.Name == "exact" })
	if asked {
		return nil, err
	}
	return nil, nil
}

// countOf reads one file and counts the registers of its kernels with tool, or estimates them if
// tool is nil.
func countOf(c *call, in *input, tool *ptxas.Tool) statsResult {
	r := statsResult{name: in.name}
	if r.text, r.err = in.read(c.stdin); r.err != nil {
		return r
	}
	if r.module, r.findings = load(r.name, r.text); r.module == nil {
		return r
	}
	r.kernels = ptxdsl.Stats(r.module)
	if tool != nil {
		r.err = r.count(tool)
	}
	return r
}

// count replaces the estimates by the counts of ptxas. If ptxas rejects the module, the estimates
// are kept, and refused is set.
func (r *statsResult) count(tool *ptxas.Tool) error {
	usage, v, err := tool.Usage(context.Background(), r.text, ptxas.Options{})
	// the module may call functions of other modules
	if err == nil && v.Status == ptxas.Rejected {
		usage, v, err = tool.Usage(context.Background(), r.text, ptxas.Options{Relocatable: true})
	}
	if err != nil {
		return fmt.Errorf("%s: ptxas: %w", r.name, err)
	}
	if v.Status != ptxas.Accepted {
		r.refused = "unknown reason"
		for _, m := range v.Messages {
			if m.Level >= ptxas.Error {
				r.refused = m.String()
				break
			}
		}
		return nil
	}
	for i := range r.kernels {
		k := &r.kernels[i]
		if u, ok := usage[k.Func.Name]; ok {
			k.Counted(u.Registers, u.SpillStores+u.SpillLoads > 0)
		}
	}
	return nil
}

// line returns the line of an instruction in the text, or 0.
func (r *statsResult) line(in *ir.Instr) int {
	if in == nil {
		return 0
	}
	at, _ := r.module.At(in.Pos)
	return at.Line
}

// A statsObject is the JSON object that -json prints for a kernel.
type statsObject struct {
	File      string `json:"file"`
	Kernel    string `json:"kernel"`
	Target    string `json:"target"`
	Registers int    `json:"registers"`
	Exact     bool   `json:"exact"` // whether Registers is the count of ptxas
	// range that contains the true count for 90 % of kernels, if Registers is an estimate
	Low       int           `json:"low"`
	High      int           `json:"high"`
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
	Origin      string      `json:"origin,omitempty"` // source line, from .loc
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

func (r *statsResult) object(k *pressure.Kernel) statsObject {
	o := statsObject{
		File: r.name, Kernel: k.Func.Name, Target: k.Target.String(), Registers: k.Registers,
		Exact: k.Exact, Low: k.Low, High: k.High,
		Wanted: k.Wanted, Limit: k.Limit, Spills: k.Spills,
		Threads: k.Threads, Shared: k.Shared,
		Occupancy: statsWarps{k.Occupancy.Warps, k.Occupancy.Of, k.Occupancy.Blocks,
			k.Occupancy.Bound},
	}
	if in := k.Peak.Instr; in != nil {
		o.Hottest = &statsPoint{Line: r.line(in), Origin: r.origin(in), Instruction: in.Op,
			Words: k.Peak.Words, Live: []statsLive{}}
		for _, l := range k.Peak.Live {
			o.Hottest.Live = append(o.Hottest.Live, statsLive{l.Reg.Name, l.Words})
		}
	}
	if b := k.Budgets; len(b.Roles) > 0 {
		o.Budgets = &statsBudgets{Pool: b.Pool(k.Registers), Groups: b.Groups, Shares: [][]int{}}
		for _, role := range b.Roles {
			o.Budgets.Roles = append(o.Budgets.Roles,
				statsBudget{r.line(role.Instr), role.Count, role.Takes, role.Words, role.Valid})
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
