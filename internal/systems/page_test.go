// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/golden"
)

// page is the documentation page with the variants.
const page = "../../docs/reference/systems.md"

// slack is how far a tolerance may exceed the largest error of the variants of an option.
const slack = 4

// TestPage checks that the measurements have a row for each variant and target, that those of the
// first variant of each example are up to date, and that the page shows them. With -update it
// measures all variants and writes the page. SYSTEMS=new measures only variants without a row, and
// SYSTEMS=verify repeats only the static checks of the others.
func TestPage(t *testing.T) {
	mode := os.Getenv("SYSTEMS")
	old, hardware := readRows(t), measured(t)
	var text strings.Builder
	text.WriteString(header)
	list := make(map[string][]row)
	for _, s := range Systems() {
		for _, e := range s.Examples {
			for i, v := range e.Variants {
				if !slices.Contains(s.Options, v.Option) {
					t.Errorf("%s: variant %s has option %q, which the system does not list",
						e.Directory, v.Name, v.Option)
				}
				for _, target := range v.Targets {
					r := row{Directory: e.Directory, Option: v.Option, Name: v.Name, Target: target}
					was, ok := old[r.key()]
					switch {
					case !ok && !golden.Updating():
						t.Errorf("%s has no row for %s, %s and %s; go test ./internal/systems -run TestPage -update", data, v.Option, v.Name, target)
						continue
					case golden.Updating() && (mode == "" || !ok),
						i == 0 && target == v.Targets[0] && !testing.Short():
						r.fill(t, v)
						if golden.Updating() { // keep it if a later one fails or takes too long
							old[r.key()] = r
							save(t, old)
						}
					case golden.Updating() && mode == "verify":
						r = was
						r.verify(t, v)
					default:
						r = was
					}
					text.WriteString(r.line())
					r.Hardware = hardware.of(e.Directory, v, target)
					list[s.Name] = append(list[s.Name], r)
				}
			}
		}
	}
	if !t.Failed() {
		compare(t, data, text.String())
		compare(t, page, render(list, kernels(t)))
	}
}

// save writes measurements in any order.
func save(t *testing.T, rows map[string]row) {
	var lines []string
	for _, r := range rows {
		lines = append(lines, r.line())
	}
	slices.Sort(lines)
	if err := os.WriteFile(data, []byte(header+strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// compare compares a file with what it should contain, or writes it with -update.
func compare(t *testing.T, file, want string) {
	t.Helper()
	got, err := os.ReadFile(file)
	switch {
	case golden.Updating():
		if !bytes.Equal(got, []byte(want)) {
			err = os.WriteFile(file, []byte(want), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Fatal(err)
	case string(got) != want:
		t.Errorf("%s is out of date; go test ./internal/systems -run TestPage -update", file)
	}
}

// TestTight fails if a tolerance is too large for the errors that occurred in the variants of an
// option that have it.
func TestTight(t *testing.T) {
	shares := make(map[string]float64)
	for _, r := range readRows(t) {
		if r.Error == "" {
			continue
		}
		largest, e1 := strconv.ParseFloat(r.Error, 64)
		allowed, e2 := strconv.ParseFloat(r.Allowed, 64)
		if e1 != nil || e2 != nil {
			t.Fatal(r.key(), e1, e2)
		}
		key := fmt.Sprintf("%s, %s: %s", r.Directory, r.Option, r.Tolerance)
		shares[key] = max(shares[key], largest/allowed)
	}
	for key, share := range shares {
		if share*slack < 1 {
			t.Errorf("%s is %.1f times the largest error, more than %d times", key, 1/share, slack)
		}
	}
}

// TestMissing checks that each option has a variant, and that the pages of the systems exist, with
// a diagram for each version of the ladder.
func TestMissing(t *testing.T) {
	for _, s := range Systems() {
		if list := s.Missing(); len(list) > 0 {
			t.Errorf("%s lacks %s", s.Name, strings.Join(list, "; "))
		}
		for _, name := range s.Pages {
			text, err := os.ReadFile("../../docs/explanation/systems/" + name + ".md")
			if err != nil {
				t.Error(err)
			}
			image := "images/" + strings.ReplaceAll(name, "-", "_") + ".svg"
			if strings.HasPrefix(name, "ladder") && !strings.Contains(string(text), image) {
				t.Errorf("%s has no diagram %s", name, image)
			}
		}
	}
}
