// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package hostile_test

import (
	"testing"
	"time"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/hostile"
	"github.com/ptxdsl/ptxdsl/ptx"
)

// TestTexts checks the size and the name of every text, and that valid ones have no error.
func TestTexts(t *testing.T) {
	names := map[string]bool{}
	for _, x := range hostile.Texts() {
		if names[x.Name] {
			t.Errorf("there are two texts %q", x.Name)
		}
		names[x.Name] = true
		for _, size := range []int{1, 2000} {
			text := x.Of(size)
			if len(text) < size || len(text) > size+2000 {
				t.Errorf("%s of %d bytes has %d", x.Name, size, len(text))
			}
			file, list := ptx.Parse(x.Name, text)
			if list = append(list, form.Check(file, form.Options{})...); x.Valid &&
				list.Errors() > 0 {
				t.Errorf("%s: %v\n%s", x.Name, list[0], text[:min(len(text), 500)])
			}
		}
	}
	if len(names) < 150 {
		t.Errorf("there are %d texts", len(names))
	}
}

// TestGrowth checks that Growth distinguishes linear from quadratic work.
func TestGrowth(t *testing.T) {
	x := hostile.Text{Name: "blanks", Unit: func(int) string { return " " }}
	sum := 0
	line := func(text string) {
		for range 200 {
			for i := range len(text) {
				sum += int(text[i])
			}
		}
	}
	square := func(text string) {
		for range text {
			for j := range len(text) {
				sum += int(text[j])
			}
		}
	}
	if e, short, long := x.Growth(30_000, line); e > hostile.Exponent {
		t.Errorf("linear work grows by the power of %.2f: %v, %v", e, short, long)
	}
	if e, short, long := x.Growth(1500, square); e < 1.5 {
		t.Errorf("quadratic work grows by the power of %.2f: %v, %v", e, short, long)
	}
	if e, _, long := x.Growth(10, func(string) {}); e != 0 || long > time.Second {
		t.Errorf("no work grows by the power of %.2f: %v", e, long)
	}
}
