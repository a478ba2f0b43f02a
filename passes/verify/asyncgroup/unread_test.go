// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package asyncgroup_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/asyncgroup"
)

// TestUnread checks that a copy to memory that nothing reads makes the verdict incomplete, and that
// a copy to memory that is read does not.
func TestUnread(t *testing.T) {
	for at, want := range map[string]bool{"%r1+512": true, "%r1": false} {
		text := ".version 8.6\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 tile[2048];\n.visible .entry k(.param .u64 p)\n.reqntid 32\n{\n" +
			".reg .b32 %r<6>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r0, %tid.x;\nshl.b32 %r0, %r0, 4;\nmov.u32 %r1, tile;\nadd.u32 %r1, %r1, %r0;\n" +
			"cp.async.cg.shared.global [" + at +
			"], [%rd1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.b32 %r2, [%r1];\nret;\n}\n"
		m, list := ptxdsl.Load("k.ptx", text)
		if len(list) > 0 {
			t.Fatal(list)
		}
		missed := verify.Run(m, []*verify.Analyzer{asyncgroup.Analyzer},
			verify.Options{}).Kernels[0].Missed
		if got := slices.ContainsFunc(missed,
			func(s string) bool { return strings.Contains(s, "never read") }); got != want {
			t.Errorf("a copy to [%s]: not checked: %q", at, missed)
		}
	}
}
