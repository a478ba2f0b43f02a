// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package diagram draws the diagrams of the documentation as SVG. The layouts are computed by the
// functions that kernels use: dsl.Tile.Offset, dsl.BlockScale.Offset and the fragment table of
// mma.sync.
package diagram

//go:generate go run ./cmd/diagram ../../docs/images

// A File is a diagram as SVG text and the name of its file.
type File struct{ Name, SVG string }

// All returns every diagram.
func All() []File {
	return []File{
		{"swizzle128.svg", Swizzle(128)},
		{"swizzle64.svg", Swizzle(64)},
		{"swizzle32.svg", Swizzle(32)},
		{"mma_m16n8k16.svg", MMA()},
		{"tmem.svg", TMEM()},
		{"scale_factors.svg", ScaleFactors()},
		{"hopper_roles.svg", HopperRoles()},
		{"pair.svg", Pair()},
		{"multicast.svg", Multicast()},
		{"ladder_v0.svg", LadderV0()},
		{"ladder_v1.svg", LadderV1()},
		{"ladder_v2.svg", LadderV2()},
		{"ladder_v3.svg", LadderV3()},
		{"ladder_v4.svg", LadderV4()},
	}
}
