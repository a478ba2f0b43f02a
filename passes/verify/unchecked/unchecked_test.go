// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package unchecked_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/passes/verify"
	"github.com/ptxdsl/ptxdsl/passes/verify/suite"
)

// TestUnchecked checks that hazards that no analyzer decides are named, and that the verdict is
// then incomplete.
func TestUnchecked(t *testing.T) {
	const (
		global = "order of global-memory accesses between threads and blocks"
		shared = "bounds and initialization of shared memory, and lanes that store to one address"
	)
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"reads only", "ld.global.u32 %r1, [%rd1];", nil},
		{"local store", ".local .b32 l; st.local.u32 [l], %r1;", nil},
		{"global store", "st.global.u32 [%rd2], %r1;", []string{global}},
		{"generic store", "st.u32 [%rd2], %r1;", []string{global}},
		{"atomic", "red.global.add.u32 [%rd1], %r1;", []string{global}},
		{"bulk store",
			"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 16;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;",
			[]string{shared, global}},
		{"shared", "ld.shared.u32 %r1, [s];", []string{shared}},
		{"volatile", "ld.volatile.shared.u32 %r1, [s];",
			[]string{shared, "volatile accesses of shared memory"}},
		{"generic volatile", "cvta.shared.u64 %rd1, s;\nld.volatile.u32 %r1, [%rd1];",
			[]string{shared, "volatile accesses of shared memory", global}},
		{"flag", "ld.acquire.gpu.global.u32 %r1, [%rd1];", []string{global}},
		{"polled flag", "ld.volatile.global.u32 %r1, [%rd1];", []string{global}},
		{"acquire", "ld.acquire.cta.shared.u32 %r1, [s];",
			[]string{shared, "ordering by relaxed, acquire and release accesses to shared memory"}},
		{"copy",
			"mov.u32 %r2, s;\nmad.lo.u32 %r2, %r1, 8, %r2;\ncp.async.ca.shared.global [%r2], [%rd1], 8;\ncp.async.wait_all;\nld.shared.u32 %r1, [%r2];",
			[]string{shared}},
		{"surface", "sust.b.1d.b32.trap [%rd1, {%r1}], %r1;", []string{global}},
		{
			"elect under a loaded condition",
			"ld.global.u32 %r1, [%rd2];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nelect.sync _|%p1, -1;\nL:",
			[]string{"member masks of warp-wide instructions under data-dependent branches"},
		},
		{
			"bar.warp under a loaded condition",
			"ld.global.u32 %r1, [%rd2];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nbar.warp.sync -1;\nL:",
			[]string{"member masks of warp-wide instructions under data-dependent branches"},
		},
		{"shuffle of all lanes", "shfl.sync.idx.b32 %r1, %r1, 0, 31, -1;", nil},
		{
			"shuffle under a loaded condition",
			"ld.global.u32 %r1, [%rd2];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nshfl.sync.idx.b32 %r1, %r1, 0, 31, -1;\nL:",
			[]string{"member masks of warp-wide instructions under data-dependent branches"},
		},
		{
			"guarded vote",
			"ld.global.u32 %r1, [%rd2];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 vote.sync.ballot.b32 %r1, %p1, -1;",
			[]string{"member masks of warp-wide instructions under data-dependent branches"},
		},
	} {
		text := ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 s[1024];\n" +
			".visible .entry k(.param .u64 x)\n.reqntid 128\n{\n.reg .pred %p<2>;\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n" +
			"ld.param.u64 %rd1, [x];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd2, %rd1;\n" + c.body + "\nret;\n}\n"
		m, list := ptxdsl.Load(c.name, text)
		if len(list) > 0 {
			t.Fatalf("%s: %v", c.name, list)
		}
		k := suite.Run(m, verify.Options{}).Kernels[0]
		if d := cmp.Diff(c.want, k.Unchecked); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if k.Verdict == verify.Clean && len(c.want) > 0 || k.Verdict > verify.Incomplete {
			t.Errorf("%s is %s: %s", c.name, k.Verdict, strings.Join(k.Missed, "; "))
		}
	}
}
