// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestEachKeepsOrder makes the first inputs wait for later ones, so that the later ones finish
// first.
func TestEachKeepsOrder(t *testing.T) {
	const n = 200
	inputs := func(yield func(input) bool) {
		for i := range n {
			if !yield(input{name: fmt.Sprint(i)}) {
				return
			}
		}
	}
	var got []string
	c := &call{stderr: &output{w: &bytes.Buffer{}}}
	each(c, inputs, "testing", func(in *input) string {
		if len(in.name) == 1 {
			runtime.Gosched()
		}
		return in.name
	}, func(name string) { got = append(got, name) })
	for i, name := range got {
		if name != fmt.Sprint(i) {
			t.Fatalf("result %d is %s", i, name)
		}
	}
	if len(got) != n {
		t.Errorf("%d results, want %d", len(got), n)
	}
}

func TestBudget(t *testing.T) {
	b := newBudget(100)
	if got := b.take(1000); got != 100 {
		t.Errorf("take(1000) of 100 = %d", got)
	}
	done := make(chan bool)
	go func() { b.take(1); done <- true }()
	select {
	case <-done:
		t.Error("took from an empty budget")
	default:
	}
	b.give(100)
	<-done
	if b.left != 99 {
		t.Errorf("%d left, want 99", b.left)
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&output{w: &b}, "testing")
	if p.tick != nil {
		t.Error("progress is shown although standard error is not a terminal")
	}
	p.show()
	p.clear()
	if b.Len() > 0 {
		t.Errorf("within the first second: %q", &b)
	}
	p.started, p.files, p.bytes = time.Now().Add(-2*time.Second), 3, 4_500_000
	p.show()
	p.clear()
	p.clear()
	if got, want := b.String(), "\r\x1b[Ktesting: 3 files, 4.5 MB, 2 s\r\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFullDisk(t *testing.T) {
	for _, args := range []string{"fmt", "isa -stats", "verify -sarif", "explain", "help",
		"version"} {
		var stderr strings.Builder
		code := run(strings.Fields(args), strings.NewReader(".version 8.0\n.target sm_90\n"),
			fullDisk{}, &stderr)
		if code != exitTrouble || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%s: exit %d, %q", args, code, &stderr)
		}
	}
}

// TestManyFiles formats and checks more files than are processed at a time.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	var names strings.Builder
	for i := range 300 {
		name := filepath.Join(dir, fmt.Sprintf("%03d.ptx", i))
		names.WriteString(name + "\n")
		if err := os.WriteFile(name, []byte(".version   8.0\n.target sm_90\n.address_size 64\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		args []string
		out  string
	}{
		{[]string{"fmt", "-l", dir}, names.String()},
		{[]string{"verify", dir}, ""},
		{[]string{"fmt", "-w", dir}, ""},
		{[]string{"fmt", "-l", dir}, ""},
	} {
		var stdout, stderr strings.Builder
		if code := run(step.args, nil, &stdout, &stderr); code != exitClean ||
			stdout.String() != step.out || stderr.String() != "" {
			t.Errorf("%q: exit %d, %q, %q", step.args, code, &stdout, &stderr)
		}
	}
}
