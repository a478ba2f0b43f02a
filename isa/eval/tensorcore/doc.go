// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package tensorcore computes matrix products as tensor cores do: the fused and truncated sums of
// each architecture, fragments, sparsity, block scaling, and the descriptors of wgmma and tcgen05.
// It is pure: it reads registers and bytes that it is given and keeps no state.
package tensorcore
