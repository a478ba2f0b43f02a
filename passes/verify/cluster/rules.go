// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "github.com/ptxdsl/ptxdsl/diag"

var (
	rulePhase = diag.Rule{
		ID: "C1", Layer: "cluster", Severity: diag.Error,
		Title: "barrier.cluster.arrive and barrier.cluster.wait do not pair",
		What: "Reports a second barrier.cluster.arrive without a wait in between, and a wait " +
			"without a preceding arrive, on some path through the kernel.",
		Why: "The behaviour is undefined; in practice the kernel hangs.",
		Wrong: `
barrier.cluster.arrive.aligned;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Right: `
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
`,
		Fix:     "Arrive once and wait once in each phase.",
		Section: "9.7.13.3 barrier.cluster",
	}
	ruleRelaxed = diag.Rule{
		ID: "C2", Layer: "cluster", Severity: diag.Error,
		Title: "barrier.cluster.arrive.relaxed does not publish earlier writes to other blocks",
		What: "Reports barrier.cluster.arrive.relaxed in two cases. The first is after " +
			"mbarrier.init without fence.mbarrier_init in between. The second is after a plain " +
			"store that another block reads after its wait, without a cluster-scope fence in " +
			"between.",
		Why: "A relaxed arrival orders nothing. Another block may use the mbarrier before it is " +
			"initialized, or read the value from before the store.",
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
		Fix:     "Put fence.mbarrier_init.release.cluster before the arrival.",
		Section: "9.7.13.3 barrier.cluster",
	}
	ruleEntry = diag.Rule{
		ID: "C3", Layer: "cluster", Severity: diag.Error,
		Title: "shared memory of another block accessed before that block has started",
		What: "Reports an access through mapa, a multicast copy, or a remote arrival that no " +
			"cluster barrier precedes. Also reports an access to a block rank that the cluster " +
			"does not have.",
		Why: "The other block may not have started yet. The access faults, or the arrival is lost.",
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
		Fix: "Start the kernel with barrier.cluster.arrive and barrier.cluster.wait.",
		Gaps: "Other proofs that a block has started, such as an arrival by that block, are not " +
			"recognized.",
		Section: "9.7.13.3 barrier.cluster",
	}
	ruleExit = diag.Rule{
		ID: "C4", Layer: "cluster", Severity: diag.Error,
		Title: "block exits while cluster peers may still access its shared memory",
		What: "Reports a path to the end of the kernel on which no cluster barrier follows the " +
			"last access to another block's shared memory. For remote arrivals, transaction " +
			"counts and asynchronous copies this is a review, because a wait may have covered " +
			"them. A relaxed cluster arrival after remote stores or arrivals is a review too. A " +
			"commit that arrives at another block's mbarrier which that block does not wait for " +
			"is a note, and the verdict is incomplete.",
		Why: "The shared memory of a block that has exited is given to the next block. The " +
			"access faults, hangs or corrupts data.",
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
		Fix: "End with barrier.cluster.arrive and barrier.cluster.wait, or wait for an arrival " +
			"from every block that accesses this block's memory.",
		Gaps:    "Draining through mbarriers is not followed across blocks.",
		Section: "9.7.13.3 barrier.cluster",
	}
)
