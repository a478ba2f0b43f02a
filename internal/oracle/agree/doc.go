// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package agree compares the instruction table with ptxas. It generates probes from the table:
// legal instructions, versions and targets on both sides of each gate, mutants and random
// combinations. It asks the table and ptxas about each probe, and reports the differences.
package agree
