// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile replaces the contents of a file. It writes a temporary file in the same directory
// and renames it, so that the name always refers to a complete text, old or new. Permissions, the
// owner and the target of a symbolic link are kept. A file that has changed since it was read
// (see info) is not modified. A file with several hard links is written in place, so that all its
// names still refer to one file.
func replaceFile(name string, info fs.FileInfo, text string) (err error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file, so it cannot be rewritten", name)
	}
	// opening for writing fails for a read-only file, which a rename would replace
	old, err := os.OpenFile(target, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer old.Close()
	if hardLinks(info) > 1 {
		return overwrite(name, old, info, text)
	}
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
	if isChanged(now, info) {
		if have, readErr := os.ReadFile(target); readErr == nil && string(have) == text {
			os.Remove(tmp.Name())
			return nil // the file has been rewritten through another name
		}
		return errChanged
	}
	return os.Rename(tmp.Name(), target)
}

var errChanged = errors.New("it was changed by another program in the meantime")

// isChanged reports whether a file has changed since it was read.
func isChanged(now, then fs.FileInfo) bool {
	return now.Size() != then.Size() || !now.ModTime().Equal(then.ModTime())
}

// overwrite writes new contents to an open file. Until the write is complete, it keeps a copy of
// the old contents beside the file.
func overwrite(name string, f *os.File, info fs.FileInfo, text string) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	old, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if isChanged(now, info) {
		if string(old) == text {
			return nil // the file has been rewritten through another name
		}
		return fmt.Errorf("%s: %w; the file is unchanged", name, errChanged)
	}
	target := f.Name()
	backup, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return fmt.Errorf("%s: cannot create a temporary file in the same directory: %w", name, err)
	}
	_, err = backup.Write(old)
	err = cmp.Or(err, backup.Sync())
	if err = cmp.Or(err, backup.Close()); err != nil {
		os.Remove(backup.Name())
		return fmt.Errorf("%s: %w; the file is unchanged", name, err)
	}
	if err := rewrite(f, text); err != nil {
		if rewrite(f, string(old)) != nil {
			return fmt.Errorf("%s: %w; its previous contents are in %s", name, err, backup.Name())
		}
		os.Remove(backup.Name())
		return fmt.Errorf("%s: %w; the file is unchanged", name, err)
	}
	return os.Remove(backup.Name())
}

// rewrite replaces the contents of an open file.
func rewrite(f *os.File, text string) error {
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(text))); err != nil {
		return err
	}
	return f.Sync()
}
