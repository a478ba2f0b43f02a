// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import (
	"io/fs"
	"os"
)

// keepOwner does nothing, because a new file gets its owner from the directory.
func keepOwner(*os.File, fs.FileInfo) {}

// hardLinks returns 1, because the number of hard links is not known on this system.
func hardLinks(fs.FileInfo) uint64 { return 1 }
