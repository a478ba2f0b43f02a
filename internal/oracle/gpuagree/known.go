// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gpuagree

import "strings"

// knownDifference returns the reason why a case is expected to differ on a GPU: ptxas accepts an
// instruction that the manual lacks, and replaces it by another instruction. It returns "" for
// other cases.
func knownDifference(id string) string {
	words := strings.Split(id, ".")
	last := words[len(words)-1]
	switch {
	case words[0] == "testp" && len(words) == 2:
		return "ptxas drops testp without a test: the predicate is never written"
	case words[0] == "fma" && strings.HasPrefix(last, "bf16") && words[1] != "rn":
		return "ptxas generates f16 instead of bf16 code for directed rounding: HADD2.F32, FFMA, F2FP.F16.F32"
	}
	return ""
}
