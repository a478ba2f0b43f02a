// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"embed"

	"github.com/ptxdsl/ptxdsl/diag"
	"github.com/ptxdsl/ptxdsl/runtime/emu/race"
)

// Rules for findings other than races.
const (
	RuleHang   = "E12"
	RuleFault  = "E13"
	RuleOrder  = "E14"
	RuleSearch = "E16" // from the search of orders
	RuleValue  = "E17" // a value that was never written
)

// pages holds the page of each rule.
//
//go:embed rules/*.md
var pages embed.FS

// Rules returns the rules of this package.
func Rules() diag.Rules {
	var list diag.Rules
	for _, id := range []string{
		race.RuleBlock, race.RuleWarp, race.RuleGrid, race.RuleScope, race.RuleFlight,
		race.RuleProxy, race.RuleMixed, race.RuleValues, race.RuleInit, race.RulePeer,
		race.RuleGrids, race.RuleTensor, RuleHang, RuleSearch, RuleFault, RuleValue,
		race.RuleReadOnly, race.RuleLive, race.RuleFragment, race.RuleSkipped,
		race.RuleStale,
	} {
		list = append(list, diag.Rule{ID: id, Layer: "check"})
	}
	for _, id := range []string{race.RuleExited, RuleOrder} {
		list = append(list, diag.Rule{ID: id, Layer: "check", Severity: diag.Review})
	}
	return list.WithPages(pages)
}
