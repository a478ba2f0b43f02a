// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

#include "textflag.h"

// func trail(pcs *stack, mark uintptr) int
//
// The chain of frame pointers is walked here, and not in Go, because a goroutine is not moved to another stack while it runs
// assembly.
TEXT ·trail(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ	pcs+0(FP), DI
	MOVQ	mark+8(FP), SI
	MOVQ	BP, AX
	XORL	CX, CX
next:
	TESTQ	AX, AX
	JEQ	done
	CMPQ	CX, $32
	JGE	done
	MOVQ	8(AX), DX
	MOVQ	DX, (DI)(CX*8)
	INCQ	CX
	MOVQ	(AX), AX
	CMPQ	DX, SI
	JNE	next
done:
	MOVQ	CX, ret+16(FP)
	RET
