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

// versionOf returns the PTX version in the .version directive of a text.
func versionOf(text string) (version, bool) {
	return parse(regexp.MustCompile(`(?m)^\s*\.version\s+(\d+)\.(\d+)`), text)
}

// parse returns the two numbers that a regular expression matches in text.
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

// isOlder reports whether v is older than w.
func (v version) isOlder(w version) bool {
	return v.major < w.major || v.major == w.major && v.minor < w.minor
}

// Version returns the newest CUDA version that the driver supports, such as "13.0".
func (l *Library) Version() string {
	return fmt.Sprintf("%d.%d", l.version/1000, l.version%1000/10)
}

// ptx returns the newest PTX version that the driver supports.
func (l *Library) ptx() version {
	major, minor := l.version/1000, l.version%1000/10
	switch {
	case major == 12 && minor >= 6: // CUDA 12.6 has no new PTX version
		return version{8, minor - 1}
	case major == 12:
		return version{8, minor}
	}
	// CUDA 12.6 has no new PTX version
	return version{major - 4, minor}
}

// requiredCUDA returns the oldest CUDA version that supports v.
func (v version) requiredCUDA() string {
	if v.major == 8 && v.minor > 5 {
		return fmt.Sprintf("12.%d", v.minor+1)
	}
	return fmt.Sprintf("%d.%d", v.major+4, v.minor)
}

// isNewerThan reports whether v is newer than the versions that the driver supports.
func (v version) isNewerThan(l *Library) bool { return l.ptx().isOlder(v) }
