// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package verify checks synchronization in kernels without running them: barriers, asynchronous
// copies, fences, tensor cores and register pools. This package defines analyzers, findings and
// verdicts. The analyzers are in the directories below it; package suite lists them.
//
// A finding that is an error shows a path through the kernel on which the rule is broken. If this
// cannot be decided, the finding is a review. If something was not checked, the verdict on the
// kernel is incomplete, never clean.
package verify

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/passes/analysis/memory"
	"github.com/ptxdsl/ptxdsl/passes/analysis/trace"
	"github.com/ptxdsl/ptxdsl/passes/analysis/uniform"
	"github.com/ptxdsl/ptxdsl/passes/analysis/value"
)

// An Analyzer looks for one kind of hazard. It is a static value.
type Analyzer struct {
	Name string // also the Layer of its rules
	Doc  string // what the analyzer reports, and what it cannot detect
	// Covers names the class of hazards for the list of checked classes in the verdict.
	Covers string
	Rules  diag.Rules
	// Pages contains the page of each rule, for example rules/A5.md.
	Pages fs.FS
	Tells diag.Rules // rules of other analyzers that it may also report
	// Subsumes lists the findings, of this or other analyzers, that suppress checks of this
	// analyzer.
	Subsumes []*Subsumption
	// Replaces lists findings that the findings of this analyzer replace.
	Replaces []Replacement
	// Requires lists kinds of instructions. A kernel that has none of them is skipped. If the
	// list is empty, no kernel is skipped.
	Requires []trace.Kind
	// Flow is set if the analyzer uses only the control flow and also runs without traces.
	Flow bool
	Run  func(*Pass)
}

// A Verdict is the result of checking a kernel.
type Verdict uint8

// Verdicts, from best to worst.
const (
	Clean      Verdict = iota // every applicable rule was checked and none is violated
	Incomplete                // part of the kernel was not analyzed, or a hazard has no analyzer
	Review                    // correct only under a condition that could not be decided
	Error                     // a rule is certainly violated
)

// String returns the name of v in lower case.
func (v Verdict) String() string {
	return [...]string{"clean", "incomplete", "review", "error"}[v]
}

// A Result is the verdict on one kernel.
type Result struct {
	Kernel  string
	Verdict Verdict
	Missed  []string // reasons why the verdict is incomplete: what was not analyzed
	// Unchecked lists hazards of the kernel that no analyzer checks. They also make the verdict
	// incomplete.
	Unchecked []string
	// Checked lists the classes of hazards that were checked, as in Analyzer.Covers. Classes
	// without instructions in the kernel are omitted.
	Checked    []string
	Iterations int // number of loop iterations analyzed, or 0 if all were
	// Threads is the assumed block size, which is the largest that .maxntid allows, or 0 if the
	// kernel declares its block size. Guessed is set if the size was inferred from arrays in
	// shared memory.
	Threads int
	Guessed bool
	// Cases is the number of parameters for which small constants were substituted.
	Cases int
	// Tried lists the substituted values of each of these parameters, such as "n = 0 to 7, 9".
	Tried []string
}

// A Report is the result of checking a module. Suppressed is the number of findings that comments
// in the module suppress.
type Report struct {
	Findings   diag.List
	Kernels    []Result
	Suppressed int
}

// Options specifies what Run checks.
type Options struct {
	// Rules holds the ids of the rules to report. If it is nil, all rules are reported.
	Rules map[string]bool
	// Limits bounds the work on one kernel. The zero value stands for trace.Default.
	Limits trace.Limits
	// Effort multiplies the work limits of a kernel and of the whole module; 0 means 1.
	Effort int
	// Block is the block size of kernels that do not declare one, and Grid is the number of
	// blocks along each axis. Zero means unknown.
	Block, Grid [3]int
}

// MostEffort is the largest value of Options.Effort.
const MostEffort = 1000

// A Pass is the state of one analyzer while it checks one kernel.
type Pass struct {
	*trace.Kernel
	Analyzer    *Analyzer
	kernelState *kernelState
}

// Effort returns the factor by which an analyzer may exceed its default work limit.
func (p *Pass) Effort() int { return p.kernelState.effort }

// A kernelState holds the results of all analyzers for one kernel.
type kernelState struct {
	module        *ir.Module
	effort        int
	list          []*Finding
	replacements  []Replacement
	missed        []string
	unchecked     []string
	checked       []string
	tried         []string
	iterations    int
	threads       int
	guessed       bool
	sized         bool // an analyzer used the block size; see Pass.BlockSize
	cases         int
	spent         int                      // number of steps used
	sizes         map[*ir.Instr]int64      // see Pass.Access
	gapSizes      map[*ir.Instr]int64      // see Pass.GapSize
	extents       map[*ir.Instr]int64      // see Pass.Extent
	places        byValue[place]           // see Pass.At
	objects       byValue[mbarrierAddress] // see Pass.Objects
	foreign       memory.ForeignCache      // see Pass.OwnedByOthers
	mbarrierRoots *mbarrierRoots           // see Pass.Uncertain
	zeros         map[*ir.Reg]bool         // see Pass.TensorLanes
	levels        *uniform.Levels          // see Pass.Uniform
	// descriptors caches the addresses in matrix descriptors.
	descriptors byValue[value.Value]
}

// A place is an address that is split into its parts. known is false if the address cannot be
// split.
type place struct {
	memory.Place
	known  bool
	shared bool // the address is certainly in shared memory of this block
}

// A byValue caches one result per value of a kernel. The index is value.Value.ID.
type byValue[T any] []*T

// get returns the result for v, or nil.
func (l byValue[T]) get(v *value.Value) *T {
	if v.ID < len(l) {
		return l[v.ID]
	}
	return nil
}

// put stores the result for v.
func (l *byValue[T]) put(v *value.Value, x *T) {
	if n := v.ID + 1 - len(*l); n > 0 {
		*l = append(*l, make([]*T, n)...)
	}
	(*l)[v.ID] = x
}

// Uniform returns the uniformity of the registers of the kernel. The first call computes it.
func (p *Pass) Uniform() *uniform.Levels {
	k := p.kernelState
	if k.levels == nil {
		k.levels = uniform.Of(p.Flow)
	}
	return k.levels
}

// Reports returns how many findings the kernel has so far. It is the argument for a later call of
// ErrorsSince.
func (p *Pass) Reports() int { return len(p.kernelState.list) }

// ErrorsSince returns the errors among the findings after the first n.
func (p *Pass) ErrorsSince(n int) []*Finding {
	var list []*Finding
	for _, f := range p.kernelState.list[n:] {
		if f.Severity == diag.Error {
			list = append(list, f)
		}
	}
	return list
}

// Missed records that some part of the kernel was not checked, and why. The verdict is then
// incomplete.
func (p *Pass) Missed(format string, args ...any) {
	if why := fmt.Sprintf(format, args...); !slices.Contains(p.kernelState.missed, why) {
		p.kernelState.missed = append(p.kernelState.missed, why)
	}
}

// Unchecked records a hazard of the kernel that no analyzer checks. The verdict is then
// incomplete.
func (p *Pass) Unchecked(what string) {
	if !slices.Contains(p.kernelState.unchecked, what) {
		p.kernelState.unchecked = append(p.kernelState.unchecked, what)
	}
}

// Threads returns a number of threads as a phrase for messages.
func Threads(n int) string {
	if n == 1 {
		return "one thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// Register returns the name of a register for messages. Registers of the builder have no name
// until the PTX text is written.
func Register(r *ir.Reg) string {
	if r.Name == "" {
		return "a " + r.Type.String() + " register"
	}
	return r.Name
}

// Run checks every kernel of a module with the analyzers in list.
func Run(m *ir.Module, list []*Analyzer, opt Options) *Report {
	if opt.Limits == (trace.Limits{}) {
		opt.Limits = trace.Default()
	}
	opt.Limits.Grid = opt.Grid
	opt.Effort = min(max(opt.Effort, 1), MostEffort)
	opt.Limits.Steps *= opt.Effort
	opt.Limits.Traces *= opt.Effort
	list = sortAnalyzers(
		slices.DeleteFunc(slices.Clone(list), func(a *Analyzer) bool {
			return !isSelected(a, opt.Rules)
		}))
	r := &Report{}
	notes := readSuppressions(m)
	var kernels []*ir.Func
	for _, f := range m.Funcs() {
		opt.declareBlock(f)
		if f.Kernel && (len(list) > 0 || opt.Rules == nil || opt.Rules[ruleIncomplete.ID]) {
			kernels = append(kernels, f)
		}
	}
	states := checkKernels(m, kernels, list, opt)
	for i, f := range kernels {
		r.add(m, f, states[i], opt, notes)
	}
	r.Findings = append(r.Findings, notes.findings(opt.Rules)...)
	r.Findings = r.Findings.Sort()
	return r
}

// declareBlock sets the block size of the options as .reqntid of a kernel that does not declare
// one.
func (o *Options) declareBlock(f *ir.Func) {
	if b := o.Block; f.Kernel && b[0] > 0 && f.Attr(".reqntid") == nil {
		f.Attrs = append(slices.Clip(f.Attrs), ir.Directive{Name: ".reqntid",
			Text: fmt.Sprintf("%d, %d, %d", b[0], max(1, b[1]), max(1, b[2]))})
	}
}

// BlockSize returns the block size that .reqntid or .maxntid declares, or zeros if neither does.
// The verdict then states that it assumes the size.
func (p *Pass) BlockSize() [3]int {
	if !p.Pool.Exact || p.Guessed {
		return [3]int{}
	}
	p.kernelState.sized = true
	return p.Pool.Shape
}

// Alone reports whether the grid is known to consist of one block.
func (p *Pass) Alone() bool { return p.Kernel.Grid == [3]int{1, 1, 1} }

// add adds the results of one kernel to the report.
func (r *Report) add(m *ir.Module, f *ir.Func, s *kernelState, opt Options,
	notes *suppressionList) {
	result := Result{Kernel: f.Name, Missed: s.missed, Unchecked: s.unchecked,
		Checked: s.checked, Iterations: s.iterations, Threads: s.threads, Guessed: s.guessed,
		Cases: s.cases, Tried: s.tried}
	if len(s.missed)+len(s.unchecked) > 0 {
		result.Verdict = Incomplete
	}
	for _, d := range s.selectFindings(opt.Rules) {
		if notes.suppresses(d) {
			r.Suppressed++
			continue
		}
		switch d.Severity {
		case diag.Error:
			result.Verdict = Error
		case diag.Review:
			result.Verdict = max(result.Verdict, Review)
		}
		r.Findings = append(r.Findings, d.Diagnostic)
	}
	if len(s.missed) > 0 && (opt.Rules == nil || opt.Rules[ruleIncomplete.ID]) {
		at, _ := m.At(f.Pos)
		r.Findings = append(r.Findings,
			diag.Diagnostic{Place: at, Rule: ruleIncomplete.ID, Severity: diag.Note,
				Message: fmt.Sprintf("%s is not fully checked: %s", f.Name,
					strings.Join(s.missed, "; "))})
	}
	r.Kernels = append(r.Kernels, result)
}

// isSelected reports whether some rule of a is selected.
func isSelected(a *Analyzer, rules map[string]bool) bool {
	return rules == nil ||
		slices.ContainsFunc(slices.Concat(a.Rules, a.Tells), func(r diag.Rule) bool {
			return rules[r.ID]
		})
}
