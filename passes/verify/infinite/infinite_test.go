// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package infinite_test

import (
	"testing"

	"github.com/ptxdsl/ptxdsl/internal/hazardtest"
	"github.com/ptxdsl/ptxdsl/passes/verify/infinite"
)

func TestFiles(t *testing.T) { hazardtest.Run(t, infinite.Analyzer) }
