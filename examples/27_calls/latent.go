// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package calls

import (
	"errors"
	"fmt"

	"github.com/ptxdsl/ptxdsl/dsl"
	attention "github.com/ptxdsl/ptxdsl/examples/18_attention"
	"github.com/ptxdsl/ptxdsl/runtime"
)

// A Latent describes the sequences for multi-head latent attention (MLA), and the cache with their
// tokens, in pages.
type Latent struct {
	Heads      int
	Lengths    []int   // number of tokens of each sequence
	PageTokens int     // number of tokens per page, a multiple of 32
	Pages      [][]int // pages of each sequence, in order
	Scale      float32 // factor of the scores
}

// MLADecode decodes one token of each sequence. Q has a row of 576 elements for each head of each
// sequence: 512 that are multiplied by the latent vectors, and 64 with rotary embedding. The cache
// has such a row for each token. The latent vectors are also the values, so O has rows of 512
// elements. Elements are of runtime.F16 or runtime.BF16.
func MLADecode[E runtime.Element](l *Library, o, q, cache *runtime.Buffer[E], x Latent) error {
	a := attention.MLA{Type: typeOf[E](), PageTokens: x.PageTokens}
	switch {
	case !isHalf(a.Type):
		return fmt.Errorf("calls: MLADecode: %w", errHalf)
	case cache == nil:
		return errors.New("calls: MLADecode: the cache has no data")
	}
	lengths, table, most, err := x.table(cache.Len())
	if err == nil {
		rows := len(x.Lengths) * x.Heads
		err = errors.Join(holds("Q", q, rows*attention.LatentRow),
			holds("O", o, rows*attention.Latent))
	}
	if err != nil {
		return fmt.Errorf("calls: MLADecode: %w", err)
	}
	counts, e1 := runtime.Upload(l.device, lengths)
	pages, e2 := runtime.Upload(l.device, table)
	if err := errors.Join(e1, e2); err != nil {
		return err
	}
	blocks := (x.Heads + attention.MLAHeads - 1) / attention.MLAHeads
	err = l.run(plan{
		name: a.Name(), key: fmt.Sprintf("%s, pages of %d", a.Name(), x.PageTokens),
		build:  func(m *dsl.Module) { attention.BuildMLA(m, a) },
		config: runtime.Grid(blocks, len(x.Lengths)),
	}, map[string]any{"q": q, "cache": cache, "o": o, "lengths": counts, "pages": pages,
		"most": uint32(most), "heads": uint32(x.Heads), "scale": x.Scale})
	return errors.Join(err, l.device.Sync(), counts.Close(), pages.Close())
}

// table returns the lengths, and a row with the pages of each sequence, padded to most pages. The
// cache has the given number of elements.
func (x Latent) table(cache int) (lengths, pages []uint32, most int, err error) {
	switch {
	case x.Heads < 1 || x.PageTokens < 32 || x.PageTokens%32 != 0:
		return nil, nil, 0, fmt.Errorf(
			"%d heads and pages of %d tokens, expected at least one and a multiple of 32", x.Heads,
			x.PageTokens)
	case len(x.Lengths) == 0 || len(x.Lengths) != len(x.Pages):
		return nil, nil, 0,
			fmt.Errorf("%d lengths and lists of pages for %d sequences, expected as many",
				len(x.Lengths), len(x.Pages))
	}
	have := cache / (x.PageTokens * attention.LatentRow)
	for s, list := range x.Pages {
		most = max(most, len(list))
		if n := x.Lengths[s]; n < 1 || n > len(list)*x.PageTokens {
			return nil, nil, 0,
				fmt.Errorf("sequence %d has %d tokens, expected 1 to %d in its %d pages",
					s, n, len(list)*x.PageTokens, len(list))
		}
		for _, page := range list {
			if page < 0 || page >= have {
				return nil, nil, 0,
					fmt.Errorf("sequence %d has page %d, but the cache has %d pages", s,
						page, have)
			}
		}
	}
	pages = make([]uint32, len(x.Pages)*most)
	for s, list := range x.Pages {
		lengths = append(lengths, uint32(x.Lengths[s]))
		for i, page := range list {
			pages[s*most+i] = uint32(page)
		}
	}
	return lengths, pages, most, nil
}
