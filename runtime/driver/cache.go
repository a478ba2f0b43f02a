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

// A store is the place of one assembled module in the cache: a file that is named after everything that it was made from, and
// that begins with the sum of what follows. Files are written beside their place and renamed, so that processes that make the
// same one at once do not disturb each other, and nobody reads half of one. The cache is a help: what fails in it costs time, not
// the program.
type store struct {
	folder string // "" where nothing is kept
	path   string
}

// store is where the module of an image is kept.
func (c *Context) store(image device.Image, assembler string) store {
	if image.Cache == "" {
		return store{}
	}
	h := sha256.New()
	for _, part := range []string{"ptxdsl cubin 1", assembler, c.library.Version(), c.info.Target, c.info.Name, fmt.Sprint(image.Debug), image.PTX} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	name := hex.EncodeToString(h.Sum(nil))
	return store{image.Cache, filepath.Join(image.Cache, name[:2], name+".cubin")}
}

// load is the cubin, nil where there is none or it is damaged.
func (s store) load() []byte {
	if s.folder == "" {
		return nil
	}
	b, err := os.ReadFile(s.path)
	if err != nil || len(b) <= sha256.Size {
		return nil
	}
	sum, cubin := b[:sha256.Size], b[sha256.Size:]
	if have := sha256.Sum256(cubin); !bytes.Equal(have[:], sum) {
		s.drop()
		return nil
	}
	return cubin
}

// drop removes the cubin.
func (s store) drop() { _ = os.Remove(s.path) }

// save keeps a cubin.
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

// driverRelease is the release of the kernel module of the driver, which says more than the CUDA version.
func driverRelease() string {
	b, _ := os.ReadFile("/proc/driver/nvidia/version") // not there: the CUDA version must do
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return string(line)
}
