// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package isa is the PTX instruction set as data: instructions, forms, modifiers, operands, gates,
// targets, special registers and directives, and the matcher that judges an instruction against
// them. The data stands in spec/*.isa and becomes ztable.bin, which is read instruction by
// instruction where one is asked for; the Go written by hand knows how to read the table, not what is in it. It does not parse PTX
// text.
package isa

//go:generate go run -tags isagen ../internal/gen/isagen
