// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package dsl

// Instructions holds a method for every instruction of PTX. A Kernel has them all.
type Instructions struct{ k *Kernel }
