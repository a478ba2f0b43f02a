// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package emu

import (
	"github.com/ptxdsl/ptxdsl/isa"
)

// An entry specifies how to decode instructions of a kind.
type entry struct {
	make func(*decoder) (step, error)
	// whole is set if the instruction runs with all lanes of the fragment, and excludes lanes whose
	// guard is false itself. Otherwise, lanes whose guard is false branch around the instruction.
	whole bool
	// without are modifiers with which an instruction is not emulated.
	without []isa.Mod
}

// newEntries returns the decoders of all kinds except plain arithmetic on registers, which package
// eval performs.
func newEntries() map[isa.Kind]entry {
	kinds := map[isa.Kind]entry{
		isa.KindMov:  {make: move},
		isa.KindLd:   {make: load},
		isa.KindLdu:  {make: load},
		isa.KindSt:   {make: store},
		isa.KindAtom: {make: atomically},
		isa.KindRed:  {make: atomically},

		isa.KindBra:    {make: branch},
		isa.KindBrxIdx: {make: branchIndexed, whole: true},
		isa.KindCall:   {make: call, whole: true},
		isa.KindRet:    {make: leave},
		isa.KindExit:   {make: exit},
		isa.KindTrap:   {make: trap},
		isa.KindBrkpt:  {make: nothing},

		isa.KindBarrierSync:   {make: barrierStep, whole: true},
		isa.KindBarrierArrive: {make: barrierStep, whole: true},
		isa.KindBarrierRed:    {make: barrierStep, whole: true},
		isa.KindBarWarpSync:   {make: warpSync, whole: true},
		isa.KindShfl:          {make: shfl, whole: true},
		isa.KindVote:          {make: vote, whole: true},
		isa.KindMatch:         {make: match, whole: true},
		isa.KindRedux:         {make: redux, whole: true},
		isa.KindElect:         {make: elect, whole: true},
		isa.KindActivemask:    {make: activemask},
		isa.KindFence:         {make: fence},
		isa.KindFenceProxy:    {make: fence},

		isa.KindCvta:       {make: toGeneric, without: []isa.Mod{isa.ModU32}},
		isa.KindCvtaTo:     {make: fromGeneric, without: []isa.Mod{isa.ModU32}},
		isa.KindIsspacep:   {make: inSpace},
		isa.KindMapa:       {make: mapa},
		isa.KindGetctarank: {make: rankOf},

		isa.KindNanosleep:              {make: nanosleep},
		isa.KindPmevent:                {make: nothing},
		isa.KindTraceMark:              {make: nothing},
		isa.KindPrefetch:               {make: nothing},
		isa.KindPrefetchu:              {make: nothing},
		isa.KindGriddepcontrol:         {make: dependents},
		isa.KindCreatepolicyCvt:        {make: policy},
		isa.KindCreatepolicyFractional: {make: policy},
		isa.KindCreatepolicyRange:      {make: policy},
		isa.KindAlloca:                 {make: alloca},
		isa.KindStacksave:              {make: stackSave},
		isa.KindStackrestore:           {make: stackRestore},

		isa.KindMbarrierInit:               {make: mbarrierInit},
		isa.KindMbarrierInval:              {make: mbarrierInval},
		isa.KindMbarrierArrive:             {make: mbarrierArrive},
		isa.KindMbarrierArriveExpectTx:     {make: mbarrierArrive},
		isa.KindMbarrierArriveDrop:         {make: mbarrierArrive},
		isa.KindMbarrierArriveDropExpectTx: {make: mbarrierArrive},
		isa.KindMbarrierExpectTx:           {make: mbarrierArrive},
		isa.KindMbarrierCompleteTx:         {make: mbarrierArrive},
		isa.KindMbarrierTestWait:           {make: mbarrierWait, whole: true},
		isa.KindMbarrierTestWaitParity:     {make: mbarrierWait, whole: true},
		isa.KindMbarrierTryWait:            {make: mbarrierWait, whole: true},
		isa.KindMbarrierTryWaitParity:      {make: mbarrierWait, whole: true},
		isa.KindMbarrierCheckLayout:        {make: mbarrierLayout},
		isa.KindMbarrierPendingCount:       {make: mbarrierPending},
		isa.KindCpAsync:                    {make: cpAsync},
		isa.KindCpAsyncCommitGroup:         {make: commitGroup},
		isa.KindCpAsyncWaitGroup:           {make: waitGroup},
		isa.KindCpAsyncWaitAll:             {make: waitGroup},
		isa.KindCpAsyncMbarrierArrive:      {make: copiesArrive},
		isa.KindCpAsyncBulk:                {make: bulkCopy},
		isa.KindCpReduceAsyncBulk:          {make: bulkCopy},
		isa.KindCpAsyncBulkCommitGroup:     {make: commitGroup},
		isa.KindCpAsyncBulkWaitGroup:       {make: waitGroup},
		isa.KindCpAsyncBulkTensor:          {make: tensorCopy, without: tensorModes()},
		isa.KindCpReduceAsyncBulkTensor:    {make: tensorCopy, without: tensorModes()},
		isa.KindCpAsyncBulkPrefetchTensor:  {make: nothing},
		isa.KindMma:                        {make: mma, whole: true},
		isa.KindLdmatrix:                   {make: ldmatrix, whole: true},
		isa.KindStmatrix:                   {make: stmatrix, whole: true},
		isa.KindWmmaMma:                    {make: mma, whole: true},
		isa.KindWmmaLoadA:                  {make: wmmaLoad, whole: true},
		isa.KindWmmaLoadB:                  {make: wmmaLoad, whole: true},
		isa.KindWmmaLoadC:                  {make: wmmaLoad, whole: true},
		isa.KindWmmaStoreD:                 {make: wmmaStore, whole: true},
		isa.KindMovmatrix:                  {make: movmatrix, whole: true},
		isa.KindBarrierClusterArrive:       {make: clusterArrive, whole: true},
		isa.KindBarrierClusterWait:         {make: clusterWait, whole: true},
	}
	wgmmaKinds(kinds)
	tensorKinds(kinds)
	asyncKinds(kinds)
	videoKinds(kinds)
	return kinds
}

// tensorModes are the modes of tensor copies that are not emulated, because the PTX manual does not
// define how elements of the halo are counted.
func tensorModes() []isa.Mod {
	return []isa.Mod{isa.ModIm2colW, isa.ModIm2colW128, isa.ModIm2colNoOffsW}
}
