// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package form checks the form of a parsed PTX module: its header, names, types, declarations,
// functions and calls, and every instruction against the instruction set. Each statement is
// checked with the declarations that are visible to it; the execution of the program is not
// considered. ptxas accepts a module for which this package reports no error.
package form
