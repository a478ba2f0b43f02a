// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"regexp"
	"strings"
)

// odd maps words to their Go names where the general rule gives no good name, because two numbers
// would be adjacent or a letter abbreviates a word.
var odd = map[string]string{
	".L1::32B":       "L1Prefetch32",
	".L2::64B":       "L2Prefetch64",
	".L2::128B":      "L2Prefetch128",
	".L2::256B":      "L2Prefetch256",
	".warpx2::01_23": "WarpX2Pairs01And23",
	".warpx2::02_13": "WarpX2Pairs02And13",
	".warpx4":        "WarpX4",
	".nan":           "IsNaN", // the comparison; .NaN is a modifier of min and max
	".num":           "IsNum",
	".2pi":           "Turns",
	".1d_buffer":     "D1Buffer",
	".b4e":           "B4e",
	".f4e":           "F4e",
}

// spelled maps parts of words to their spelling in Go names, such as CTA.
var spelled = map[string]string{
	"rn": "RN", "rz": "RZ", "rm": "RM", "rp": "RP", "rs": "RS", "rna": "RNA", "rni": "RNI",
	"rzi": "RZI", "rmi": "RMI", "rpi": "RPI",
	"ftz": "FTZ", "noftz": "NoFTZ", "satfinite": "SatFinite", "cta": "CTA", "ctaid": "CTAID",
	"gpu": "GPU", "oob": "OOB", "mmio": "MMIO",
	"ca": "CA", "cg": "CG", "cs": "CS", "cv": "CV", "lu": "LU", "wb": "WB", "wt": "WT", "nc": "NC",
	"cc": "CC",
	"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE",
	"equ": "EQU", "neu": "NEU", "ltu": "LTU", "leu": "LEU", "gtu": "GTU", "geu": "GEU",
	"ls": "LS", "hs": "HS", "sc": "SC", "cas": "CAS", "relu": "ReLU",
	"rc8": "RC8", "rc16": "RC16", "noinc": "NoInc", "noComplete": "NoComplete", "acube": "ACube",
	"xorsign": "XorSign",
}

var (
	sparsity  = regexp.MustCompile(`^\.sp::(\d+):(\d+)$`)
	dimension = regexp.MustCompile(`^(a?)(\d)d(ms)?$`)
	lanes     = regexp.MustCompile(`^\d+x\d+b`)
	tile      = regexp.MustCompile(`^m\d+n\d+(k\d+)?$`)
	product   = regexp.MustCompile(`^\.m\d+n\d+k\d+$`)
	numeric   = regexp.MustCompile(`^(bf|tf|ue|[bsuef])\d[a-z0-9]*$`)
)

// GoName returns the Go name of an instruction or a modifier: MbarrierTryWait for
// mbarrier.try_wait, SharedCTA for .shared::cta, M16N8K16 for .m16n8k16. It returns "" if two
// numbers would be adjacent.
func GoName(word string) string {
	if name, ok := odd[word]; ok {
		return name
	}
	if m := sparsity.FindStringSubmatch(word); m != nil {
		return "Sp" + m[1] + "Of" + m[2]
	}
	name := ""
	for part := range strings.FieldsFuncSeq(word,
		func(r rune) bool { return strings.ContainsRune(".:_", r) }) {
		next := partName(part)
		if name != "" && digit(name[len(name)-1]) && digit(next[0]) {
			return ""
		}
		name += next
	}
	if name != "" && digit(name[0]) {
		return ""
	}
	return name
}

func partName(part string) string {
	if s, ok := spelled[part]; ok {
		return s
	}
	if m := dimension.FindStringSubmatch(part); m != nil {
		if m[1] != "" {
			return "A" + m[2] + "D" + strings.ToUpper(m[3])
		}
		return "D" + m[2] + strings.ToUpper(m[3])
	}
	switch {
	case lanes.MatchString(part):
		return "Shape" + part
	case tile.MatchString(part):
		return strings.ToUpper(part)
	case numeric.MatchString(part): // the x between a type and a count stays lower case
		return strings.ReplaceAll(strings.ToUpper(part), "X", "x")
	}
	return strings.ToUpper(part[:1]) + part[1:]
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
