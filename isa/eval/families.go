// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package eval

import "github.com/ptxdsl/ptxdsl/isa"

// A builder returns the operation of an instruction, or nil if the builder does not support the
// types of the instruction.
type builder func(s *spec) *Op

// builders lists the builders for each kind: one for each group of types.
var builders = map[isa.Kind][]builder{
	isa.KindAdd:     {intSum, floatArithmetic, halfArithmetic, mixedArithmetic, microArithmetic},
	isa.KindSub:     {intSum, floatArithmetic, halfArithmetic, mixedArithmetic, microArithmetic},
	isa.KindMul:     {floatArithmetic, halfArithmetic, mixedArithmetic, microArithmetic},
	isa.KindFma:     {floatArithmetic, halfArithmetic, mixedArithmetic, microArithmetic},
	isa.KindMad:     {floatArithmetic},
	isa.KindAddc:    {intCarry},
	isa.KindSubc:    {intCarry},
	isa.KindMulLo:   {intProduct},
	isa.KindMulHi:   {intProduct},
	isa.KindMulWide: {wideProduct},
	isa.KindMadLo:   {intProduct},
	isa.KindMadHi:   {intProduct},
	isa.KindMadWide: {wideProduct},
	isa.KindMadcLo:  {intProduct},
	isa.KindMadcHi:  {intProduct},
	isa.KindMul24Lo: {intProduct24},
	isa.KindMul24Hi: {intProduct24},
	isa.KindMad24Lo: {intProduct24},
	isa.KindMad24Hi: {intProduct24},
	isa.KindClmadLo: {carryless},
	isa.KindClmadHi: {carryless},
	isa.KindSad:     {intSad},
	isa.KindDp4a:    {dot},
	isa.KindDp2aLo:  {dot},
	isa.KindDp2aHi:  {dot},

	isa.KindDiv:      {intQuotient, floatArithmetic, approximate},
	isa.KindDivFull:  {approximate},
	isa.KindRem:      {intQuotient},
	isa.KindRcp:      {floatArithmetic, approximate},
	isa.KindSqrt:     {floatArithmetic, approximate},
	isa.KindRsqrt:    {approximate},
	isa.KindSin:      {approximate},
	isa.KindCos:      {approximate},
	isa.KindLg2:      {approximate},
	isa.KindEx2:      {approximate},
	isa.KindTanh:     {approximate},
	isa.KindAbs:      {intSign, floatSign},
	isa.KindNeg:      {intSign, floatSign},
	isa.KindCopysign: {floatSign},
	isa.KindMin:      {intExtreme, floatExtremeOfTwo},
	isa.KindMax:      {intExtreme, floatExtremeOfTwo},
	isa.KindTestp:    {test},

	isa.KindSet:     {set},
	isa.KindSetp:    {setPredicate},
	isa.KindSelp:    {selectByPredicate},
	isa.KindSlct:    {selectBySign},
	isa.KindMov:     {move},
	isa.KindCvt:     {convert, convertPacked},
	isa.KindCvtPack: {pack},

	isa.KindAnd:   {logic},
	isa.KindOr:    {logic},
	isa.KindXor:   {logic},
	isa.KindNot:   {logic},
	isa.KindCnot:  {logic},
	isa.KindLop3:  {lop3},
	isa.KindPopc:  {bitCount},
	isa.KindClz:   {bitCount},
	isa.KindBrev:  {bitCount},
	isa.KindBfind: {bfind},
	isa.KindFns:   {fns},
	isa.KindBfe:   {bitField},
	isa.KindBfi:   {bitInsert},
	isa.KindSzext: {signZeroExtend},
	isa.KindBmsk:  {bitMask},
	isa.KindShfL:  {funnel},
	isa.KindShfR:  {funnel},
	isa.KindShl:   {shift},
	isa.KindShr:   {shift},
	isa.KindPrmt:  {permute},
}
