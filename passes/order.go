// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import "fmt"

// An Order says that, of two passes that both run, First comes before Then.
type Order struct{ First, Then, Why string }

// Ordering is what must be heeded when passes are put into a list.
func Ordering() []Order {
	return []Order{
		{"fold-constants", "merge-common", "instructions that read the same constant by way of two registers are found to be the same only when it stands in them"},
		{"fold-constants", "fold-addresses", "a constant that is added to an address must stand in the sum"},
		{"merge-common", "fold-addresses", "an address that is computed twice may be read twice, and only what is read once goes into another instruction"},
		{"fold-constants", "drop-dead", "the moves of constants are dead when these stand where they are used"},
		{"drop-dead", "fold-addresses", "a sum that something dead reads too does not go into brackets"},
		{"fold-addresses", "merge-registers", "an address lives longer when a sum goes into brackets"},
		{"merge-common", "merge-registers", "a result that is used in the place of another lives longer"},
		{"fold-constants", "merge-registers", "a register that is written twice has no constant"},
		{"drop-dead", "merge-registers", "what computes dead values would hold registers, and when it goes the rest could share more"},
		{"drop-unreachable", "merge-registers", "code that is never reached would hold registers"},
		{"drop-unreachable", "drop-dead", "code that is never reached reads registers, and keeps alive what computes them"},
	}
}

// Check reports the first pass of a list that stands twice or before one that it must follow.
func Check(list []*Pass) error {
	at := make(map[string]int, len(list))
	for i, p := range list {
		if _, twice := at[p.Name]; twice {
			return fmt.Errorf("pass %s is named twice", p.Name)
		}
		at[p.Name] = i
	}
	for _, o := range Ordering() {
		i, first := at[o.First]
		j, then := at[o.Then]
		if first && then && i > j {
			return fmt.Errorf("%s comes before %s: %s", o.First, o.Then, o.Why)
		}
	}
	return nil
}
