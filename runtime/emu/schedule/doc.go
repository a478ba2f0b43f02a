// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule searches the orders in which threads and asynchronous operations can
// synchronize. A Recorder records the synchronization of one launch of package emu. Search replays
// it in other orders. It finds orders that hang, that let a wait pass on the wrong phase, or that
// arrive too often. It assumes that the order does not change what a thread does, so it does not
// model flags in memory.
package schedule
