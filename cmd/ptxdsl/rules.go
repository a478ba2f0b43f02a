// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/lift"
	dynamic "github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// homePage is the home page of the project.
const homePage = "https://github.com/ptxdsl/ptxdsl"

// rulesWithPage returns the rules that have a page: those of verify, of lifting, of building
// kernels in Go, and of check.
func rulesWithPage() diag.Rules {
	return diag.Rules(slices.Concat(ptxdsl.Rules(), lift.Rules(), dsl.Rules(),
		dynamic.Rules())).Sorted()
}

// selectRules returns the ids of the rules that a flag selects with a list of ids, prefixes of
// ids and layers, or nil for an empty list. A complete id selects only the rule itself: A1 does
// not select A11.
func selectRules(flag, list string, all diag.Rules) (map[string]bool, error) {
	if list == "" {
		return nil, nil
	}
	known := []string{}
	for _, r := range all {
		known = append(known, r.ID)
		if !slices.Contains(known, r.Layer) {
			known = append(known, r.Layer)
		}
	}
	set := make(map[string]bool)
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimSpace(word)
		if r, exact := all.Find(word); exact {
			set[r.ID] = true
			continue
		}
		found := false
		for _, r := range all {
			if word != "" &&
				(strings.EqualFold(word, r.Layer) ||
					strings.HasPrefix(r.ID, strings.ToUpper(word))) {
				set[r.ID] = true
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: %q is neither a rule nor a layer%s (see ptxdsl explain)",
				flag, word, didYouMean("", nearestRule(word, known)))
		}
	}
	return set, nil
}

// nearestRule returns the rule or layer that is most similar to a word, ignoring case, or "".
func nearestRule(word string, known []string) string {
	if near := diag.Nearest(strings.ToUpper(word), known); near != "" {
		return near
	}
	return diag.Nearest(strings.ToLower(word), known)
}
