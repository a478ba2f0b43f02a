// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package code

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
)

// TestBuild builds the code of every table.
func TestBuild(t *testing.T) {
	for name, build := range map[string]func(*dsl.Module){
		"kernels": Kernels, "values": Values, "control": Control, "memory": Memory, "warps": Warps,
		"async": Async, "mma": MMA, "wgmma": WGMMA, "tcgen05": TCGEN05,
		"rotate": Rotate, "text": Text, "methods": Methods,
	} {
		target := "sm_90"
		switch name {
		case "wgmma":
			target = "sm_90a"
		case "tcgen05", "methods":
			target = "sm_100a"
		}
		m := dsl.New(name, target)
		build(m)
		if _, err := m.Text(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
