// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package agree compares the instruction table with ptxas. It generates probes, which are single
// instructions, from the table: legal instructions, legal instructions just before the first PTX
// version and target that support them, mutated instructions, and random combinations of
// modifiers. It gets the verdicts of the table and of ptxas on each probe, and reports the
// differences.
package agree
