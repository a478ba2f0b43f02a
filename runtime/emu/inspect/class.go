// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"fmt"
	"strings"

	"github.com/ptxdsl/ptxdsl/ir"
	"github.com/ptxdsl/ptxdsl/isa"
)

// classes maps the first word of an instruction kind to its class. Kinds that are not listed are
// arithmetic.
var classes = map[string]string{
	"ld": "memory", "ldu": "memory", "st": "memory", "atom": "atomic", "red": "atomic",
	"multimem": "memory", "ldmatrix": "memory", "stmatrix": "memory", "prefetch": "memory",
	"prefetchu": "memory", "applypriority": "memory", "discard": "memory", "createpolicy": "memory",
	"cp": "asynchronous", "clusterlaunchcontrol": "asynchronous", "tensormap": "asynchronous",
	"mma": "tensor core", "wmma": "tensor core", "wgmma": "tensor core", "tcgen05": "tensor core",
	"bra": "control", "brx": "control", "call": "control", "ret": "control", "exit": "control",
	"trap": "control", "brkpt": "control", "nanosleep": "control", "griddepcontrol": "control",
	"setmaxnreg": "control",
	"barrier":    "synchronization", "bar": "synchronization", "mbarrier": "synchronization",
	"fence": "synchronization", "membar": "synchronization", "elect": "warp", "shfl": "warp",
	"vote": "warp", "match": "warp", "redux": "warp", "activemask": "warp", "movmatrix": "warp",
	"mov": "move", "cvta": "move", "mapa": "move", "getctarank": "move", "isspacep": "move",
	"prmt": "move", "selp": "compare", "set": "compare", "setp": "compare", "slct": "compare",
	"testp": "compare", "cvt": "convert",
}

// classOf returns the class of an instruction.
func classOf(in *ir.Instr) string {
	if in.Form == nil {
		return "other"
	}
	head, _, _ := strings.Cut(in.Form.Form.Kind.String(), ".")
	if c := classes[head]; c != "" {
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

// multiplications returns the multiplications of a tensor-core instruction that one warp runs, or 0
// if they are unknown.
func multiplications(in *ir.Instr) int64 {
	if in.Form == nil {
		return 0
	}
	op := in.Form.Operation()
	head, _, _ := strings.Cut(op.Kind.String(), ".")
	for _, mod := range op.Mods() {
		var m, n, k int64
		if _, err := fmt.Sscanf(mod.String(), ".m%dn%dk%d", &m, &n, &k); err == nil {
			if head == "wgmma" {
				m /= 4 // a warpgroup is four warps
			}
			return m * n * k
		}
	}
	return 0
}
