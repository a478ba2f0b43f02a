// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ptxdsl/ptxdsl/runtime/device"
)

// A store is a cache entry for one assembled module: a file that is named by a hash of all inputs
// and starts with a checksum of its contents. Files are written under a temporary name and
// renamed, so that concurrent processes never read an incomplete file. A failure of the cache
// costs time but is not an error.
type store struct {
	folder string // "" if the cache is not used
	path   string
}

// store returns the cache entry of an assembled image. The assembler is identified by its file,
// size and date, because reading its version takes longer than loading a module.
func (c *Context) store(image device.Image, assembler string) store {
	if image.Cache == "" {
		return store{}
	}
	stamp := ""
	if info, err := os.Stat(assembler); err == nil {
		stamp = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	}
	h := sha256.New()
	parts := []string{"ptxdsl cubin 1", assembler, stamp, c.library.Version(), driverRelease(),
		c.info.Target, c.info.Name, fmt.Sprint(image.Debug), image.PTX}
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	name := hex.EncodeToString(h.Sum(nil))
	return store{image.Cache, filepath.Join(image.Cache, name[:2], name+".cubin")}
}

// load returns the cached cubin. ok is false if the entry is missing or damaged.
func (s store) load() (cubin []byte, ok bool) {
	if s.folder == "" {
		return nil, false
	}
	b, err := os.ReadFile(s.path)
	if err != nil {
		return nil, false
	}
	if len(b) > sha256.Size {
		sum := sha256.Sum256(b[sha256.Size:])
		if cubin, ok = bytes.CutPrefix(b, sum[:]); ok {
			return cubin, true
		}
	}
	s.drop()
	return nil, false
}

// drop removes the entry.
func (s store) drop() {
	if s.folder != "" {
		_ = os.Remove(s.path)
	}
}

// save stores a cubin in the entry.
func (s store) save(cubin []byte) {
	if s.folder == "" || os.MkdirAll(filepath.Dir(s.path), 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(s.path), "*.new")
	if err != nil {
		return
	}
	sum := sha256.Sum256(cubin)
	_, err = f.Write(append(sum[:], cubin...))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), s.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// driverRelease returns the release of the kernel driver, which is more precise than the CUDA
// version.
func driverRelease() string {
	// if the file is missing, the CUDA version is used
	b, _ := os.ReadFile("/proc/driver/nvidia/version")
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return string(line)
}
