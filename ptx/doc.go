// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ptx processes PTX text: it has a scanner, the syntax tree, a parser, a printer and
// [Format]. It parses everything that ptxas can parse. Unknown opcodes, modifiers and directives
// are parsed, printed and formatted like known ones. The package checks only syntax; package form
// checks names, types and forms. Syntax errors are returned together with the tree of the parts
// that could be parsed.
package ptx
