// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"slices"
	"strings"
)

// A Cause is the kind of a fault. It is the part of the message, or of a note, that all faults of
// the kind have in common.
type Cause string

// The causes that a caller may need to distinguish.
const (
	CauseAllocRelinquished Cause = "tcgen05.alloc is executed after tcgen05.relinquish_alloc_permit"
	CauseArrivals          Cause = "arrive at an mbarrier whose phase expects only"
	CauseAssertion         Cause = ": assertion \""
	CauseBarrierThreads    Cause = "barrier expects"
	CauseBounds            Cause = "out of bounds"
	CauseClusterArrive     Cause = "second barrier.cluster.arrive"
	CauseClusterWait       Cause = "barrier.cluster.wait without a preceding barrier.cluster.arrive"
	CauseDealloc           Cause = "does not match an allocation"
	CauseExited            Cause = "which has exited"
	CauseFirstCoordinate   Cause = "bytes into a row, which is not a multiple of 16"
	CauseGlobalAddress     Cause = "at global address 0x"
	CauseHang              Cause = "kernel hangs"
	CauseMemberMask        Cause = "does not name the lane that runs the instruction"
	CauseMisaligned        Cause = "misaligned access"
	CauseNegativeStore     Cause = "tensor store starts at a negative coordinate"
	CauseNoComplete        Cause = "mbarrier arrival with .noComplete is the last one of its phase"
	CauseNoSpace           Cause = "which is in no state space"
	CauseNotEmulated       Cause = "not emulated"
	CauseNoDimensions      Cause = "tensor map has 0 dimensions"
	CauseNoTensorMap       Cause = "there is no tensor map at"
	CauseOtherLane         Cause = "shuffle reads from a lane that does not take part in it"
	CauseParity            Cause = "the wrong parity"
	CauseSharedAddress     Cause = "shared address 0x"
	CauseSpin              Cause = "repeats instructions without an effect"
	CauseTransactions      Cause = "mbarrier transaction count overflow"
	CauseTripCounts        Cause = "trip counts of the loops that arrive and wait differ"
	CauseVariable          Cause = "the end of variable"
	CauseWarpgroup         Cause = "all warps of a warpgroup must execute the same setmaxnreg"
	CauseUninitialized     Cause = "is used but never initialized"
	CauseUnset             Cause = "which was never written"
	CauseUnwritten         Cause = "memory that was never written"
)

// Has reports whether the message of the fault or one of its notes states the cause.
func (f *Fault) Has(c Cause) bool {
	return strings.Contains(f.Message, string(c)) ||
		slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, string(c)) })
}
