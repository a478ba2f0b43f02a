// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package schedule searches the orders in which threads and asynchronous operations can synchronize. A
// Recorder takes the synchronization of one launch of package emu; Search replays it in other orders,
// and finds those that hang, that let a wait pass on another phase, or that arrive too often. It assumes
// that the order does not change what a thread does: flags in memory are not followed.
package schedule
