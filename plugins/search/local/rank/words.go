package rank

import "strings"

// askingWords only ask; they say nothing about what a Chinese question is about.
var askingWords = strings.NewReplacer(
	"为什么", " ", "怎么样", " ", "怎么", " ", "怎样", " ", "如何", " ", "什么", " ", "哪些", " ", "哪个", " ", "是否", " ", "请问", " ",
	"為什麼", " ", "怎麼樣", " ", "怎麼", " ", "怎樣", " ", "什麼", " ", "哪個", " ", "請問", " ",
)

// withoutAskingWords removes the words that only ask from a query, unless nothing else is left.
func withoutAskingWords(text string) string {
	if rest := askingWords.Replace(text); strings.TrimSpace(rest) != "" {
		return rest
	}
	return text
}

// particles join Chinese words. A pair with one of them is hardly ever a word.
const particles = "的了吗呢吧啊和与在把给"

// stopWords are English words that say nothing about what a text is about.
var stopWords = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(`a about after all also am an and any are as at be because been before being but by can cannot could did do does
		doing don dont down during each few for from further had has have having he her here hers him his how i if in into is it its itself just
		me more most my no nor not now of off on once only or other our out over own same she should so some such than that the their theirs them
		then there these they this those through to too under until up very was we were what when where which while who whom why will with would
		you your yours`) {
		out[word] = true
	}
	return out
}()
