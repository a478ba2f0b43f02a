// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package dsl

// trail writes the return addresses of the calls that are under way, innermost first, as the frame pointers tell them. Calls that
// were inlined are not among them, so that it does not tell the lines of the author; but where it tells the same, they are the
// same, and it takes a fiftieth of the time.
//
//go:noescape
func trail(pcs *stack)

// quick says that trail works.
const quick = true
