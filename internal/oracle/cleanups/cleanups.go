// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package cleanups tests the clean-up passes on whole files: each pass alone, and all passes in
// order. The output must be PTX without errors that ptxas accepts, and a second run of the passes
// must change nothing. The output of all passes is assembled, and its machine code is compared
// with that of the original. ptxas performs the same clean-ups, so most machine code is equal;
// each difference is reported for inspection.
package cleanups

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/internal/oracle/roundtrip"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/lower"
	"github.com/ptxdsl/ptxdsl/passes"
)

// A Judge runs ptxas and the disassembler on the output of the passes.
type Judge struct {
	Tool   *ptxas.Tool
	Lister string // path of nvdisasm; "" skips the comparison of machine code
	Passes []*passes.Pass
}

// A Report is the result for one file.
type Report struct {
	Name string
	// Tries has one element for each pass that changed something, and one for all passes.
	Tries []Trial `json:",omitempty"`
	// Refused is the reason why the original file is not valid, or "".
	Refused string `json:",omitempty"`
}

// A Trial is the result of one pass, or of all passes, on one file.
type Trial struct {
	Pass     string   // "all" for all passes
	Changes  int      // number of changes made by the pass
	Problems []string `json:",omitempty"` // errors found in the output
	// Alike has the number of functions by the Likeness of their machine code. Differ has the
	// names of functions whose effects differ, with the difference. Before and After are the
	// numbers of instructions of all functions.
	Alike         map[string]int    `json:",omitempty"`
	Differ        map[string]string `json:",omitempty"`
	Before, After int               `json:",omitempty"`
}

func (t *Trial) problem(format string, args ...any) {
	t.Problems = append(t.Problems, fmt.Sprintf(format, args...))
}

// Try runs the passes on one file. The error is non-nil for failures that the file did not cause.
func (j *Judge) Try(ctx context.Context, s roundtrip.Source) (Report, error) {
	r := Report{Name: s.Name}
	m, why := module(s.Name, s.Text)
	if why != "" {
		r.Refused = why
		return r, nil
	}
	was := lower.Text(m)
	code, o, why, err := j.original(ctx, was)
	if err != nil || why != "" {
		r.Refused = why
		return r, err
	}
	try := func(name string, list []*passes.Pass) error {
		t := Trial{Pass: name}
		text := t.clean(s, list)
		if t.Changes == 0 && t.Problems == nil {
			return nil
		}
		defer func() { r.Tries = append(r.Tries, t) }()
		return j.compare(ctx, &t, was, code, text, o)
	}
	for _, p := range j.Passes {
		if err := try(p.Name, []*passes.Pass{p}); err != nil {
			return r, err
		}
	}
	return r, try("all", j.Passes)
}

// original returns the machine code of an unchanged file and the ptxas options that it requires.
// If there is no machine code, why is the reason.
func (j *Judge) original(ctx context.Context,
	text string) (code Code, o ptxas.Options, why string, err error) {
	code, why, err = j.listing(ctx, text, o)
	if strings.Contains(why, "Unresolved extern") {
		o.Relocatable = true
		code, why, err = j.listing(ctx, text, o)
	}
	return code, o, why, err
}

// module parses and lifts a text. If that fails, it returns the reason.
func module(name, text string) (*ir.Module, string) {
	m, list := ptxdsl.Load(name, text)
	if m == nil {
		return nil, list.Err().Error()
	}
	return m, ""
}

// clean runs passes on a file and makes the checks of the output that do not need ptxas.
func (t *Trial) clean(s roundtrip.Source, list []*passes.Pass) string {
	m, why := module(s.Name, s.Text)
	if why != "" {
		t.problem("%s", why)
		return ""
	}
	was := lower.Text(m)
	t.Changes = changes(m, list)
	text := lower.Text(m)
	if t.Changes == 0 && text != was {
		t.problem("the text changes, and no change is counted")
	}
	again, why := module(s.Name, text)
	if why != "" {
		t.problem("what is left is faulty: %s", why)
		return text
	}
	if more := changes(again, list); more > 0 {
		t.problem("a second run makes %d changes", more)
	}
	if lower.Text(again) != text {
		t.problem("a second run leaves another text")
	}
	return text
}

func changes(m *ir.Module, list []*passes.Pass) int {
	n := 0
	for _, s := range passes.Run(m, list, nil) {
		n += s.Changes
	}
	return n
}

// compare assembles the output of the passes and compares the machine code function by function.
func (j *Judge) compare(ctx context.Context, t *Trial, was string, before Code, text string,
	o ptxas.Options) error {
	if j.Lister == "" {
		v, err := j.Tool.Parse(ctx, text, o)
		if err == nil && !v.OK() {
			t.problem("the assembler refuses what is left: %s", v.String())
		}
		return err
	}
	after, why, err := j.listing(ctx, text, o)
	if err != nil {
		return err
	}
	if why != "" {
		t.problem("the assembler refuses what is left: %s", why)
		return nil
	}
	unsteady := make(map[string]bool)
	if !maps.EqualFunc(before, after, slices.Equal[[]string]) {
		err := errors.Join(j.repeat(ctx, was, before, o, unsteady),
			j.repeat(ctx, text, after, o, unsteady))
		if err != nil {
			return err
		}
	}
	t.Alike, t.Differ = make(map[string]int), make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		lines, ok := after[name]
		if !ok {
			t.problem("there is no machine code of %s any more", name)
			continue
		}
		t.Before, t.After = t.Before+size(before[name]), t.After+size(lines)
		if unsteady[name] {
			t.Alike[notDeterministic]++
			continue
		}
		like, difference := Liken(before[name], lines)
		t.Alike[like.String()]++
		if like >= Effects {
			t.Differ[name] = like.String() + ": " + difference
		}
	}
	if len(after) > len(before) {
		t.problem("there is machine code of more functions")
	}
	return nil
}

// notDeterministic is the class of functions for which ptxas generates different code in several
// runs with the same text. They count neither as equal nor as different.
const notDeterministic = "not deterministic"

// repetitions is how often a text is assembled to find such functions.
const repetitions = 5

// repeat assembles a text several times and adds the functions whose code varies to unsteady.
func (j *Judge) repeat(ctx context.Context, text string, first Code, o ptxas.Options,
	unsteady map[string]bool) error {
	for range repetitions {
		code, why, err := j.listing(ctx, text, o)
		if err != nil {
			return err
		}
		if why != "" {
			return fmt.Errorf("the assembler refuses a text that it took before: %s", why)
		}
		for name, lines := range first {
			if !slices.Equal(lines, code[name]) {
				unsteady[name] = true
			}
		}
	}
	return nil
}

// listing returns the machine code of a text, or the reason why there is none. Without a
// disassembler, ptxas only parses the text.
func (j *Judge) listing(ctx context.Context, text string, o ptxas.Options) (Code, string, error) {
	if j.Lister == "" {
		v, err := j.Tool.Parse(ctx, text, o)
		if err == nil && !v.OK() {
			return nil, v.String(), nil
		}
		return nil, "", err
	}
	// in modules with debug information, line numbers affect the machine code
	cubin, v, err := j.Tool.Assemble(ctx, roundtrip.Lines(text), o)
	if err != nil {
		return nil, "", err
	}
	if !v.OK() {
		return nil, v.String(), nil
	}
	folder, err := os.MkdirTemp("", "cleanups")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "m.cubin")
	if err := os.WriteFile(path, cubin, 0o600); err != nil {
		return nil, "", err
	}
	out, err := exec.CommandContext(ctx, j.Lister, "-c", path).Output()
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", j.Lister, err)
	}
	return Listing(string(out)), "", nil
}
