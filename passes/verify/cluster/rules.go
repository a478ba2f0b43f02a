// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "github.com/ptxdsl/ptxdsl/diag"

var (
	rulePhase = diag.Rule{
		ID: "C1", Layer: "cluster", Severity: diag.Error, Title: "arrivals and waits at the cluster's barrier that do not pair",
		What: "A second barrier.cluster.arrive with no wait between, or a wait with no arrival before it, on one way through the kernel.",
		Why:  "What happens is not defined: it hangs.",
		Wrong: `
barrier.cluster.arrive.aligned;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Right: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Fix:     "Arrive once, wait once, in each phase.",
		Section: "9.7.13.3 barrier.cluster",
	}
	ruleRelaxed = diag.Rule{
		ID: "C2", Layer: "cluster", Severity: diag.Error, Title: "a relaxed arrival behind what other blocks use",
		What: "barrier.cluster.arrive.relaxed behind mbarrier.init with no fence.mbarrier_init between, or behind a plain store that another block reads after its wait, with no fence of the cluster's scope between.",
		Why:  "A relaxed arrival orders nothing: another block may use the object before it is made, or read what was there before.",
		Wrong: `
mbarrier.init.shared.b64 [bars], 1;
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.aligned;
`,
		Right: `
mbarrier.init.shared.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.aligned;
`,
		Fix:     "Have fence.mbarrier_init.release.cluster before the arrival.",
		Section: "9.7.13.3 barrier.cluster",
	}
	ruleEntry = diag.Rule{
		ID: "C3", Layer: "cluster", Severity: diag.Error, Title: "another block's memory used before it has started",
		What: "An access through mapa, a copy to several blocks, or an arrival there, with no barrier of the cluster before it; or one that names a block which the cluster does not have.",
		Why:  "The other block may not be there yet: a fault, or an arrival that is lost.",
		Wrong: `
mov.u32 %r1, tile;
mapa.shared::cluster.u32 %r2, %r1, 1;
st.shared::cluster.b32 [%r2], %r1;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Right: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r1, tile;
mapa.shared::cluster.u32 %r2, %r1, 1;
st.shared::cluster.b32 [%r2], %r1;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Fix:     "Begin with barrier.cluster.arrive and .wait.",
		Gaps:    "Other ways to know that a block has started, such as an arrival of its own.",
		Section: "9.7.13.3 barrier.cluster",
	}
	ruleExit = diag.Rule{
		ID: "C4", Layer: "cluster", Severity: diag.Error, Title: "a block that leaves while others may use its memory",
		What: "A way out of the kernel behind the last access to another block's memory with no barrier of the cluster. For arrivals, counts of bytes and engines it is a review: a wait may have seen them to the end; so is a relaxed arrival behind stores and arrivals there. A commit that arrives at another block's object, where nobody learns of it before that block leaves, is a note, and the verdict incomplete.",
		Why:  "Shared memory of a block that has left belongs to the next: a fault, a hang, corruption.",
		Wrong: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r1, tile;
mapa.shared::cluster.u32 %r2, %r1, 1;
ld.shared::cluster.b32 %r3, [%r2];
`,
		Right: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r1, tile;
mapa.shared::cluster.u32 %r2, %r1, 1;
ld.shared::cluster.b32 %r3, [%r2];
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Fix:     "End with barrier.cluster.arrive and .wait, or with a wait for an arrival of every block that uses this one's memory.",
		Gaps:    "Drains by barrier objects are not followed across blocks.",
		Section: "9.7.13.3 barrier.cluster",
	}
)
