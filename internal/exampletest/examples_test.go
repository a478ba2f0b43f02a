// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package exampletest checks that the examples work when copied, listed and run as the
// documentation says.
package exampletest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptxdsl/ptxdsl/form"
	"github.com/ptxdsl/ptxdsl/internal/ptxas"
	"github.com/ptxdsl/ptxdsl/ptx"
)

const root = "../.."

// examples returns the directories of the examples.
func examples(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(root + "/examples/*")
	if err != nil || len(list) < 22 {
		t.Fatal("examples are missing", list, err)
	}
	return list
}

// TestReadme compares the README's list of examples with the directories.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	for _, f := range examples(t) {
		if name := filepath.Base(f); !strings.Contains(readme,
			"| ["+name+"](examples/"+name+"/kernel.go) |") {
			t.Errorf("README: no row for %s", name)
		}
		for _, name := range []string{"kernel.go", "check.go", "main/main.go", "kernel_test.go"} {
			if _, err := os.Stat(filepath.Join(f, name)); err != nil {
				t.Errorf("%s has no %s", f, name)
			}
		}
	}
}

// TestRun checks that the test of each example runs its kernel for all its targets.
func TestRun(t *testing.T) {
	for _, f := range examples(t) {
		text, err := os.ReadFile(filepath.Join(f, "kernel_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "kerneltest.Run(t, Check, Targets...).Tight(t, 4)") {
			t.Errorf("%s does not run its check for all targets", f)
		}
	}
}

// TestForms checks that the golden files of the examples pass the form checks and are formatted.
func TestForms(t *testing.T) {
	files, err := filepath.Glob(root + "/examples/*/testdata/*.ptx")
	if err != nil || len(files) < 60 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, list := ptx.Parse(name, string(text))
		for _, d := range append(list, form.Check(f, form.Options{Whole: true})...) {
			t.Errorf("%s:%d: %s: %s", name, d.Place.Line, d.Rule, d.Message)
		}
		if formatted, _ := ptx.Format(name, string(text)); formatted != string(text) {
			t.Errorf("formatting changes %s", name)
		}
	}
}

// TestCopiedOut copies all examples into a module of their own, which uses ptxdsl through a replace
// directive. The go command must resolve all their imports, so none is of an internal package. The
// test and the program of one example must run.
func TestCopiedOut(t *testing.T) {
	home := t.TempDir()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range examples(t) {
		if err := os.CopyFS(filepath.Join(home, filepath.Base(f)), os.DirFS(f)); err != nil {
			t.Fatal(err)
		}
		// The copy of the program uses the copy of the package.
		main := filepath.Join(home, filepath.Base(f), "main", "main.go")
		text, err := os.ReadFile(main)
		if err != nil {
			t.Fatal(err)
		}
		own := strings.ReplaceAll(string(text), "github.com/ptxdsl/ptxdsl/examples/",
			"example.com/kernels/")
		if err := os.WriteFile(main, []byte(own), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tool, err := ptxas.Find() // the copy has no .tools folder
	if err != nil {
		t.Fatal(err)
	}
	cache := strings.TrimSpace(command(t, ".", "go", "env", "GOMODCACHE"))
	play := func(args ...string) string {
		t.Helper()
		return command(t, home, "env",
			append([]string{"GOWORK=off", "GOSUMDB=off", "GOFLAGS=-mod=mod",
				"PTXAS=" + tool.Path,
				"GOPROXY=file://" + filepath.ToSlash(cache) + "/cache/download," +
					"off"}, args...)...)
	}
	play("go", "mod", "init", "example.com/kernels")
	play("go", "mod", "edit", "-replace", "github.com/ptxdsl/ptxdsl="+here, "-require",
		"github.com/ptxdsl/ptxdsl@v0.0.0")
	play("go", "list", "-deps", "-test", "./...")
	play("go", "test", "./02_saxpy")
	if out := play("go", "run", "./02_saxpy/main", "-run", "-device",
		"emu:sm_90"); !strings.Contains(out, "agrees with its reference") {
		t.Errorf("the program prints\n%s", out)
	}
}

// command runs a command and returns its output.
func command(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = folder
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
