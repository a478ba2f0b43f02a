// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package form

import "github.com/ptxdsl/ptxdsl/diag"

// Rules of what a kernel uses altogether, and of constants with a range.
var (
	ruleShared = diag.Rule{
		ID: "F516", Title: "too much static shared memory", Layer: "form", Severity: diag.Error,
		What: "A kernel that uses, with all it calls, more .shared variables than there may be: 48 KB, or all there is (227 KB, 99 KB on sm_12x) with a target such as sm_90a.",
		Why:  "The assembler rejects the module. Parse-only runs of the assembler do not see it.",
		Wrong: `
.entry k() { .shared .b8 a[300000]; ret; }
`,
		Right: `
.extern .shared .b8 a[];
.entry k() { ret; }
`,
		Fix:     "Take more than that as dynamic shared memory, given at the launch.",
		Section: "5.1.7 Shared State Space",
	}
	ruleGroups = diag.Rule{
		ID: "F640", Title: "two CTA groups in one kernel", Layer: "form", Severity: diag.Error,
		What: "tcgen05 instructions with .cta_group::1 and with .cta_group::2 in one kernel and the functions it calls.",
		Why:  "The assembler rejects the module. Parse-only runs of the assembler do not see it.",
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
		Fix:     "Use one granularity for the whole kernel.",
		Section: "9.7.16.5 Issue Granularity",
	}
	ruleFraction = diag.Rule{
		ID: "F327", Title: "fraction out of range", Layer: "form", Severity: diag.Error,
		What:    "createpolicy.fractional with a constant that is not above 0 and at most 1.",
		Why:     "The assembler rejects the module.",
		Wrong:   "createpolicy.fractional.L2::evict_first.b64 %rd1, 1.5;",
		Right:   "createpolicy.fractional.L2::evict_first.b64 %rd1, 0.5;",
		Fix:     "Give the share of the accesses that the first priority is for.",
		Section: "9.7.9.18 createpolicy",
	}
)
