// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	dynamic "github.com/ptxdsl/ptxdsl/runtime/emu/check"
	"github.com/ptxdsl/ptxdsl/runtime/emu/schedule"
)

func checkCommand() *command {
	return &command{
		name:  "check",
		args:  "[flags] [path ...]",
		short: "run kernels in the emulator and find races and hangs",
		long: `
Check runs each kernel of a PTX file in the emulator, with a few small blocks, and
reports data races, missing proxy fences, accesses to memory of asynchronous
operations in flight, hangs and invalid memory accesses. Two accesses race if the
PTX memory model orders neither before the other, whatever their order was in the
run. Each finding names both accesses, their threads, and the synchronization that
would order them.

Without -launch, check derives a launch: the block size from directives or from
the size of arrays in shared memory, two blocks or two clusters, arrays of zeros
that grow until accesses are in bounds, and small values for integers. It prints
the launches that it tried, and the lines with memory accesses that no launch
reached. With -set, an integer parameter gets a value of yours. A file given with
-launch contains flags of ptxdsl run: -grid, -block, -cluster, -shared and -arg.

After the schedules, check searches other orders of barriers, mbarriers and
asynchronous completions, at most -search states, for hangs, waits that complete
on another phase and surplus arrivals. The emulator then runs an order that fails.
If threads synchronize through memory, check delays warps at these accesses.

The last line of a kernel has the verdict: error, review, incomplete or clean.
Clean holds only for the launches that were run, and within the bounds of the
search that it names.

A comment // ptxdsl:ignore RULE REASON before or after an instruction suppresses
findings of one rule there.

Exit codes: 0 no errors, 1 errors found (with -strict also reviews), 2 if a file
could not be read or run.`,
		examples: `
    ptxdsl check a.ptx                  derive a launch
    ptxdsl check -launch a.launch a.ptx give one
    ptxdsl check -set steps=6 a.ptx     give a parameter a value
    ptxdsl check -seeds 20 a.ptx        run 20 schedules of each launch
    ptxdsl check -replay 7 a.ptx        run schedule 7 only
    ptxdsl check -timeline t.json a.ptx write the order that a search found
    ptxdsl explain E3                   the page of a rule`,
		run: runCheck,
	}
}

// checkFlags holds the flags of check.
type checkFlags struct {
	kernel, launch, format, rules string
	set                           integers
	json, strict, quiet           bool
	seeds                         int
	replay, timeline              string
	search                        int
	selected                      map[string]bool
}

func runCheck(c *call) int {
	var f checkFlags
	c.flags.StringVar(&f.format, "format", "text", "`kind` of report: text, json, sarif or github")
	c.flags.BoolVar(&f.json, "json", false,
		"same as -format=json: one JSON object per finding and line")
	c.flags.StringVar(&f.kernel, "kernel", "", "check only the kernel of this `name`")
	c.flags.StringVar(&f.launch, "launch", "",
		"read the launch from a `file` with flags of ptxdsl run")
	c.flags.Var(&f.set, "set",
		"give an integer parameter a value, `name=value`; may be repeated")
	c.flags.BoolVar(&f.quiet, "q", false, "print no report, only set the exit code")
	c.flags.StringVar(&f.replay, "replay", "",
		"run only this `order`: a seed, or what a search printed")
	c.flags.StringVar(&f.rules, "rules", "",
		"report only these rules: a comma-separated `list` of ids")
	c.flags.IntVar(&f.seeds, "seeds", 3, "run `n` schedules of each launch")
	c.flags.IntVar(&f.search, "search", 50_000,
		"visit `n` states in the search of orders; 0 for no search")
	c.flags.BoolVar(&f.strict, "strict", false, "exit with 1 if there are reviews")
	c.flags.StringVar(&f.timeline, "timeline", "",
		"write the order that a search found to a `file`: .json for Perfetto, else text")
	if code, ok := c.parse(); !ok {
		return code
	}
	if f.json {
		f.format = "json"
	}
	if kinds := []string{"text", "json", "sarif", "github"}; !slices.Contains(kinds, f.format) {
		return c.reportMisuse("-format=%s: unknown format%s (text, json, sarif or github)",
			f.format,
			didYouMean("", diag.Nearest(f.format, kinds)))
	}
	if f.seeds < 1 {
		return c.reportMisuse("-seeds=%d: expected 1 or more", f.seeds)
	}
	var err error
	if f.selected, err = selectRules("-rules", f.rules, dynamic.Rules()); err != nil {
		return c.reportMisuse("%v", err)
	}
	o := dynamic.Options{Kernel: f.kernel, Seeds: f.seeds, Integers: f.set.values}
	if o.Search = f.search; f.search == 0 {
		o.Search = -1
	}
	if f.replay != "" {
		if seed, err := strconv.ParseUint(f.replay, 10, 64); err == nil {
			o.Seed = &seed
		} else if o.Order, err = schedule.ParseWitness(f.replay); err != nil {
			return c.reportMisuse("-replay=%s: %v", f.replay, err)
		}
	}
	if f.launch != "" {
		if f.launch == "-" && (c.flags.NArg() == 0 || slices.Contains(c.flags.Args(), "-")) {
			return c.reportMisuse("- is given twice; standard input is read once")
		}
		_, text, err := c.readOne(f.launch)
		if err == nil {
			o.Launch, err = readLaunch(f.launch, text)
		}
		if err != nil {
			return c.reportTrouble(err)
		}
		if f.set.values != nil && len(o.Launch.Args) > 0 {
			return c.reportMisuse("-set is for launches without -arg, but %s has arguments", f.launch)
		}
	}
	inputs, code, ok := c.inputs("")
	if !ok {
		return code
	}
	r := &checkReport{c: c, f: &f, texts: map[string]string{}}
	each(c, inputs, "checking", func(in *input) checkResult {
		x := checkResult{in: in}
		if x.text, x.err = in.read(c.stdin); x.err == nil {
			x.results, x.err = dynamic.File(in.name, x.text, o)
		}
		return x
	}, r.add)
	return r.finish()
}

// integers holds the values of integer parameters that flags give, by name.
type integers struct{ values map[string]uint64 }

// String returns "", because the flag has no default value.
func (x *integers) String() string { return "" }

// Set adds the value of a parameter, as in n=1024.
func (x *integers) Set(text string) error {
	name, number, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return errors.New("expected name=value")
	}
	n, err := strconv.ParseUint(number, 0, 64)
	if strings.HasPrefix(number, "-") {
		var negative int64
		negative, err = strconv.ParseInt(number, 0, 64)
		n = uint64(negative)
	}
	if err != nil {
		return fmt.Errorf("%q is not an integer of 64 bits", number)
	}
	if x.values == nil {
		x.values = make(map[string]uint64)
	}
	x.values[name] = n
	return nil
}

// readLaunch reads a launch file: flags of ptxdsl run, separated by white space, with quotes
// around words that contain white space.
func readLaunch(path, text string) (*dynamic.Launch, error) {
	var f runFlags
	set := flag.NewFlagSet(path, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.grid, "grid", "", "")
	set.StringVar(&f.block, "block", "", "")
	set.StringVar(&f.cluster, "cluster", "", "")
	set.IntVar(&f.shared, "shared", 0, "")
	set.Var(&f.args, "arg", "")
	var words []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			for _, word := range strings.Fields(line) {
				words = append(words, strings.Trim(word, `'"`))
			}
		}
	}
	if err := set.Parse(words); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l := &dynamic.Launch{Shared: uint32(f.shared)}
	for _, x := range []struct {
		text string
		to   *[3]uint32
	}{{f.grid, &l.Grid}, {f.block, &l.Block}, {f.cluster, &l.Cluster}} {
		if x.text == "" {
			continue
		}
		*x.to = [3]uint32{1, 1, 1}
		for i, word := range strings.Split(x.text, ",") {
			if _, err := fmt.Sscan(word, &x.to[min(i, 2)]); err != nil || i > 2 {
				return nil, fmt.Errorf("%s: %q is not a size", path, x.text)
			}
		}
	}
	for _, text := range f.args {
		a := dynamic.Arg{Text: text}
		if x, err := parseArray(text); err == nil {
			a.Array = x.bytes
		} else if v, err := launchValue(text); err == nil {
			a.Value = v
		} else {
			return nil, fmt.Errorf("%s: -arg %s: %w", path, text, err)
		}
		l.Args = append(l.Args, a)
	}
	return l, nil
}

// launchValue returns the bytes of a number: an f32 if it has a point or an exponent, otherwise
// an integer. A type may precede the number, as in f64=1.5.
func launchValue(text string) ([]byte, error) {
	typ, number, typed := strings.Cut(text, "=")
	if !typed {
		number, typ = text, "s64"
		if strings.ContainsAny(text, ".e") && !strings.HasPrefix(text, "0x") {
			typ = "f32"
		}
	}
	a := &array{typ: typ, bytes: make([]byte, width(typ))}
	if width(typ) == 0 {
		return nil, fmt.Errorf("%q is not a type", typ)
	}
	if err := a.put(0, number); err != nil {
		return nil, err
	}
	return a.bytes, nil
}

// A checkResult is the result of check for one file.
type checkResult struct {
	in      *input
	text    string
	results []dynamic.Result
	err     error
}

// A checkReport prints results as they become available.
type checkReport struct {
	c        *call
	f        *checkFlags
	code     int
	findings diag.List
	texts    map[string]string
	failures []string
}

// add prints the results for the next file.
func (r *checkReport) add(x checkResult) {
	if x.err != nil {
		if !isHarmless(x.err) {
			r.code = exitTrouble
			r.failures = append(r.failures, x.err.Error())
		}
		fmt.Fprintln(r.c.stderr, x.err)
		return
	}
	for i := range x.results {
		k := &x.results[i]
		if r.f.selected != nil {
			k.Findings = slices.DeleteFunc(k.Findings, func(d diag.Diagnostic) bool {
				return !r.f.selected[d.Rule]
			})
		}
		if v := k.Verdict(); v == "error" || r.f.strict && v == "review" {
			r.code = max(r.code, exitFindings)
		}
		if r.f.timeline != "" && k.Timeline != nil {
			r.writeTimeline(k.Timeline)
		}
		if !r.f.quiet {
			r.print(&x, k)
		}
	}
}

// print prints the result of a kernel.
func (r *checkReport) print(x *checkResult, k *dynamic.Result) {
	w := r.c.stdout
	switch r.f.format {
	case "json":
		_ = diag.JSON(w, k.Findings) // stdout stores the error
		_ = json.NewEncoder(w).Encode(summaryOf(x.in.name, k))
		return
	case "github":
		_ = diag.GitHub(w, diag.Texts(map[string]string{x.in.name: x.text}), k.Findings)
		return
	case "sarif":
		r.findings = append(r.findings, k.Findings...)
		r.texts[x.in.name] = x.text
		return
	}
	r.c.findings(w, x.in.name, x.text, k.Findings, true)
	for _, t := range k.Tried {
		fmt.Fprintf(w, "%s: kernel %s: tried %s\n", x.in.name, k.Kernel, t)
	}
	if len(k.NotReached) > 0 {
		fmt.Fprintf(w, "%s: kernel %s: not reached: %s\n", x.in.name, k.Kernel,
			lineList(k.NotReached))
	}
	if s := k.Search; s != nil {
		fmt.Fprintf(w, "%s: kernel %s: %s\n", x.in.name, k.Kernel, s)
	}
	for _, why := range k.Incomplete {
		fmt.Fprintf(w, "%s: kernel %s: not checked: %s\n", x.in.name, k.Kernel, why)
	}
	var notes []string
	if k.Verdict() == "clean" {
		notes = k.Bounds
	}
	if k.Suppressed > 0 {
		notes = append(slices.Clone(notes), fmt.Sprintf("%d suppressed", k.Suppressed))
	}
	note := ""
	if len(notes) > 0 {
		note = " (" + strings.Join(notes, "; ") + ")"
	}
	fmt.Fprintf(w, "%s: kernel %s: %s%s\n", x.in.name, k.Kernel, k.Verdict(), note)
}

// A summary is the JSON object that -json prints for a kernel, after the objects of its findings.
type summary struct {
	File       string   `json:"file"`
	Kernel     string   `json:"kernel"`
	Verdict    string   `json:"verdict"`
	Tried      []string `json:"tried,omitempty"`
	NotReached []int    `json:"not_reached,omitempty"`
	Incomplete []string `json:"not_checked,omitempty"`
	Bounds     []string `json:"bounds,omitempty"`
	States     int      `json:"states,omitempty"`
	Orders     int      `json:"orders,omitempty"`
	Complete   bool     `json:"all_orders,omitempty"`
}

// summaryOf returns the JSON object for a kernel.
func summaryOf(file string, k *dynamic.Result) summary {
	s := summary{
		File: file, Kernel: k.Kernel, Verdict: k.Verdict(), Tried: k.Tried,
		NotReached: k.NotReached,
		Incomplete: k.Incomplete, Bounds: k.Bounds,
	}
	if r := k.Search; r != nil {
		s.States, s.Orders, s.Complete = r.States, r.Orders, r.Complete
	}
	return s
}

// writeTimeline writes the order of execution that a search found to the file of -timeline.
func (r *checkReport) writeTimeline(list []schedule.Entry) {
	f, err := os.Create(r.f.timeline)
	if err == nil {
		if strings.HasSuffix(r.f.timeline, ".json") {
			err = schedule.Perfetto(f, list)
		} else {
			err = schedule.Text(f, list)
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintln(r.c.stderr, err)
		r.code = exitTrouble
	}
}

// lineList formats line numbers, with consecutive ones as ranges.
func lineList(lines []int) string {
	var words []string
	for i := 0; i < len(lines); {
		j := i
		for j+1 < len(lines) && lines[j+1] == lines[j]+1 {
			j++
		}
		word := fmt.Sprint(lines[i])
		if j > i {
			word += fmt.Sprintf("-%d", lines[j])
		}
		words = append(words, word)
		i = j + 1
	}
	if len(words) == 1 && len(lines) == 1 {
		return "line " + words[0]
	}
	return "lines " + strings.Join(words, ", ")
}

// finish prints the summary and returns the exit code.
func (r *checkReport) finish() int {
	if r.f.format == "sarif" && !r.f.quiet {
		_ = diag.SARIF(r.c.stdout, diag.Run{
			Tool: "ptxdsl", Version: version(), URI: homePage,
			Help:  homePage + "/blob/main/docs/reference/rules.md#%s",
			Rules: dynamic.Rules(), Failures: r.failures, Source: diag.Texts(r.texts),
		}, r.findings)
	}
	return r.code
}
