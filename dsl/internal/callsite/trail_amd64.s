// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// func trail(pcs *stack, mark uintptr) int
//
// The chain of frame pointers is walked here, and not in Go, because a goroutine is not moved to another stack while it runs
// assembly.
TEXT ·trail(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ	pcs+0(FP), CX
	MOVQ	mark+8(FP), SI
	MOVQ	BP, AX
	LEAQ	256(CX), DI
next:
	TESTQ	AX, AX
	JEQ	done
	CMPQ	DI, CX
	JEQ	done
	MOVQ	8(AX), DX
	SUBQ	$8, DI
	MOVQ	DX, (DI)
	MOVQ	(AX), AX
	CMPQ	DX, SI
	JNE	next
done:
	SUBQ	CX, DI
	SHRQ	$3, DI
	MOVQ	DI, ret+16(FP)
	RET
