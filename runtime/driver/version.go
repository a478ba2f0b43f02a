// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"fmt"
	"regexp"
	"strconv"
)

// A version is a PTX version.
type version struct{ major, minor int }

// versionOf returns the PTX version of a text.
func versionOf(text string) (version, bool) {
	return parse(regexp.MustCompile(`(?m)^\s*\.version\s+(\d+)\.(\d+)`), text)
}

// parse returns the two numbers that a regular expression matches.
func parse(expression *regexp.Regexp, text string) (version, bool) {
	m := expression.FindStringSubmatch(text)
	if m == nil {
		return version{}, false
	}
	major, e1 := strconv.Atoi(m[1])
	minor, e2 := strconv.Atoi(m[2])
	return version{major, minor}, e1 == nil && e2 == nil
}

// String returns the version in PTX notation.
func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// less reports whether v is older than w.
func (v version) less(w version) bool {
	return v.major < w.major || v.major == w.major && v.minor < w.minor
}

// Version returns the newest CUDA version that the driver supports, such as "13.0".
func (l *Library) Version() string {
	return fmt.Sprintf("%d.%d", l.version/1000, l.version%1000/10)
}

// ptx returns the newest PTX version that the driver accepts.
func (l *Library) ptx() version {
	major, minor := l.version/1000, l.version%1000/10
	switch {
	case major == 12 && minor >= 6: // CUDA 12.6 has no new PTX version
		return version{8, minor - 1}
	case major == 12:
		return version{8, minor}
	}
	// 11.x accepts 7.x; since 13.0 the minor versions are equal again
	return version{major - 4, minor}
}

// needs returns the oldest CUDA version that accepts v.
func (v version) needs() string {
	if v.major == 8 && v.minor > 5 {
		return fmt.Sprintf("12.%d", v.minor+1)
	}
	return fmt.Sprintf("%d.%d", v.major+4, v.minor)
}

// beyond reports whether v is newer than the driver accepts.
func (v version) beyond(l *Library) bool { return l.ptx().less(v) }
