// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package main

import (
	"io/fs"
	"os"
)

// keepOwner does nothing where a new file in a folder belongs to whom the folder says.
func keepOwner(*os.File, fs.FileInfo) {}

// hardLinks returns how many names a file has: one, where the system does not say.
func hardLinks(fs.FileInfo) uint64 { return 1 }
