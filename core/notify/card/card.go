// Package card draws the picture that goes with a notification: 1200 × 630 pixels, light, readable on a phone. It draws
// what it is given; that no address, digest or error text is among it is up to who makes the Card.
package card

// Tone is the colour of a card's state.
type Tone string

// The tones. Anything else counts as neutral.
const (
	Success Tone = "success"
	Error   Tone = "error"
	Warning Tone = "warning"
	Info    Tone = "info"
	Neutral Tone = "neutral"
)

// MaxLines is how many lines a card shows; more are left out.
const MaxLines = 5

// Line is one fact: what it is, and its value.
type Line struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// Card is what a picture says, in the words of its reader. Texts that are too long for their place are drawn smaller, and
// then shortened.
type Card struct {
	// Kind says what happened, and Status how it went; both are a few words.
	Kind   string `json:"kind"`
	Status string `json:"status,omitempty"`
	Tone   Tone   `json:"tone"`
	// Subject is what it happened to, in big letters.
	Subject string `json:"subject"`
	Lines   []Line `json:"lines,omitempty"`
	// Omitted says how much is not in Lines, such as "and 3 more services".
	Omitted string `json:"omitted,omitempty"`
	Footer  string `json:"footer,omitempty"`
}
