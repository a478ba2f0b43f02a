// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import "fmt"

// An Order requires that First runs before Then if both run.
type Order struct{ First, Then, Why string }

// Ordering returns the constraints on the order of passes, with their reasons.
func Ordering() []Order {
	return []Order{
		{"fold-constants", "merge-common", "instructions that read one constant through two " +
			"registers are recognized as equal only after the constant has been folded into them"},
		{"fold-constants", "fold-addresses", "a constant added to an address must have been " +
			"folded into the addition"},
		{"merge-common", "fold-addresses", "an address computed twice may be used twice, and " +
			"only an address used once is folded into another instruction"},
		{"fold-constants", "drop-dead", "the moves of constants are dead after the constants " +
			"have been folded into their uses"},
		{"drop-dead", "fold-addresses", "an addition that dead code also reads is not folded " +
			"into an address"},
		{"fold-addresses", "merge-registers", "folding an addition into an address extends the " +
			"live range of the address"},
		{"merge-common", "merge-registers",
			"a result that replaces another result has a longer live range"},
		{"fold-constants", "merge-registers", "a register that is written twice has no constant " +
			"value"},
		{"drop-dead", "merge-registers",
			"dead values would occupy registers that other values can share"},
		{"drop-unreachable", "merge-registers", "unreachable code would occupy registers"},
		{"drop-unreachable", "drop-dead",
			"unreachable code reads registers, which keeps the instructions that compute them alive"},
	}
}

// Check returns an error if a pass occurs twice in list, or runs before a pass that it must run
// after.
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
