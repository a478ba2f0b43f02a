// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

// phaseState is the state of an mbarrier.
type phaseState struct{}

// asyncQueue is the asynchronous operations of a cluster that are in flight.
type asyncQueue struct{ fault *Fault }

func (q *asyncQueue) advance(*cluster)       {}
func (q *asyncQueue) complete(*cluster) bool { return false }
func (q *asyncQueue) empty() bool            { return true }
