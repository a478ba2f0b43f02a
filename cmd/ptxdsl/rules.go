// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/isa"
	"github.com/ptxdsl/ptxdsl/lift"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
	"github.com/ptxdsl/ptxdsl/ptx"
	dynamic "github.com/ptxdsl/ptxdsl/runtime/emu/check"
)

// home is where the project lives.
const home = "https://github.com/ptxdsl/ptxdsl"

// rules are those that verify looks for, by id.
func rules() diag.Rules {
	return diag.Rules(slices.Concat(ptx.Rules(), isa.Rules(), form.Rules(), suite.Rules())).Sorted()
}

// pages are the rules that have a page: those of verify, of lifting, of building kernels in Go, and of check.
func pages() diag.Rules {
	return diag.Rules(slices.Concat(rules(), lift.Rules(), dsl.Rules(), dynamic.Rules())).Sorted()
}

// check is all findings of a text, of all layers.
func check(name, text string, opt form.Options) diag.List {
	l, _ := examine(name, text, opt, verify.Options{})
	return l
}

// selectRules is the set of rule ids that the value of a flag means, a list of ids, beginnings of
// ids and layers; nil for an empty list. What is an id stands for itself alone: A1 is not A11.
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
			if word != "" && (strings.EqualFold(word, r.Layer) || strings.HasPrefix(r.ID, strings.ToUpper(word))) {
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

// nearestRule is the rule or layer that was meant; rules are written in any case.
func nearestRule(word string, known []string) string {
	if near := diag.Nearest(strings.ToUpper(word), known); near != "" {
		return near
	}
	return diag.Nearest(strings.ToLower(word), known)
}
