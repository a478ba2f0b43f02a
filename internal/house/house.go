// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package house lists which packages may import which. Its test compares the list with the imports.
// Tests may import anything. The path "." is the root package.
package house

import "strings"

// Anything allows every package of this project.
const Anything = "*"

// A Room is a directory of packages with the imports that they may have: directories of this
// project, and other modules.
type Room struct {
	Path   string // path from the root of the module; includes packages below it
	Ours   string // paths, separated by spaces
	Others string // module paths, separated by spaces
}

// Rooms returns the table of allowed imports. If several rooms contain a package, the innermost one
// applies.
func Rooms() []Room {
	const (
		cmp        = "github.com/google/go-cmp"
		jennifer   = "github.com/dave/jennifer"
		participle = "github.com/alecthomas/participle/v2"
	)
	return []Room{
		{"diag", "", ""},
		{"isa", "diag internal/slab", ""},
		{"isa/eval", "isa", ""},
		{"ptx", "diag isa internal/slab internal/layout", participle},
		{"form", "diag isa ptx", ""},
		{"ir", "diag isa", ""},
		// form: it evaluates constant expressions
		{"lift", "diag isa ptx form ir internal/slab", ""},
		{"lower", "diag isa ptx ir internal/layout", ""},
		{"passes", "diag isa ir passes/analysis", ""},
		{"passes/analysis", "diag isa ir internal/slab", ""},
		{"passes/verify", "diag isa ir passes passes/analysis", ""},
		{".", "diag isa ptx form ir lift passes passes/verify", ""},
		{"dsl", "diag isa ir passes passes/verify lower internal/slab", ""},
		{"dsl/op", "dsl isa", ""},
		// ptx: kernel parameters
		{"runtime", "diag ptx runtime/device runtime/driver runtime/emu", ""},
		{"runtime/device", "diag", ""},
		{"runtime/driver", "diag runtime/device internal/ptxas", "github.com/ebitengine/purego"},
		{"runtime/kerneltest", "dsl isa runtime", ""}, // isa: names of types
		{"runtime/kernelcmd", "dsl isa runtime runtime/kerneltest", ""},
		{"runtime/emu", ". diag isa isa/eval ptx lift ir passes/analysis runtime/device passes", ""},
		{"golden", "diag ptx internal/diff internal/ptxas", cmp},
		{"examples", "dsl dsl/op runtime runtime/kerneltest runtime/kernelcmd golden isa", ""}, // isa: names of targets and types
		{"bench", "dsl isa runtime runtime/kerneltest examples runtime/emu", "github.com/ebitengine/purego"},
		{"cmd/ptxdsl", Anything, ""},

		{"docs", "dsl dsl/op runtime runtime/kerneltest golden isa runtime/emu examples", ""}, // listings: public packages only

		{"internal/agree", Anything, ""},
		{"internal/cleanups", ". form ir lift lower passes ptx internal/ptxas internal/roundtrip", ""},
		{"internal/cleanups/cmd", Anything, ""},
		{"internal/corpus", "", ""},
		{"internal/oracle", Anything, ""},
		{"internal/diagram", "dsl isa", ""},
		{"internal/diff", "", ""},
		{"internal/doctest", "", ""},
		{"internal/emutest", "runtime/device runtime/emu", ""},
		{"internal/exampletest", "", ""},
		{"internal/fakecuda", "runtime/driver", ""},
		{"internal/filetest", "diag ptx", cmp},
		{"internal/gen", "isa internal/notation", jennifer + " " + participle},
		{"internal/gputest", ". dsl isa runtime runtime/kerneltest examples passes ptx lift lower", ""},
		{"internal/hazardtest", ". diag passes/verify internal/filetest", ""},
		{"internal/hostile", "", ""},
		{"internal/house", "", ""},
		{"internal/layout", "", ""},
		{"internal/npy", "", ""},
		{"internal/ptxas", "diag", ""},
		{"internal/notation", "isa", ""},
		{"internal/slab", "", ""},
		{"internal/registers", ". passes internal/ptxas internal/roundtrip", ""},
		{"internal/registers/cmd", Anything, ""},
		{"internal/roundtrip", "diag internal/ptxas", ""},
		{"internal/roundtrip/cmd", Anything, ""},
	}
}

// Of returns the room of a package, given its path from the root of the module.
func Of(rooms []Room, path string) (room Room, ok bool) {
	for _, r := range rooms {
		if within(path, r.Path) && len(r.Path) >= len(room.Path) {
			room, ok = r, true
		}
	}
	return room, ok
}

// within reports whether path is folder or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// May reports whether r's packages may import a package of this project. Packages of a room may
// import each other. A nested room may be imported only if it is listed, or a room around both is.
func (r Room) May(rooms []Room, path string) bool {
	room, _ := Of(rooms, path)
	if room.Path == r.Path || r.Ours == Anything {
		return true
	}
	for name := range strings.FieldsSeq(r.Ours) {
		if name == room.Path {
			return true
		}
	}
	return false
}

// MayUse reports whether r's packages may import a package of another module.
func (r Room) MayUse(path string) bool {
	for name := range strings.FieldsSeq(r.Others) {
		if within(path, name) {
			return true
		}
	}
	return false
}
