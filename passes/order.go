// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package passes

import "fmt"

// An Order says that, of two passes that both run, First comes before Then.
type Order struct{ First, Then, Why string }

// Ordering is what must be heeded when passes are put into a list.
func Ordering() []Order {
	return []Order{
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
