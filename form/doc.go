// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package form checks the form of a parsed PTX module: its header, names, types, declarations,
// functions and calls, and every instruction against the instruction set. It checks each
// statement against the declarations visible to it, not what happens when the program runs.
// The assembler accepts a module without errors from this package.
package form
