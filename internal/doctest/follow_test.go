// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package doctest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A reader follows pages command by command, starting in an empty folder.
type reader struct {
	t      *testing.T
	home   string // the folder with the reader's files
	dir    string // working directory of the shell
	shared string // cache folders of the go command
	cached string // module cache
	proxy  string // GOPROXY: the module cache first, so that a second run needs no network
}

func newReader(t *testing.T) *reader {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, home: home, dir: home}
	r.cached, r.shared = goEnv(t, "GOMODCACHE"), goEnv(t, "GOCACHE")
	r.proxy = "file://" + filepath.ToSlash(r.cached) + "/cache/download," + goEnv(t, "GOPROXY")
	return r
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// TestTutorial follows the tutorial: it writes the files that the pages show, runs their commands
// and compares the output.
func TestTutorial(t *testing.T) {
	r := newReader(t)
	for _, name := range sorted(t, "docs/tutorial") {
		r.follow(name)
	}
}

// TestHowTo follows the how-to guides, in a module like the one the tutorial creates.
func TestHowTo(t *testing.T) {
	r := newReader(t)
	r.play("$ git clone -q https://github.com/ptxdsl/ptxdsl\n$ mkdir kernels\n$ cd kernels\n" +
		"$ go mod init example.com/kernels\n" +
		"$ go mod edit -replace github.com/ptxdsl/ptxdsl=../ptxdsl\n" +
		"$ go get -tool github.com/ptxdsl/ptxdsl/cmd/ptxdsl\n")
	base := r.dir
	for _, name := range sorted(t, "docs/howto") {
		r.dir = base
		r.follow(name)
	}
}

// sorted returns the pages of a folder, in order.
func sorted(t *testing.T, folder string) []string {
	t.Helper()
	var list []string
	for _, name := range pages(t) {
		if strings.HasPrefix(name, folder+"/") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// follow writes the files and runs the commands of a page.
func (r *reader) follow(name string) {
	r.t.Helper()
	text := read(r.t, name)
	p := parse(name, text)
	for i := range p.pieces {
		x := &p.pieces[i]
		switch {
		case x.code && x.marker == "file":
			file, _, _ := strings.Cut(x.args, " from ")
			x.text = made(r.t, name, *x)
			r.write(file, x.text)
		case x.code && x.marker == "run":
			x.text = r.play(x.text)
		}
	}
	settle(r.t, name, text, p.String())
}

// write writes a file in the reader's module.
func (r *reader) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// play runs the commands of a block and returns the block with their output.
func (r *reader) play(block string) string {
	r.t.Helper()
	var out strings.Builder
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			out.WriteString(line)
			out.WriteString(r.clean(r.shell(strings.TrimSpace(command))))
		}
	}
	return out.String()
}

// clone is not executed: the clone is a link to this repository.
const clone = "git clone -q https://github.com/ptxdsl/ptxdsl"

// shell runs a command and returns its output.
func (r *reader) shell(command string) string {
	r.t.Helper()
	if command == clone {
		here, err := filepath.Abs(root)
		if err == nil {
			err = os.Symlink(here, filepath.Join(r.dir, "ptxdsl"))
		}
		if err != nil {
			r.t.Fatal(err)
		}
		return ""
	}
	// The folder of this repository, instead of a link to it, lets the go command use the packages
	// that are compiled already.
	here, err := filepath.Abs(root)
	if err != nil {
		r.t.Fatal(err)
	}
	command = strings.ReplaceAll(command, "ptxdsl/ptxdsl=../ptxdsl", "ptxdsl/ptxdsl="+here)
	state := filepath.Join(r.home, ".pwd")
	cmd := exec.Command("bash", "-c", command+"\nstatus=$?\npwd > \"$STATE\"\nexit $status")
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(),
		"PWD="+r.dir, "STATE="+state, "GOFLAGS=", "GOWORK=off",
		"GOCACHE="+r.shared, "GOMODCACHE="+r.cached,
		"GOPROXY="+r.proxy, "GOSUMDB=off")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		r.t.Fatalf("%s: %v", command, err)
	}
	if dir, err := os.ReadFile(state); err == nil {
		r.dir = strings.TrimSpace(string(dir))
	}
	return out.String()
}

var (
	elapsed = regexp.MustCompile(`(ok\s+\S+\t|FAIL\t\S+\t)(\d+\.\d+s|\(cached\))`)
	took    = regexp.MustCompile(`\(\d+\.\d+s\)`)
	fetched = regexp.MustCompile(`(?m)^go: (downloading|finding) .*\n`)
)

// clean drops what differs from run to run.
func (r *reader) clean(text string) string {
	text = elapsed.ReplaceAllString(text, "${1}0.01s")
	text = fetched.ReplaceAllString(text, "")
	text = took.ReplaceAllString(text, "(0.00s)")
	return strings.ReplaceAll(text, r.home+"/", "")
}
