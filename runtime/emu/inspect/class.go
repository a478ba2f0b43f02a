// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// classes maps the first word of an instruction kind to its class. Kinds that are not listed are
// arithmetic.
var classes = map[isa.Head]string{
	isa.HeadLd: "memory", isa.HeadLdu: "memory", isa.HeadSt: "memory", isa.HeadAtom: "atomic",
	isa.HeadRed:      "atomic",
	isa.HeadMultimem: "memory", isa.HeadLdmatrix: "memory", isa.HeadStmatrix: "memory",
	isa.HeadPrefetch:  "memory",
	isa.HeadPrefetchu: "memory", isa.HeadApplypriority: "memory", isa.HeadDiscard: "memory",
	isa.HeadCreatepolicy: "memory",
	isa.HeadCp:           "asynchronous", isa.HeadClusterlaunchcontrol: "asynchronous",
	isa.HeadTensormap: "asynchronous",
	isa.HeadMma:       "tensor core", isa.HeadWmma: "tensor core", isa.HeadWgmma: "tensor core",
	isa.HeadTcgen05: "tensor core",
	isa.HeadBra:     "control", isa.HeadBrx: "control", isa.HeadCall: "control",
	isa.HeadRet:  "control",
	isa.HeadExit: "control",
	isa.HeadTrap: "control", isa.HeadBrkpt: "control", isa.HeadNanosleep: "control",
	isa.HeadGriddepcontrol: "control",
	isa.HeadSetmaxnreg:     "control",
	isa.HeadBarrier:        "synchronization", isa.HeadBar: "synchronization",
	isa.HeadMbarrier: "synchronization",
	isa.HeadFence:    "synchronization", isa.HeadElect: "warp", isa.HeadShfl: "warp",
	isa.HeadVote: "warp", isa.HeadMatch: "warp", isa.HeadRedux: "warp", isa.HeadActivemask: "warp",
	isa.HeadMovmatrix: "warp",
	isa.HeadMov:       "move", isa.HeadCvta: "move", isa.HeadMapa: "move",
	isa.HeadGetctarank: "move",
	isa.HeadIsspacep:   "move",
	isa.HeadPrmt:       "move", isa.HeadSelp: "compare", isa.HeadSet: "compare",
	isa.HeadSetp:  "compare",
	isa.HeadSlct:  "compare",
	isa.HeadTestp: "compare", isa.HeadCvt: "convert",
}

// classOf returns the class of an instruction in the statistics, such as "integer" or "tensor
// core".
func classOf(in *ir.Instr) string {
	if in.Form == nil {
		return "other"
	}
	if c := classes[in.Kind().Head()]; c != "" {
		return c
	}
	op := in.Form.Operation()
	switch op.Type().Class() {
	case isa.Float, isa.Half, isa.Packed:
		return "float"
	case isa.Pred:
		return "compare"
	}
	return "integer"
}

// multiplications returns the number of multiplications of a tensor-core instruction in one warp,
// or 0 if the number is unknown.
func multiplications(in *ir.Instr) int64 {
	if in.Form == nil {
		return 0
	}
	op := in.Form.Operation()
	for _, mod := range op.Mods() {
		if m, n, k := mod.Shape(); m > 0 {
			if op.Kind.Head() == isa.HeadWgmma {
				m /= 4 // a warpgroup is four warps
			}
			return int64(m * n * k)
		}
	}
	return 0
}
