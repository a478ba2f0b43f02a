// Copyright 2026 The ptxdsl Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"strings"
	"testing"
)

func TestGoName(t *testing.T) {
	for word, want := range map[string]string{
		"mbarrier.arrive_drop.expect_tx":   "MbarrierArriveDropExpectTx",
		"tcgen05.fence::after_thread_sync": "Tcgen05FenceAfterThreadSync",
		".shared::cta":                     "SharedCTA",
		".f32":                             "F32",
		".bf16x2":                          "BF16x2",
		".e4m3x2":                          "E4M3x2",
		".ue8m0":                           "UE8M0",
		".m16n8k16":                        "M16N8K16",
		".2dms":                            "D2MS",
		".a1d":                             "A1D",
		".16x256b":                         "Shape16x256b",
		".sp::2:4":                         "Sp2Of4",
		".L2::128B":                        "L2Prefetch128",
		".kind::f8f6f4":                    "KindF8F6F4",
		".mbarrier::complete_tx::bytes":    "MbarrierCompleteTxBytes",
		".NaN":                             "NaN",
		".nan":                             "IsNaN",
		".x128":                            "X128",
		".warp::2::3":                      "", // two numbers would be adjacent
		".9to5":                            "",
	} {
		if got := GoName(word); got != want {
			t.Errorf("%s is %q, want %q", word, got, want)
		}
	}
}

func TestEmitOp(t *testing.T) {
	s := spec(t, small)
	files, err := s.EmitOp()
	if err != nil {
		t.Fatal(err)
	}
	text := string(files["zins_small.go"])
	for _, want := range []string{
		"// Foo starts the instruction foo: foo two values (PTX ISA 9.1, 9.7.1.1).\n",
		"//\tfoo{.sat}.type d, a, b\n",
		"//\tfoo.vec{.space}.v.type d, [a]{, p}\n",
		"//\tfoo.space.hint.type d, [a], p  // PTX 8.6 on sm_100a, or PTX 8.8 on the family of sm_100f\n",
		"//\t.type = .u32 .s32 .f16[7.0 sm_80+]\n",
		"// F16 adds .f16, one of .u32 .s32 .f16. It requires PTX 7.0 on sm_80 or later.\nfunc (i *Foo) F16() *Foo {",
		"//   - b: .type register or constant 0 to 7\n",
		"func (i *Foo) Do(d, a any, more ...any) {",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if want := `{name: "foo"},`; !strings.Contains(string(files["ztable.go"]), want) {
		t.Errorf("no %s in\n%s", want, files["ztable.go"])
	}
}

func TestFixed(t *testing.T) {
	s := spec(t, `family x "x"
ins a "a"
  form a{.opt}.sync.t.b64 >d:u32
    set .t = .x .y
  form a.sync.more.b64 >d:u32
ins b "b"
  form b.u32.t >d:u32
    set .t = .u32 .s32
`)
	words := func(name string) (out []string) {
		for _, m := range Fixed(s.Set(), name) {
			out = append(out, s.Mods[m])
		}
		return out
	}
	if got := strings.Join(words("a"), " "); got != ".sync .b64" {
		t.Errorf("fixed of a: %s", got)
	}
	// types keep their order, so a type alone has no fixed position
	if got := words("b"); got != nil {
		t.Errorf("fixed of b: %s", got)
	}
}

func TestEmitOpErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"family x \"x\"\nins a \"a\"\n form a.x_y >d:u32\n form a.xY >d:u32\n",
			"modifiers .x_y and .xY have one Go name, XY"},
		{"family x \"x\"\nins a \"a\"\n form a.shared::cta >d:u32\n form a.shared_cta >d:u32\n",
			"modifiers .shared::cta and .shared_cta have one Go name, SharedCTA"},
		{"family x \"x\"\nins a \"a\"\n form a.do >d:u32\n",
			"modifier .do needs a Go name of its own"},
		{"family x \"x\"\nins on \"on\"\n form on >d:u32\n",
			"instruction on needs a Go name of its own"},
	} {
		_, err := spec(t, test.text).EmitOp()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngives %v\nwant %q", test.text, err, test.want)
		}
	}
}
