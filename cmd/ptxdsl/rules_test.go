// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
)

// TestRules checks that every rule has a complete page, and that ids are unique.
func TestRules(t *testing.T) {
	form := regexp.MustCompile(`^F[1-7][0-9]{2}$`)
	hazard := regexp.MustCompile(`^([ABCGMRSTW][1-9][0-9]?|V10[0-9])$`)
	seen := map[string]bool{}
	for _, r := range ptxdsl.Rules() {
		id := hazard
		if r.Layer == "form" {
			id = form
		}
		if !id.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("%s: not an id of this layer, or there twice", r.ID)
		}
		seen[r.ID] = true
		if r.Title == "" || r.What == "" || r.Why == "" || r.Fix == "" || r.Layer == "" {
			t.Errorf("%s: the page is incomplete: %+v", r.ID, r)
		}
		if r.Title != strings.TrimSuffix(r.Title, ".") {
			t.Errorf("%s: the title ends in a full stop", r.ID)
		}
		if (r.Wrong == "") != (r.Right == "") {
			t.Errorf("%s: wrong without right, or the other way round", r.ID)
		}
	}
}

func TestSelectRules(t *testing.T) {
	all := diag.Rules{{ID: "F101", Layer: "form"}, {ID: "F201", Layer: "form"},
		{ID: "F202", Layer: "form"}, {ID: "A1", Layer: "async"}}
	tests := []struct{ list, want, error string }{
		{"", "all", ""},
		{"form", "F101 F201 F202", ""},
		{"F2", "F201 F202", ""},
		{"f202, a1", "F202 A1", ""},
		{"Async,F1", "F101 A1", ""},
		{"F2O1", "", "did you mean F201?"},
		{"asinc", "", "did you mean async?"},
		{"F201,,A1", "", `"" is neither a rule`},
	}
	for _, test := range tests {
		set, err := selectRules("-rules", test.list, all)
		if test.error != "" {
			if err == nil || !strings.Contains(err.Error(), test.error) {
				t.Errorf("%q: error %v, want %q", test.list, err, test.error)
			}
			continue
		}
		got := "all"
		if set != nil {
			var ids []string
			for _, r := range all {
				if set[r.ID] {
					ids = append(ids, r.ID)
				}
			}
			got = strings.Join(ids, " ")
		}
		if err != nil || got != test.want {
			t.Errorf("%q selects %s, %v; want %s", test.list, got, err, test.want)
		}
	}
}
