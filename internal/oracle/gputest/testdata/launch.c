// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

// What a loop in C takes to launch an empty kernel: the yardstick for launches from Go.
//
//	cc -O2 -o launch launch.c -ldl && ./launch
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int (*function)();

static void *library;

static function find(const char *name) {
	function f = (function)dlsym(library, name);
	if (!f) {
		fprintf(stderr, "no %s\n", name);
		exit(2);
	}
	return f;
}

static void check(int code, const char *what) {
	if (code) {
		fprintf(stderr, "%s: error %d\n", what, code);
		exit(1);
	}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static int order(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static const char *text = ".version 7.0\n.target sm_80\n.address_size 64\n"
	".visible .entry empty() .reqntid 32, 1, 1 { ret; }\n"
	".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) .reqntid 256, 1, 1 { ret; }\n";

int main(void) {
	enum { rounds = 15, burst = 500 };
	int device, round, i;
	void *context, *module, *empty, *add, *stream;
	double took[rounds], start;
	unsigned long long p = 0;
	unsigned n = 0;
	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	check(find("cuInit")(0), "cuInit");
	check(find("cuDeviceGet")(&device, 0), "cuDeviceGet");
	check(find("cuDevicePrimaryCtxRetain")(&context, device), "cuDevicePrimaryCtxRetain");
	check(find("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
	check(find("cuModuleLoadData")(&module, text), "cuModuleLoadData");
	check(find("cuModuleGetFunction")(&empty, module, "empty"), "cuModuleGetFunction");
	check(find("cuModuleGetFunction")(&add, module, "add"), "cuModuleGetFunction");
	check(find("cuStreamCreate")(&stream, 0), "cuStreamCreate");
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **) =
		(int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **))find("cuLaunchKernel");
	function wait = find("cuStreamSynchronize");
	void *args[] = {&p, &p, &p, &n};
	for (int arguments = 0; arguments < 2; arguments++) {
		for (round = 0; round < rounds; round++) {
			check(wait(stream), "cuStreamSynchronize");
			start = now();
			for (i = 0; i < burst; i++)
				check(arguments ? launch(add, 4, 1, 1, 256, 1, 1, 0, stream, args, 0) : launch(empty, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0), "cuLaunchKernel");
			took[round] = (now() - start) / burst;
		}
		qsort(took, rounds, sizeof *took, order);
		printf("C: %s %.2f us\n", arguments ? "with 4 arguments" : "empty", took[rounds / 2]);
	}
	for (round = 0; round < rounds; round++) {
		start = now();
		for (i = 0; i < 200; i++) {
			check(launch(empty, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0), "cuLaunchKernel");
			check(wait(stream), "cuStreamSynchronize");
		}
		took[round] = (now() - start) / 200;
	}
	qsort(took, rounds, sizeof *took, order);
	printf("C: launch and wait %.2f us\n", took[rounds / 2]);
	return 0;
}
