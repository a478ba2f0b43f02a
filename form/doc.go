// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package form checks the form of a parsed PTX module: its header, names, types, declarations,
// functions, calls, directives, and every instruction against the instruction set. It judges what
// one statement says in the light of the declarations it can see; what happens when the program
// runs is not its business. A module without errors here is one that the assembler accepts.
package form
