// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of the file that info describes, if the system permits
// that. Only the superuser can change owners; otherwise the file gets a new owner, which is
// better than an error.
func keepOwner(f *os.File, info fs.FileInfo) {
	mine, err := f.Stat()
	if err != nil {
		return
	}
	want, ok1 := info.Sys().(*syscall.Stat_t)
	have, ok2 := mine.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || want.Uid == have.Uid && want.Gid == have.Gid {
		return
	}
	if f.Chown(int(want.Uid), int(want.Gid)) != nil {
		_ = f.Chown(-1, int(want.Gid))
	}
}

// hardLinks returns the number of names of a file.
func hardLinks(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
