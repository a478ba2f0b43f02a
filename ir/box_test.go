// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package ir

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBoxOf(t *testing.T) {
	for _, test := range []struct {
		note string
		doc  []string
		want *Box
	}{
		{"", nil, nil},
		{"// the input", []string{"// of the layer"}, nil},
		{"// ptxdsl:bytes 16384", nil, &Box{Bytes: 16384}},
		{"// ptxdsl:bytes -1", nil, nil},
		{"// ptxdsl:bytes many", nil, nil},
		{"", []string{"// ptxdsl:element 2 bytes"}, &Box{Element: 2}},
		{"// ptxdsl:element 2 ptxdsl:box 128x64", nil,
			&Box{Bytes: 16384, Element: 2, Sizes: []int64{128, 64}}},
		{"// ptxdsl:bytes 512 ptxdsl:box 4", nil, &Box{Bytes: 512, Sizes: []int64{4}}},
		{"// ptxdsl:box 0x64", nil, nil},
		{"// ptxdsl:box 1x1x1x1x1x1", nil, nil},
		{"// ptxdsl:box 99999999999999999999", nil, nil},
		{"// ptxdsl:bytes 128", []string{"// ptxdsl:element 4", "// ptxdsl:bytes 256"},
			&Box{Bytes: 256, Element: 4}},
	} {
		got := BoxOf(test.note, test.doc)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q, %q: -want +got\n%s", test.note, test.doc, diff)
		}
	}
	b := &Box{Bytes: 1536, Element: 4, Sizes: []int64{3, 128}}
	if diff := cmp.Diff(b, BoxOf(b.Comment(), nil)); diff != "" {
		t.Errorf("the comment of a box: -want +got\n%s", diff)
	}
}
