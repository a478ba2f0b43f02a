// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package recordfile stores the results of a GPU in compressed files, which are part of the
// repository.
package recordfile

import (
	"bytes"
	"compress/flate"
	"encoding/gob"
	"fmt"
	"io"
	"os"
)

// Write writes a record, a struct that package gob can encode, to a file.
func Write(name string, record any) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(record); err != nil {
		return err
	}
	packed, err := Deflate(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(name, packed, 0o666)
}

// Read reads a file that Write wrote. record is a pointer to a struct of the same type.
func Read(name string, record any) error {
	packed, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := gob.NewDecoder(flate.NewReader(bytes.NewReader(packed))).Decode(record); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Deflate compresses bytes.
func Deflate(b []byte) ([]byte, error) {
	var to bytes.Buffer
	w, err := flate.NewWriter(&to, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	err = w.Close()
	return to.Bytes(), err
}

// Inflate returns the bytes that Deflate compressed.
func Inflate(packed []byte) ([]byte, error) {
	return io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
}
