// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// replace gives a file new contents: it writes them to a file beside it and renames that, so that
// at every moment the name stands for the old text or the new, whole. Permissions and owner stay, a
// link keeps pointing where it did, and a file that changed since it was read, as info tells, is
// left alone.
func replace(name string, info fs.FileInfo, text string) (err error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file, so it cannot be rewritten", name)
	}
	// A rename would succeed on a file that its owner made read-only.
	old, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	old.Close()
	tmp, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return fmt.Errorf("%s: cannot create a file in the same directory: %w", name, err)
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
			err = fmt.Errorf("%s: %w; the file is unchanged", name, err)
		}
	}()
	if _, err = tmp.WriteString(text); err != nil {
		return err
	}
	keepOwner(tmp, info)
	if err = tmp.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	now, err := os.Stat(target)
	if err != nil {
		return err
	}
	if now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return fmt.Errorf("it was changed by another program in the meantime")
	}
	return os.Rename(tmp.Name(), target)
}
