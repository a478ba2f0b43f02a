// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package roundtrip checks on whole files that two transformations do not change a program:
// formatting, and lifting to the IR followed by lowering. All texts are assembled, and the
// machine code is compared byte by byte. The package also checks that the form checks agree with
// ptxas.
package roundtrip

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/internal/ptxas/cubin"
)

// A Config selects the checks.
type Config struct {
	Tool   *ptxas.Tool
	Format func(name, text string) (string, diag.List)
	Check  func(name, text string) diag.List
	// Rewrite lifts a module to the IR and lowers it again; nil skips this check.
	Rewrite func(name, text string) (string, diag.List)
	// Quick skips the second assembly if both texts have the same tokens. For nearly all modules
	// ptxas generates the same code in each run.
	Quick bool
	// Progress is called after each file, in any order; it may be nil.
	Progress func(done, of int)
}

// A Source is the text of one module.
type Source struct {
	Name string
	Text string
}

// A Report is the result for one module.
type Report struct {
	Name      string
	Bytes     int
	Accepted  bool // whether ptxas accepts the module
	Same      bool // whether formatting preserved every token
	Compared  int  // size of the compared sections in bytes
	Rewritten bool // whether Rewrite was applied
	// Unsteady lists the comparisons without a result, because ptxas generates different code in
	// several runs with the same text. They count neither as equal nor as different.
	Unsteady []string
	Problems []string // empty if all checks pass
	Refusal  string   // why ptxas rejects the module, or ""
}

// Run checks all sources, in parallel, and returns the reports in order. The error is non-nil for
// failures that no module caused.
func Run(ctx context.Context, c Config, list []Source) ([]Report, error) {
	reports := make([]Report, len(list))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan int)
	var group sync.WaitGroup
	var mutex sync.Mutex
	done := 0
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		group.Go(func() {
			for i := range work {
				if ctx.Err() != nil {
					continue
				}
				var err error
				if reports[i], err = c.try(ctx, list[i]); err != nil {
					cancel(fmt.Errorf("%s: %w", list[i].Name, err))
				}
				if c.Progress != nil {
					mutex.Lock()
					done++
					c.Progress(done, len(list))
					mutex.Unlock()
				}
			}
		})
	}
	for i := range list {
		work <- i
	}
	close(work)
	group.Wait()
	return reports, context.Cause(ctx)
}

// problem adds a problem to the report.
func (r *Report) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// addFalseFindings adds the findings of verify in a module that ptxas accepts as problems.
func (r *Report) addFalseFindings(findings diag.List) {
	for i, d := range findings {
		if i == 5 {
			r.problem("and %d findings more", len(findings)-i)
			break
		}
		r.problem("ptxas accepts it, verify reports %v: %s %v: %s", d.Place, d.Rule, d.Severity,
			d.Message)
	}
}

// try checks one module.
func (c *Config) try(ctx context.Context, s Source) (Report, error) {
	r := Report{Name: s.Name, Bytes: len(s.Text)}
	problem := r.problem
	before := Lines(s.Text)
	image, verdict, o, err := c.assemble(ctx, before)
	if err != nil {
		return r, err
	}
	r.Accepted = verdict.OK()
	findings := c.Check(s.Name, s.Text)
	if !r.Accepted {
		// The line numbers of this verdict refer to generated text, so the original text is
		// parsed again.
		if real, err := c.Tool.Parse(ctx, s.Text, o); err != nil {
			return r, err
		} else if !real.OK() {
			verdict = real
		}
		r.Refusal = verdict.String()
		if findings.Errors() == 0 {
			problem("ptxas refuses it and verify does not: %s", shorten(r.Refusal))
		}
	} else {
		r.addFalseFindings(findings)
	}
	formatted, syntax := c.Format(s.Name, s.Text)
	if syntax.Errors() > 0 {
		if r.Accepted {
			problem("it does not parse: %v: %s", syntax[0].Place, syntax[0].Message)
		}
		return r, nil
	}
	if again, _ := c.Format(s.Name, formatted); again != formatted {
		problem("formatting twice is not formatting once: %s", firstDifference(formatted, again))
	}
	after := Lines(formatted)
	r.Same = before == after
	if !r.Accepted {
		if _, v, err := c.Tool.Assemble(ctx, after, o); err != nil {
			return r, err
		} else if v.OK() {
			problem("formatting makes a module that ptxas accepts of one that it refuses")
		}
		return r, nil
	}
	first, err := cubin.Read(image)
	if err != nil {
		return r, err
	}
	for _, s := range first.Sections {
		r.Compared += len(s.Text)
	}
	if !c.Quick || !r.Same {
		if err := c.compare(ctx, &r, "formatted", before, first, after, o); err != nil {
			return r, err
		}
	}
	if c.Rewrite == nil {
		return r, nil
	}
	r.Rewritten = true
	rewritten, faults := c.Rewrite(s.Name, s.Text)
	for i, d := range faults {
		if i == 5 {
			break
		}
		problem("it cannot be rewritten: %v: %s", d.Place, d.Message)
	}
	if len(faults) > 0 {
		return r, nil
	}
	return r, c.compare(ctx, &r, "rewritten", before, first, Lines(rewritten), o)
}

// compare assembles another text of a module and compares the machine code with that of the
// original text.
func (c *Config) compare(ctx context.Context, r *Report, which, before string, first *cubin.Code,
	text string, o ptxas.Options) error {
	lines, v, err := c.differences(ctx, first, text, o)
	switch {
	case err != nil:
		return err
	case !v.OK():
		r.Problems = append(r.Problems, "ptxas refuses the "+which+" text: "+shorten(v.String()))
		return nil
	case len(lines) == 0:
		return nil
	}
	mine, theirs, err := c.digests(ctx, before, text, o)
	if err != nil {
		return err
	}
	mine[first.Digest()] = true
	if len(mine) > 1 || len(theirs) > 1 || maps.Equal(mine, theirs) {
		shared := 0
		for d := range mine {
			if theirs[d] {
				shared++
			}
		}
		r.Unsteady = append(r.Unsteady,
			fmt.Sprintf(
				"ptxas is not deterministic: in %d assemblies and more the text has %d codes, the %s text %d, and %d are of both",
				repetitions, len(mine), which, len(theirs), shared))
		return nil
	}
	for _, line := range lines {
		r.Problems = append(r.Problems, "the "+which+" text has other code: "+line)
	}
	return nil
}

// repetitions is the number of times that each of two texts is assembled if their code differs.
// For some modules with tcgen05, ptxas generates different code in each run.
const repetitions = 6

// digests returns the sets of hashes of the machine code that ptxas generates for each of two
// texts.
func (c *Config) digests(ctx context.Context, a, b string,
	o ptxas.Options) (of, other map[string]bool, err error) {
	list := [2]map[string]bool{}
	for i, text := range []string{a, b} {
		list[i] = make(map[string]bool)
		for range repetitions {
			image, v, err := c.Tool.Assemble(ctx, text, o)
			if err != nil {
				return nil, nil, err
			}
			if !v.OK() {
				return nil, nil, fmt.Errorf("ptxas refuses a text that it took before: %s", v)
			}
			code, err := cubin.Read(image)
			if err != nil {
				return nil, nil, err
			}
			list[i][code.Digest()] = true
		}
	}
	return list[0], list[1], nil
}

// differences assembles a text and returns the differences between its machine code and first.
func (c *Config) differences(ctx context.Context, first *cubin.Code, text string,
	o ptxas.Options) ([]string, ptxas.Verdict, error) {
	image, v, err := c.Tool.Assemble(ctx, text, o)
	if err != nil || !v.OK() {
		return nil, v, err
	}
	code, err := cubin.Read(image)
	if err != nil {
		return nil, v, err
	}
	return cubin.Diff(first, code), v, nil
}

// assemble assembles a module as a whole program. If the module calls an undefined function or
// takes its address, it is assembled with -c.
func (c *Config) assemble(ctx context.Context,
	text string) ([]byte, ptxas.Verdict, ptxas.Options, error) {
	var o ptxas.Options
	image, v, err := c.Tool.Assemble(ctx, text, o)
	if err == nil && !v.OK() && isUnresolved(v) {
		o.Relocatable = true
		image, v, err = c.Tool.Assemble(ctx, text, o)
	}
	return image, v, o, err
}

func isUnresolved(v ptxas.Verdict) bool {
	for _, m := range v.Messages {
		if strings.Contains(m.Text, "Unresolved extern") ||
			strings.Contains(m.Text, "Cannot take address of function") {
			return true
		}
	}
	return false
}

func shorten(s string) string {
	const limit = 300
	if len(s) > limit {
		return s[:limit] + " ..."
	}
	return s
}

// firstDifference describes the first line that differs between two texts.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d is %q, then %q", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, then %d", len(x), len(y))
}
