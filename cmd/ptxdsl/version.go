// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/ptxdsl/ptxdsl/isa"
)

func versionCommand() *command {
	return &command{
		name:  "version",
		args:  "",
		short: "print the version of ptxdsl and of PTX",
		long: `
Version prints the versions of ptxdsl and Go, and the newest PTX version and
target in its instruction table.`,
		run: runVersion,
	}
}

func runVersion(c *call) int {
	if code, ok := c.parse(); !ok {
		return code
	}
	if c.flags.NArg() > 0 {
		return c.reportMisuse("it takes no arguments")
	}
	targets := isa.Targets
	fmt.Fprintf(c.stdout, "ptxdsl %s, %s %s/%s\nPTX %s to %s, %d targets to %s\n",
		version(), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		isa.Versions[0].Version, isa.Newest(), len(targets), targets[len(targets)-1].Name)
	return exitClean
}

// version returns the version of the module: a release, or the revision from which the program
// was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return cmp.Or(info.Main.Version, "(devel)")
}
