// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
)

// wrongFiles are the files with wrong kernels.
var wrongFiles = map[string][]wrongKernel{
	"wrong_kernels_test.go":    wrongKernels,
	"wrong_products_test.go":   wrongProducts,
	"wrong_blackwell_test.go":  wrongBlackwell,
	"wrong_protocols_test.go":  wrongProtocols,
	"wrong_features_test.go":   wrongFeatures,
	"wrong_values_test.go":     wrongValues,
	"wrong_grids_test.go":      wrongGrids,
	"wrong_paths_test.go":      wrongWays,
	"wrong_stay_test.go":       wrongStays,
	"wrong_threads_test.go":    wrongThreads,
	"wrong_ends_test.go":       wrongEnds,
	"wrong_tensor_test.go":     wrongTensors,
	"wrong_iterations_test.go": wrongTurns,
}

var bless = flag.Bool("bless", false, "print what wrong kernels say at lines that want nothing")

var wants = regexp.MustCompile("// want `([^`]*)`")

// TestWrong builds wrong kernels: each finding must be at a line that wants it.
func TestWrong(t *testing.T) {
	n := 0
	for file, kernels := range wrongFiles {
		n += testWrong(t, file, kernels, true)
	}
	if n < 100 {
		t.Errorf("%d wrong kernels; at least 100 are expected", n)
	}
}

// TestWrongPlaces checks that each wrong line has one finding, with a column, and compares the
// fixes with testdata/fixes.txt. Each fix must leave a file that Go parses.
func TestWrongPlaces(t *testing.T) {
	findings := 0
	var fixes []string
	for file, kernels := range wrongFiles {
		for i, w := range kernels {
			m := dsl.New("wrong", w.target)
			w.build(m, m.Kernel("k", dsl.Threads(256)))
			lines := make(map[int]string)
			for _, d := range withoutNotes(m.Findings()) {
				findings++
				if d.Fix != nil {
					fixes = append(fixes, fixedLine(t, d))
				}
				if d.Place.EndColumn == 0 {
					t.Errorf("%s: no column: %s", d.Place, d.Message)
				}
				if other := lines[d.Place.Line]; other != "" {
					t.Errorf("%s: kernel %d: line %d has two findings: %s; %s", file, i,
						d.Place.Line, other, d.Message)
				}
				lines[d.Place.Line] = d.Message
			}
		}
	}
	if findings < 600 {
		t.Errorf("%d findings, expected at least 600", findings)
	}
	slices.Sort(fixes)
	got := fmt.Sprintf("Findings with a fix: %d of %d.\n\n%s", len(fixes), findings,
		strings.Join(slices.Compact(fixes), "\n"))
	const golden = "testdata/fixes.txt"
	if *bless {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("fixes differ from %s (-want +got); update it with -bless:\n%s", golden, d)
	}
}

// fixedLine applies the fix of a finding to its file, and returns the message and the source line
// before and after the fix.
func fixedLine(t *testing.T, d diag.Diagnostic) string {
	text, err := os.ReadFile(d.Place.File)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := diag.Apply(string(text), d.Fix.Edits)
	if err != nil {
		t.Fatalf("%s: fix of %s: %v", d.Place, d.Message, err)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "fixed.go", fixed, 0); err != nil {
		t.Errorf("%s: fix of %s: %v", d.Place, d.Message, err)
	}
	line := func(text string) string {
		line := strings.Split(text, "\n")[d.Place.Line-1]
		line, _, _ = strings.Cut(line, "// want")
		line = kernelStart.ReplaceAllString(line, "")
		return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "}},"))
	}
	return fmt.Sprintf("%s: %s: %s\n-\t%s\n+\t%s\n", d.Rule, d.Message, d.Fix.Message,
		line(string(text)), line(fixed))
}

// kernelStart matches the start of a wrong kernel that has one line.
var kernelStart = regexp.MustCompile(`^\s*\{"\w+", func\(\w+ \*dsl\.Module, \w+ \*dsl\.Kernel\) \{`)

// testWrong builds the wrong kernels of a file, and returns the number of expected findings. Each
// kernel must have an error, unless only warnings are expected.
func testWrong(t *testing.T, file string, kernels []wrongKernel, wrong bool,
	options ...dsl.Option) (n int) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	met := make(map[int]bool)
	for i, w := range kernels {
		m := dsl.New("wrong", w.target, options...)
		k := m.Kernel("k", dsl.Threads(256))
		w.build(m, k)
		list := withoutNotes(m.Findings())
		if wrong && list.Errors() == 0 {
			t.Errorf("%s: wrong kernel %d, for %s, is built without a word", file, i, w.target)
		}
		for _, d := range list {
			at := d.Place
			if filepath.Base(at.File) != file {
				t.Errorf("%s: %s: not in the kernel", at, d.Message)
				continue
			}
			if at.EndColumn == 0 && *bless {
				fmt.Printf("COLUMN %s:%d %s\n", file, at.Line, d.Message)
			}
			if d.Fix != nil && *bless {
				fmt.Printf("FIX %s:%d %s\n", file, at.Line, d.Fix.Message)
			}
			got := fmt.Sprintf("%s: %s", d.Rule, d.Message)
			for _, from := range d.From {
				if filepath.Base(from.File) == file {
					got += " from " + strconv.Itoa(from.Line-at.Line)
				}
			}
			want := wants.FindStringSubmatch(lines[at.Line-1])
			switch {
			case want == nil && *bless:
				fmt.Printf("BLESS %s:%d %s\n", file, at.Line, got)
			case want == nil:
				t.Errorf("%s: line %d wants nothing, got %s", file, at.Line, got)
			case !regexp.MustCompile(want[1]).MatchString(got):
				t.Errorf("%s: line %d wants %q, got %q", file, at.Line, want[1], got)
			default:
				met[at.Line] = true
			}
		}
	}
	for i, line := range lines {
		if wants.MatchString(line) {
			n++
			if !met[i+1] {
				t.Errorf("%s: line %d: nothing was found: %s", file, i+1, strings.TrimSpace(line))
			}
		}
	}
	return n
}

// withoutNotes returns the findings except notes about what was not checked.
func withoutNotes(list diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(list), func(d diag.Diagnostic) bool {
		return d.Severity == diag.Note
	})
}

// TestError checks the text of an error: positions, callers, and the number of omitted findings.
func TestError(t *testing.T) {
	m := dsl.New("m", "sm_90")
	k := m.Kernel("k")
	for range 12 {
		helper(k)
		k.U8(400)
	}
	_, err := m.Text()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"wrong_test.go:", "wrong_kernels_test.go:",
		"error D204: 400 is not a valid .u8", "called from "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%s", want, err)
		}
	}
	var list diag.List = err.(*dsl.Error).List
	if len(list) != 2 {
		t.Errorf("%d findings; one for each line is expected", len(list))
	}
}
