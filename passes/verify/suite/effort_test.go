// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestEffort verifies a module with many copies of one kernel. The default budget of the module
// does not suffice for all their paths. With more effort, each kernel is as clean as it is alone.
func TestEffort(t *testing.T) {
	text, err := os.ReadFile(
		"../../../examples/15_matmul_hopper/testdata/matmul_cluster.sm_90a.ptx")
	if err != nil {
		t.Fatal(err)
	}
	head, kernel, ok := strings.Cut(string(text), ".visible .entry matmul(")
	if !ok {
		t.Fatal("the kernel has another name")
	}
	var b strings.Builder
	b.WriteString(head)
	for i := range 32 {
		fmt.Fprintf(&b, ".visible .entry matmul_%d(%s", i, kernel)
	}
	m := module(t, "many.ptx", b.String())
	for _, c := range []struct {
		effort int
		clean  bool
	}{{0, false}, {1, false}, {16, true}} {
		clean := true
		for _, k := range suite.Run(m, verify.Options{Effort: c.effort}).Kernels {
			clean = clean && k.Verdict <= verify.Incomplete && len(k.Missed) == 0
		}
		if clean != c.clean {
			t.Errorf("with effort %d all are clean: %t, expected %t", c.effort, clean, c.clean)
		}
	}
}

// TestEffortOfOne verifies one kernel whose warps interact more than the default work limit can
// analyze.
func TestEffortOfOne(t *testing.T) {
	const name = "../../../examples/18_attention/testdata/blackwell_attention_bf16_128_causal.sm_100a.ptx"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m := module(t, name, string(text))
	for _, k := range suite.Run(m, verify.Options{Effort: 4}).Kernels {
		if k.Verdict > verify.Incomplete || len(k.Missed) > 0 {
			t.Errorf("%s is %s: %v", k.Kernel, k.Verdict, k.Missed)
		}
	}
}
