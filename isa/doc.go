// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package isa describes the PTX instruction set as data: instructions, forms, modifiers, operands,
// gates, targets, special registers and directives. Its matcher checks an instruction against them.
// The data is written in spec/*.isa and compiled into ztable.bin, which is decoded one instruction
// at a time on demand. The hand-written Go code can read the table, but does not depend on its
// contents. The package does not parse PTX text.
package isa

//go:generate go run -tags isagen ../internal/gen/isagen
