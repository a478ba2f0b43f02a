// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/diag"
)

func explainCommand() *command {
	return &command{
		name:  "explain",
		args:  "[rule ...]",
		short: "explain a rule",
		long: `
Explain prints the page of a rule: what it reports, why, PTX that breaks it,
PTX that does not, how to fix it, what it does not detect, and the section of
the PTX ISA manual it comes from. Without a rule, it lists all rules. The
prefix of an id selects all rules whose ids start with it.

Exit codes: 0 found, 2 no such rule.`,
		examples: `
    ptxdsl explain              all rules, one per line
    ptxdsl explain F201         one page
    ptxdsl explain F4           the pages on versions and targets`,
		run: runExplain,
	}
}

func runExplain(c *call) int {
	if code, ok := c.parse(); !ok {
		return code
	}
	all := rulesWithPage()
	if c.flags.NArg() == 0 {
		for _, r := range all {
			fmt.Fprintf(c.stdout, "%-6s %-8s %s\n", r.ID, r.Severity, r.Title)
		}
		return exitClean
	}
	code, first := exitClean, true
	for _, word := range c.flags.Args() {
		set, err := selectRules("explain", word, all)
		if err != nil || set == nil {
			var known []string
			for _, r := range all {
				known = append(known, r.ID)
			}
			fmt.Fprintf(c.stderr,
				"ptxdsl explain: no rule %q%s\nRun 'ptxdsl explain' for a list.\n",
				word, didYouMean("", diag.Nearest(strings.ToUpper(word), known)))
			code = exitTrouble
			continue
		}
		for _, r := range all {
			if !set[r.ID] {
				continue
			}
			if !first {
				fmt.Fprintln(c.stdout)
			}
			first = false
			fmt.Fprint(c.stdout, r.Page())
		}
	}
	return code
}
