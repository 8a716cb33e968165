package kit

// englishTexts returns the texts of a page that are English sentences, outside of code, of what is marked as English since it comes
// from an upstream or a plugin, and of content: mail, releases, and texts that tests have written.
const englishTexts = `(() => {
	const skipped = "[lang=en], code, pre, script, style, kbd, svg, textarea, .m, article, .message, .excerpt, a.open, header.top h1";
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
	for (let n = walker.nextNode(); n; n = walker.nextNode()) {
		const text = n.textContent.trim().replace(/\s+/g, " ");
		if (/[A-Za-z]{2,}[,;:]?( [A-Za-z'-]+[,;:]?){2,}/.test(text) && !/[\u4e00-\u9fff]/.test(text) && !n.parentElement.closest(skipped)) found.push(text.slice(0, 120));
	}
	return [...new Set(found)];
})()`

// inChinese fails the test if the page has English sentences.
func (b *Browser) inChinese(what string) {
	b.T.Helper()
	found, err := Evaluate[[]string](b, englishTexts)
	if err != nil {
		b.T.Errorf("%s: %v", what, err)
	}
	for _, f := range found {
		b.T.Errorf("%s: English on a Chinese page: %s", what, f)
	}
}
