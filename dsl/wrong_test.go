// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
)

const wrongFile = "wrong_kernels_test.go"

var bless = flag.Bool("bless", false, "print what wrong kernels say at lines that want nothing")

var wants = regexp.MustCompile("// want `([^`]*)`")

// TestWrong builds wrong kernels: each finding must be at a line that wants it.
func TestWrong(t *testing.T) {
	text, err := os.ReadFile(wrongFile)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	met := make(map[int]bool)
	for i, w := range wrongKernels {
		m := dsl.New("wrong", w.target)
		k := m.Kernel("k", dsl.Threads(256))
		w.build(m, k)
		_, list := m.Build()
		if list.Errors() == 0 {
			t.Errorf("wrong kernel %d, for %s, is built without a word", i, w.target)
		}
		for _, d := range list {
			at := d.Place
			if filepath.Base(at.File) != wrongFile {
				t.Errorf("%s: %s: not in the kernel", at, d.Message)
				continue
			}
			got := fmt.Sprintf("%s: %s", d.Rule, d.Message)
			for _, from := range d.From {
				if filepath.Base(from.File) == wrongFile {
					got += " from " + strconv.Itoa(from.Line-at.Line)
				}
			}
			want := wants.FindStringSubmatch(lines[at.Line-1])
			switch {
			case want == nil && *bless:
				fmt.Printf("BLESS %d %s\n", at.Line, got)
			case want == nil:
				t.Errorf("line %d wants nothing, got %s", at.Line, got)
			case !regexp.MustCompile(want[1]).MatchString(got):
				t.Errorf("line %d wants %q, got %q", at.Line, want[1], got)
			default:
				met[at.Line] = true
			}
		}
	}
	n := 0
	for i, line := range lines {
		if wants.MatchString(line) {
			n++
			if !met[i+1] {
				t.Errorf("line %d: nothing was found: %s", i+1, strings.TrimSpace(line))
			}
		}
	}
	if n < 100 {
		t.Errorf("%d wrong kernels; at least 100 are expected", n)
	}
}

// TestError holds the text of an error: places, callers, how many are left out.
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
	for _, want := range []string{"wrong_test.go:", "wrong_kernels_test.go:", "error D204: 400 is no .u8", "called from "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%s", want, err)
		}
	}
	var list diag.List = err.(*dsl.Error).List
	if len(list) != 2 {
		t.Errorf("%d findings; one for each line is expected", len(list))
	}
}
