// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// Package blackwell is a model of what the PTX manual says that a multiprocessor of sm_100 or sm_120 computes, for tests: tensor maps and
// swizzles, descriptors of matrices and instructions, tensor memory, tcgen05, mma.sync with scale factors. It is a device for package runtime and
// runs the PTX that kernels are made of, so that what they leave in memory can be held against a reference.
// It is written from the manual's formulas and shares none with package dsl. Everything asynchronous is done at once: it judges where numbers lie, not
// how accesses are ordered. What it does not know is an error.
package blackwell
