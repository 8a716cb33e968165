package kit

// Mark leaves a sign in the page that a reload would wipe out; Marked looks for it.
func (b *Browser) Mark() {
	b.T.Helper()
	if _, err := Evaluate[bool](b, `window.untouched = true`); err != nil {
		b.T.Fatal(err)
	}
}

// Marked fails the test when the page was loaded again since Mark.
func (b *Browser) Marked(what string) {
	b.T.Helper()
	if is, err := Evaluate[bool](b, `window.untouched === true`); err != nil || !is {
		b.T.Errorf("%s: the page was loaded again, %v", what, err)
	}
}
