// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package isa

// Unread is the generated instruction set, of which nothing was read yet.
func Unread() *Set { return newStandard() }
