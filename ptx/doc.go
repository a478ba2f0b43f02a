// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package ptx handles PTX text: scanner, syntax tree, parser, printer and [Format]. It parses
// everything that ptxas can parse, and also unknown opcodes, modifiers and directives, which parse,
// print and format like any other. It checks only syntax; package form checks names, types and
// forms. Errors are collected and returned together with the tree of what could be parsed.
package ptx
