// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func lines(s string) string { return strings.ReplaceAll(s, " ", "\n") }

func TestUnified(t *testing.T) {
	tests := []struct{ name, a, b, want string }{
		{"equal", "a\n", "a\n", ""},
		{"change", lines("1 2 3 4 5 6 7 8 9 "), lines("1 2 3 4 five 6 7 8 9 "), `
diff x.orig x
--- x.orig
+++ x
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
`},
		{"two hunks", lines("a 1 2 3 4 5 6 7 b "), lines("A 1 2 3 4 5 6 7 B "), `
diff x.orig x
--- x.orig
+++ x
@@ -1,4 +1,4 @@
-a
+A
 1
 2
 3
@@ -6,4 +6,4 @@
 5
 6
 7
-b
+B
`},
		{"close changes share a hunk", lines("a 1 2 3 4 5 6 b "), lines("A 1 2 3 4 5 6 B "), `
diff x.orig x
--- x.orig
+++ x
@@ -1,8 +1,8 @@
-a
+A
 1
 2
 3
 4
 5
 6
-b
+B
`},
		{"from nothing", "", "a\n", `
diff x.orig x
--- x.orig
+++ x
@@ -0,0 +1,1 @@
+a
`},
		{"to nothing, no line end", "a\nb", "", `
diff x.orig x
--- x.orig
+++ x
@@ -1,2 +0,0 @@
-a
-b
\ No newline at end of file
`},
		{"line end", "a", "a\n", `
diff x.orig x
--- x.orig
+++ x
@@ -1,1 +1,1 @@
-a
\ No newline at end of file
+a
`},
		{"repeated lines within a change", lines("x { } y { } z "), lines("x { } Y { } z "), `
diff x.orig x
--- x.orig
+++ x
@@ -1,7 +1,7 @@
 x
 {
 }
-y
+Y
 {
 }
 z
`},
		{"nothing but repeated lines", lines("a b a b "), lines("b a b a "), `
diff x.orig x
--- x.orig
+++ x
@@ -1,4 +1,4 @@
-a
 b
 a
 b
+a
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Unified("x.orig", test.a, "x", test.b)
			if d := cmp.Diff(strings.TrimPrefix(test.want, "\n"), got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			apply(t, test.a, test.b, got)
		})
	}
}

func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		word := func() string { return fmt.Sprint(r.IntN(12)) }
		var a []string
		for range r.IntN(40) {
			a = append(a, word())
		}
		b := append([]string(nil), a...)
		for range r.IntN(6) {
			switch i := r.IntN(len(b) + 1); r.IntN(3) {
			case 0:
				b = append(b[:i:i], append([]string{word()}, b[i:]...)...)
			default:
				if i < len(b) {
					b = append(b[:i:i], b[i+1:]...)
				}
			}
		}
		end := []string{"", "\n"}[r.IntN(2)]
		x, y := strings.Join(a, "\n")+end, strings.Join(b, "\n")+"\n"
		apply(t, x, y, Unified("x", x, "y", y))
	}
}

// apply checks that a patched with diff is b.
func apply(t *testing.T, a, b, diff string) {
	t.Helper()
	if diff == "" {
		if a != b {
			t.Errorf("no difference between %q and %q", a, b)
		}
		return
	}
	src := split(a)
	var out []string
	at, last := 0, byte(0)
	for _, l := range split(diff)[3:] {
		switch l[0] {
		case '@':
			var from, n, to, m int
			if _, err := fmt.Sscanf(l, "@@ -%d,%d +%d,%d @@", &from, &n, &to, &m); err != nil {
				t.Fatal(err)
			}
			if n > 0 {
				from--
			}
			if m > 0 {
				to--
			}
			out = append(out, src[at:from]...)
			at = from
			if len(out) != to {
				t.Fatalf("hunk %q comes after %d lines of the new text", l, len(out))
			}
		case '\\':
			if last != '-' {
				out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
			}
		case '+':
			out = append(out, l[1:])
		default:
			if strings.TrimSuffix(src[at], "\n") != strings.TrimSuffix(l[1:], "\n") {
				t.Fatalf("line %d is %q, but %q in the diff", at+1, src[at], l)
			}
			if l[0] == ' ' {
				out = append(out, src[at])
			}
			at++
		}
		last = l[0]
	}
	out = append(out, src[at:]...)
	if got := strings.Join(out, ""); got != b {
		t.Errorf("%q patched with\n%s\nis %q, want %q", a, diff, got, b)
	}
}

func BenchmarkUnified(b *testing.B) {
	var x, y strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&x, "line %d of %d\n", i%5000, i)
		if i%7 == 0 {
			fmt.Fprintf(&y, "new\n")
		} else {
			fmt.Fprintf(&y, "line %d of %d\n", i%5000, i)
		}
	}
	b.SetBytes(int64(x.Len()))
	b.ReportAllocs()
	for b.Loop() {
		Unified("x", x.String(), "y", y.String())
	}
}
