// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Command diagram writes the diagrams of the documentation to a directory.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/ptxdsl/ptxdsl/internal/diagram"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: diagram FOLDER")
	}
	for _, f := range diagram.All() {
		if err := os.WriteFile(filepath.Join(os.Args[1], f.Name), []byte(f.SVG),
			0o644); err != nil {
			log.Fatal(err)
		}
	}
}
