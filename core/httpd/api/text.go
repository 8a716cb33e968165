package api

// TextOrNull returns a text of an answer, or nil for an empty one.
func TextOrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
