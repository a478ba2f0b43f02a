// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxdsl_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl"
	"github.com/ptxdsl/ptxdsl/passes/verify"
)

// exchange stores to shared memory and reads what another thread stored. Between the two, a barrier
// is missing.
const exchange = `.version 8.0
.target sm_90
.address_size 64
.visible .entry exchange(.param .u64 out)
.reqntid 128
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b32 s[128];
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, s;
	add.u32 %r4, %r3, %r2;
	st.shared.u32 [%r4], %r1;
	xor.b32 %r2, %r2, 256;
	add.u32 %r4, %r3, %r2;
	ld.shared.u32 %r1, [%r4];
	mul.wide.u32 %rd2, %r2, 1;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
`

func ExampleVerify() {
	r := ptxdsl.Verify("exchange.ptx", exchange, ptxdsl.Options{})
	for _, d := range r.Findings {
		fmt.Println(d.Place, d.Severity, d.Rule)
	}
	fmt.Println(r.Verdict())
	// Output:
	// exchange.ptx:18:2 error B8
	// error
}

func ExampleLoad() {
	m, findings := ptxdsl.Load("exchange.ptx", exchange)
	if m == nil {
		fmt.Println(findings.Err())
		return
	}
	for _, k := range ptxdsl.Stats(m) {
		fmt.Println(k.Func.Name, k.Threads, "threads,", k.Shared, "bytes of shared memory")
	}
	_, findings = ptxdsl.Load("wrong.ptx", strings.Replace(exchange, "xor.b32", "xor.f32", 1))
	fmt.Println(findings.Err())
	// Output:
	// exchange 128 threads, 512 bytes of shared memory
	// wrong.ptx:16:5: F203: xor has no modifier .f32; expected one of .b16 .b32 .b64 .pred
}

// TestVerify compares verdicts, and the summaries of texts that cannot be analyzed.
func TestVerify(t *testing.T) {
	const synchronized = "bar.sync 0;\n\txor.b32"
	right := strings.Replace(exchange, "xor.b32", synchronized, 1)
	wrong := strings.Replace(exchange, "xor.b32", "xor.f32", 1)
	for _, test := range []struct {
		name, text string
		options    ptxdsl.Options
		want       verify.Verdict
		summary    string
	}{
		{"race", exchange, ptxdsl.Options{}, verify.Error, "1 error; see ptxdsl explain B8"},
		{"other rules", exchange, ptxdsl.Options{Rules: map[string]bool{"M4": true}}, verify.Clean,
			"only the selected rules"},
		{"synchronized", right, ptxdsl.Options{}, verify.Incomplete,
			"no findings\n  checked: syntax, operands, versions and targets\n  checked: hazards of 1 kernel"},
		{"form error", wrong, ptxdsl.Options{}, verify.Error, "because the text has errors"},
		{"empty", "", ptxdsl.Options{}, verify.Error, "text has errors"},
	} {
		r := ptxdsl.Verify(test.name, test.text, test.options)
		if r.Verdict() != test.want || !strings.Contains(r.Summary(), test.summary) {
			t.Errorf("%s: %s, want %s and %q\n%s", test.name, r.Summary(), test.want, test.summary,
				r.Findings)
		}
	}
}

// TestFix applies a fix and compares the report on the fixed text.
func TestFix(t *testing.T) {
	wrong := strings.NewReplacer(".param .u64 out", ".param .f16x2 out", "xor.b32",
		"bar.sync 0;\n\txor.b32").Replace(exchange)
	text, r := ptxdsl.Fix("exchange.ptx", wrong, ptxdsl.Options{})
	if r.Fixed != 1 || !strings.Contains(r.Summary(), "1 fixed") ||
		!strings.Contains(text, ".param .b32 out") {
		t.Errorf("%s\n%s\n%s", r.Summary(), r.Findings, text)
	}
	if again, r := ptxdsl.Fix("exchange.ptx", text, ptxdsl.Options{}); again != text ||
		r.Fixed != 0 {
		t.Errorf("fixing again changes the text: %d fixes", r.Fixed)
	}
}
