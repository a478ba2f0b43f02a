// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// func trail(pcs *stack, mark uintptr) int
//
// The chain of frame pointers is walked here, and not in Go, because a goroutine is not moved to another stack while it runs
// assembly.
TEXT ·trail(SB), NOSPLIT|NOFRAME, $0-24
	MOVD	pcs+0(FP), R0
	MOVD	mark+8(FP), R4
	MOVD	R29, R1
	MOVD	$0, R2
next:
	CBZ	R1, done
	CMP	$32, R2
	BGE	done
	MOVD	8(R1), R3
	MOVD.P	R3, 8(R0)
	ADD	$1, R2
	MOVD	(R1), R1
	CMP	R4, R3
	BNE	next
done:
	MOVD	R2, ret+16(FP)
	RET
