package local

import (
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	regexpfilter "github.com/blevesearch/bleve/v2/analysis/char/regexp"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	unicodetokenizer "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"
)

// The analyzers make words of a text: stems of English ones, ideographs, and pairs of neighbouring ideographs. A query has
// no ideographs that are part of a pair; queryAnalyzer leaves stop words out as well, literalAnalyzer keeps them.
const (
	indexAnalyzer   = "patchbay_index"
	queryAnalyzer   = "patchbay_query"
	literalAnalyzer = "patchbay_literal"

	separators        = "patchbay_separators"
	pairs             = "patchbay_pairs"
	pairsAndSingles   = "patchbay_pairs_and_singles"
	separatorsPattern = `[._/:\-]`
)

func addAnalyzers(m *mapping.IndexMappingImpl) error {
	// One character is replaced by one, so that the offsets of words stay those of the text.
	err := m.AddCustomCharFilter(separators, map[string]any{"type": regexpfilter.Name, "regexp": separatorsPattern, "replace": " "})
	if err != nil {
		return err
	}
	for name, singles := range map[string]bool{pairs: false, pairsAndSingles: true} {
		if err := m.AddCustomTokenFilter(name, map[string]any{"type": cjk.BigramName, "output_unigram": singles}); err != nil {
			return err
		}
	}
	for name, filters := range map[string][]string{
		indexAnalyzer:   {en.PossessiveName, cjk.WidthName, lowercase.Name, porter.Name, pairsAndSingles},
		queryAnalyzer:   {en.PossessiveName, cjk.WidthName, lowercase.Name, en.StopName, porter.Name, pairs},
		literalAnalyzer: {en.PossessiveName, cjk.WidthName, lowercase.Name, porter.Name, pairs},
	} {
		err := m.AddCustomAnalyzer(name, map[string]any{
			"type": custom.Name, "char_filters": []string{separators}, "tokenizer": unicodetokenizer.Name, "token_filters": filters,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// firstCJK is below the first letter of the scripts that isCJK knows.
const firstCJK = 0x1100

func isCJK(r rune) bool {
	return r >= firstCJK && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func isHan(r rune) bool { return r >= firstCJK && unicode.Is(unicode.Han, r) }

// askingWords only ask; they say nothing about what a Chinese question is about.
var askingWords = strings.NewReplacer(
	"为什么", " ", "怎么样", " ", "怎么", " ", "怎样", " ", "如何", " ", "什么", " ", "哪些", " ", "哪个", " ", "是否", " ", "请问", " ",
)

// withoutAskingWords removes the words that only ask from a query, unless nothing else is left.
func withoutAskingWords(text string) string {
	if rest := askingWords.Replace(text); strings.TrimSpace(rest) != "" {
		return rest
	}
	return text
}

// particles join Chinese words. A pair with one of them is hardly ever a word.
const particles = "的了吗呢吧啊"
