// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/dsl"
	"github.com/ptxdsl/ptxdsl/golden"
)

func TestReduce(t *testing.T) {
	for name, build := range map[string]func(*dsl.Module){
		"reduce":       Build,
		"reduce_short": BuildShort,
	} {
		t.Run(name, func(t *testing.T) {
			m := dsl.New(name, "sm_80")
			build(m)
			golden.Clean(t, m)
			golden.Check(t, m)
		})
	}
}
