// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package eval evaluates scalar and packed PTX arithmetic, one lane or one warp at a time. Integer
// and IEEE operations are exact; approximations are rounded from float64 and stay within the error
// bounds of the manual. It is pure: no memory, no machine, no state.
package eval
