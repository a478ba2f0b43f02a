// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ptx is PTX text: scanner, syntax tree, parser, printer, [Format]. It reads whatever the
// real assembler can parse, and whatever merely looks like PTX: an unknown opcode, modifier or
// directive parses, prints and formats like any other. It judges syntax alone; names, types and
// forms are the form checker's business. Errors are collected, never returned one by one, and the
// tree of what could be read comes back with them.
package ptx
