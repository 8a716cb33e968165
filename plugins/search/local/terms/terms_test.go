package terms

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"Running tests":          "run test",
		"the user's settings":    "the user set",
		"don't":                  "dont",
		"Crème brûlée, naïve":    "creme brule naiv",
		"ＡＢＣ ﬁle":                "abc file",
		"Straße Ødegård Æsop":    "strass odegard aesop",
		"keep-alive":             "keepal:joined keep aliv",
		"snake_case_name":        "snakecasenam:joined snake case name",
		"getUserByEmail":         "getuserbyemail:name get:part user:part by:part email:part",
		"XMLHttpRequest":         "xmlhttprequest:name xml:part http:part request:part",
		"HTTP JSON v2":           "http json v2",
		"1.2.10":                 "1.2.10:name 1.2:part 1:part",
		"v3.4 of app.config":     "3.4:name 3:part of app config",
		"C# and C++, not c":      "c#:name c:part and c++:name c:part not c",
		"# Title, a#b, i++ x+++": "titl a b i++:name i:part x",
		"中文":                     "中:ideograph 中文:pair 文:ideograph",
		"監聽器":                    "监:ideograph 监听:pair 听:ideograph 听器:pair 器:ideograph",
		"用 Go 写":                 "用:ideograph go 写:ideograph",
		"ﾃｽﾄ":                    "テ:ideograph テス:pair ス:ideograph スト:pair ト:ideograph",
		"Привет мир":             "привет мир",
		"":                       "",
		"...":                    "",
	} {
		var got []string
		NewAnalyzer().Each(text, func(term Term) {
			kind := map[Kind]string{Word: "", Joined: ":joined", Name: ":name", Part: ":part", Ideograph: ":ideograph", Pair: ":pair"}[term.Kind]
			got = append(got, term.Text+kind)
		})
		wanted := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%q: got %v, want %v", text, got, wanted)
		}
	}
}

func TestNormalize(t *testing.T) {
	for text, want := range map[string]string{
		"At **any** depth!": " at any depth ", "naïve-façade": " naive facade ", "C# 与 C++": " c# 与 c++ ", "資料庫": " 资 料 库 ",
		"1.2.10": " 1 2 10 ", "": " ",
	} {
		if got := Normalize(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Whatever a text is, its terms lie in it, in whole letters, and equal texts have equal terms.
func TestTermsLieInTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{
			"running", "user's", "a-b", "x_y", "3.14", "v1.2", "getUser", "C#", "C++", "Über", "中文", "資料", "ひらがな", "한국어",
			"ภาษา", " ", "-", "_", ".", "'", "’", "#", "+", "\n", "\xff",
		}), rapid.String()), 0, 20).Draw(t, "parts")
		text := strings.Join(parts, "")
		last := -1
		words, ideographs := NewAnalyzer().Each(text, func(term Term) {
			if term.Start < 0 || term.End > len(text) || term.Start >= term.End || !utf8.RuneStart(text[term.Start]) {
				t.Fatalf("%+v of %q", term, text)
			}
			if term.Text == "" || term.Position < last-1 {
				t.Fatalf("%+v after position %d", term, last)
			}
			last = term.Position
		})
		if ideographs > words || last >= words {
			t.Fatalf("%d words, %d ideographs, last position %d", words, ideographs, last)
		}
		Normalize(text)
	})
}

// A finder yields the terms that it was made for as an analyzer does.
func TestFinderFindsAll(t *testing.T) {
	parts := []string{
		"running", "user's", "keep-alive", "x_y", "3.14", "v1.2", "getUser", "C#", "C++", "Über", "éclair", "中文", "資料", "中料",
		"ひらがな", "ﾃｽﾄ", "한국어", "ภาษา", "Привет", " ", "-", ".", "\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 20).Draw(t, "parts"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		all := map[string][]Term{}
		words, ideographs := NewAnalyzer().Each(text, func(term Term) { all[term.Text] = append(all[term.Text], term) })
		for _, wanted := range slices.Sorted(maps.Keys(all)) {
			var got []Term
			n, m := NewFinder([]string{wanted}).Each(text, func(term Term) {
				if term.Text == wanted {
					got = append(got, term)
				}
			})
			if !slices.Equal(got, all[wanted]) || n != words || m != ideographs {
				t.Fatalf("%q in %q: got %+v of %d, %d, want %+v of %d, %d", wanted, text, got, n, m, all[wanted], words, ideographs)
			}
		}
	})
}
