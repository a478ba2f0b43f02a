// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package agree holds the instruction table against the real assembler: it makes probes from the
// table (legal instructions, gates from both sides, mutants, random combinations), asks the table
// and ptxas about each, and reports where the two differ.
package agree
