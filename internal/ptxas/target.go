// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ptxas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A Target is a target that ptxas accepts in a .target directive.
type Target struct {
	Name string // such as sm_90a
	// Arch is the -arch option for checking code for this target without generating code. It is
	// the target's own virtual architecture if there is one. Targets for which ptxas cannot
	// generate code (sm_10 to sm_72, and the renamed sm_101) use the first architecture that
	// accepts them.
	Arch string
	// Real is the -arch option for generating code for this target.
	Real string
}

// facts holds the properties that the binary reports about itself.
type facts struct {
	release  string
	versions []string // oldest first
	archs    []string // architectures, such as 75 and 90a, sorted by number and then by suffix
}

func (f *facts) newest() string { return f.versions[len(f.versions)-1] }

// Release returns the version of the binary, such as "13.5.37".
func (t *Tool) Release(ctx context.Context) (string, error) {
	f, err := t.readFacts(ctx)
	return f.release, err
}

// Versions returns the PTX versions that the binary accepts in a .version directive, oldest
// first.
func (t *Tool) Versions(ctx context.Context) ([]string, error) {
	f, err := t.readFacts(ctx)
	return f.versions, err
}

// NewestPTX returns the newest PTX version that the binary accepts.
func (t *Tool) NewestPTX(ctx context.Context) (string, error) {
	f, err := t.readFacts(ctx)
	if err != nil {
		return "", err
	}
	return f.newest(), nil
}

// Targets returns all targets that the binary accepts, sorted by number and then by suffix. The
// first call takes a run of ptxas with hundreds of files; use Target for a single name.
func (t *Tool) Targets(ctx context.Context) ([]Target, error) {
	t.listing.Do(func() { t.list, t.listErr = t.probeTargets(context.WithoutCancel(ctx)) })
	return t.list, t.listErr
}

// Target returns the target with a name, or an error if ptxas does not accept the name.
func (t *Tool) Target(ctx context.Context, name string) (Target, error) {
	target, ok, err := t.target(ctx, name)
	if err == nil && !ok {
		f, _ := t.readFacts(ctx)
		err = fmt.Errorf("ptxas %s knows no target %q", f.release, name)
	}
	return target, err
}

// target returns the target with a name, and caches the result. ok is false if ptxas does not
// accept the name.
func (t *Tool) target(ctx context.Context, name string) (Target, bool, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if known, asked := t.named[name]; asked {
		return known, known.Name != "", nil
	}
	f, err := t.readFacts(ctx)
	if err != nil {
		return Target{}, false, err
	}
	var found Target
	if targetText.MatchString(name) {
		if found, err = t.targetAt(ctx, &f, strings.TrimPrefix(name, "sm_")); err != nil {
			return Target{}, false, err
		}
	}
	if t.named == nil {
		t.named = make(map[string]Target)
	}
	t.named[name] = found
	return found, found.Name != "", nil
}

// Supports reports whether ptxas accepts a target with a PTX version.
func (t *Tool) Supports(ctx context.Context, version, target string) (bool, error) {
	f, err := t.readFacts(ctx)
	if err != nil {
		return false, err
	}
	at, ok, err := t.target(ctx, target)
	if err != nil || !ok || !slices.Contains(f.versions, version) {
		return false, err
	}
	key := pair{version, target}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if ok, known := t.pairs[key]; known {
		return ok, nil
	}
	// ptxas checks this at the end of a run and only for the last file, so each pair needs a
	// separate run
	ok, err = t.accepts(ctx, at.Arch, header(version, target))
	if err != nil {
		return false, err
	}
	if t.pairs == nil {
		t.pairs = make(map[pair]bool)
	}
	t.pairs[key] = ok
	return ok, nil
}

// Since returns the first PTX version that accepts a target.
func (t *Tool) Since(ctx context.Context, target string) (string, error) {
	versions, err := t.Versions(ctx)
	if err != nil {
		return "", err
	}
	i := sort.Search(len(versions), func(i int) bool {
		ok, e := t.Supports(ctx, versions[i], target)
		err = cmp.Or(err, e)
		return ok
	})
	if err == nil && i == len(versions) {
		err = fmt.Errorf("no .version takes .target %s", target)
	}
	if err != nil {
		return "", err
	}
	return versions[i], nil
}

type pair struct{ version, target string }

// header returns the smallest module for a target.
func header(version, target string) string {
	return ".version " + version + "\n.target " + target + "\n.entry k { ret; }\n"
}

// accepts reports whether ptxas accepts a module in parse-only mode.
func (t *Tool) accepts(ctx context.Context, arch, text string) (bool, error) {
	folder, done, err := scratch()
	if err != nil {
		return false, err
	}
	defer done()
	if err := os.WriteFile(filepath.Join(folder, "t"), []byte(text), 0o600); err != nil {
		return false, err
	}
	r, err := t.run(ctx, judgeTime, folder, "-arch", arch, "t", "-o", os.DevNull)
	return r.code == 0 && r.crash == "", err
}

func (t *Tool) readFacts(ctx context.Context) (facts, error) {
	t.once.Do(func() { t.facts, t.err = t.probe(context.WithoutCancel(ctx)) })
	return t.facts, t.err
}

var (
	releaseText = regexp.MustCompile(`release [\d.]+, V([\d.]+)`)
	archText    = regexp.MustCompile(`'compute_(\d+[a-z]?)'`)
	versionText = regexp.MustCompile(`^\d+\.\d+$`)
	targetText  = regexp.MustCompile(`^sm_[1-9]\d{1,2}[af]?$`)
)

// probe reads the help text of the binary. The help does not list the accepted targets and their
// versions, which are found by trial.
func (t *Tool) probe(ctx context.Context) (facts, error) {
	var f facts
	text, err := t.runOption(ctx, "--version")
	if err != nil {
		return f, err
	}
	if m := releaseText.FindStringSubmatch(text); m != nil {
		f.release = m[1]
	}
	if text, err = t.runOption(ctx, "--list-version"); err != nil {
		return f, err
	}
	for _, v := range strings.Fields(text) {
		if versionText.MatchString(v) {
			f.versions = append(f.versions, v)
		}
	}
	if text, err = t.runOption(ctx, "--help"); err != nil {
		return f, err
	}
	for _, m := range archText.FindAllStringSubmatch(text, -1) {
		f.archs = append(f.archs, m[1])
	}
	slices.SortFunc(f.archs, archOrder)
	if f.archs = slices.Compact(f.archs); len(f.versions) == 0 || len(f.archs) == 0 {
		return f, fmt.Errorf(
			"%s does not answer as ptxas does: no versions or architectures in its help", t.Path)
	}
	slices.SortFunc(f.versions, func(a, b string) int { return versionOrder(a) - versionOrder(b) })
	return f, nil
}

func (t *Tool) runOption(ctx context.Context, option string) (string, error) {
	r, err := t.run(ctx, judgeTime, "", option)
	if err != nil {
		return "", err
	}
	if r.code != 0 {
		return "", fmt.Errorf("%s %s: exit status %d", t.Path, option, r.code)
	}
	return r.output, nil
}

// probeTargets tries every possible name in a .target directive. A single run of ptxas can read
// all the files and reports an unknown name in each.
func (t *Tool) probeTargets(ctx context.Context) ([]Target, error) {
	f, err := t.readFacts(ctx)
	if err != nil {
		return nil, err
	}
	folder, done, err := scratch()
	if err != nil {
		return nil, err
	}
	defer done()
	var names []string
	for n := 10; n < 200; n++ {
		for _, suffix := range []string{"", "a", "f"} {
			names = append(names, strconv.Itoa(n)+suffix)
		}
	}
	args := []string{"-arch", "compute_" + f.archs[0], "-o", os.DevNull}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(header(f.newest(), "sm_"+name)),
			0o600); err != nil {
			return nil, err
		}
	}
	r, err := t.run(ctx, judgeTime, folder, append(args, names...)...)
	if err != nil {
		return nil, err
	}
	if r.crash != "" {
		return nil, errors.New("ptxas died while its targets were probed: " + r.crash)
	}
	refused := make(map[string]bool)
	for _, m := range r.messages {
		if m.Level == Fatal {
			refused[m.File] = true
		}
	}
	var list []Target
	for _, name := range names {
		if refused[name] {
			continue
		}
		target, err := t.targetAt(ctx, &f, name)
		if err != nil {
			return nil, err
		}
		if target.Name != "" {
			list = append(list, target)
		}
	}
	return list, nil
}

// targetAt returns the target with a name, and the architecture for checking it. If ptxas accepts
// the name but has no such architecture, it uses the next later architecture that accepts the
// target. For an unknown name it returns the zero Target.
func (t *Tool) targetAt(ctx context.Context, f *facts, name string) (Target, error) {
	at := func(arch string) Target {
		return Target{Name: "sm_" + name, Arch: "compute_" + arch, Real: "sm_" + arch}
	}
	if slices.Contains(f.archs, name) {
		return at(name), nil
	}
	number, suffix := splitArch(name)
	for _, arch := range f.archs {
		if n, s := splitArch(arch); s != suffix || n < number {
			continue
		}
		if ok, err := t.accepts(ctx, "compute_"+arch, header(f.newest(), "sm_"+name)); ok ||
			err != nil {
			return at(arch), err
		}
	}
	return Target{}, nil
}

// splitArch splits "90a" into 90 and "a".
func splitArch(name string) (number int, suffix string) {
	digits := strings.TrimRight(name, "af")
	number, _ = strconv.Atoi(digits)
	return number, name[len(digits):]
}

func archOrder(a, b string) int {
	m, s := splitArch(a)
	n, u := splitArch(b)
	if m != n {
		return m - n
	}
	return strings.Compare(s, u)
}

// versionOrder returns an integer that increases with the PTX version.
func versionOrder(v string) int {
	major, minor, _ := strings.Cut(v, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return a*100 + b
}
