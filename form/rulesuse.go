// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of the total resources of a kernel, and of constants with a range.
var (
	ruleShared = diag.Rule{
		ID: "F516", Title: "too much static shared memory", Layer: "form", Severity: diag.Error,
		What: "Reports a kernel that uses, including all functions it calls, more .shared variables than " +
			"the limit. The limit is 48 KB, or the whole shared memory (227 KB, 99 KB on sm_12x) " +
			"for a target such as sm_90a.",
		Why: "The assembler rejects the module. In parse-only mode, the assembler does not report this error.",
		Wrong: `
.entry k() { .shared .b8 a[300000]; ret; }
`,
		Right: `
.extern .shared .b8 a[];
.entry k() { ret; }
`,
		Fix:     "Use dynamic shared memory for more, with the size given at launch.",
		Section: "5.1.7 Shared State Space",
	}
	ruleGroups = diag.Rule{
		ID: "F640", Title: "both CTA groups in one kernel", Layer: "form", Severity: diag.Error,
		What: "Reports tcgen05 instructions with .cta_group::1 and with .cta_group::2 in one kernel and " +
			"the functions it calls.",
		Why: "The assembler rejects the module. In parse-only mode, the assembler does not report this error.",
		Wrong: `
.version 8.6
.target sm_100a
.address_size 64
.entry k() {
	.reg .b64 %rd<2>;
	tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd0];
	tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [%rd1];
	ret;
}
`,
		Right: `
.version 8.6
.target sm_100a
.address_size 64
.entry k() {
	.reg .b64 %rd<2>;
	tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [%rd0];
	tcgen05.commit.cta_group::2.mbarrier::arrive::one.b64 [%rd1];
	ret;
}
`,
		Fix:     "Use one CTA group in the whole kernel.",
		Section: "9.7.16.5 Issue Granularity",
	}
	ruleFraction = diag.Rule{
		ID: "F327", Title: "fraction out of range", Layer: "form", Severity: diag.Error,
		What:  "Reports a createpolicy.fractional whose constant is not greater than 0 and at most 1.",
		Why:   "The assembler rejects the module.",
		Wrong: "createpolicy.fractional.L2::evict_first.b64 %rd1, 1.5;",
		Right: "createpolicy.fractional.L2::evict_first.b64 %rd1, 0.5;",
		Fix: "Give the fraction of accesses that get the primary priority, above 0 and at " +
			"most 1.",
		Section: "9.7.9.18 createpolicy",
	}
)
