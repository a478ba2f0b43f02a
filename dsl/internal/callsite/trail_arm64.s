// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// func trail(pcs *stack, mark uintptr) int
//
// The chain of frame pointers is walked here, and not in Go, because a goroutine is not moved to another stack while it runs
// assembly.
TEXT ·trail(SB), NOSPLIT|NOFRAME, $0-24
	MOVD	pcs+0(FP), R2
	MOVD	mark+8(FP), R4
	MOVD	R29, R1
	ADD	$256, R2, R0
next:
	CBZ	R1, done
	CMP	R2, R0
	BEQ	done
	MOVD	8(R1), R3
	MOVD.W	R3, -8(R0)
	MOVD	(R1), R1
	CMP	R4, R3
	BNE	next
done:
	SUB	R2, R0
	LSR	$3, R0
	MOVD	R0, ret+16(FP)
	RET
