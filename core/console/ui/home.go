package ui

import (
	"github.com/a-h/templ"
)

// HomePart is what a service shows of itself on the home page. Its texts are in the language of the view.
type HomePart struct {
	// Attention is what somebody should look at, the most urgent first.
	Attention []Attention
	// Figures are its key figures.
	Figures []KeyFigure
	// Steps are its part of the checklist of a new installation.
	Steps []Step
	// Card is shown as it is; nil for none.
	Card templ.Component
}

// Attention is one thing that somebody should look at.
type Attention struct {
	// Tone is bad for what does not work, warn for the rest.
	Tone string
	// Title says what happened, Text what it means.
	Title, Text string
	// Href leads to where it is mended, and Action is what its button says; both may be empty.
	Href, Action string
}

// KeyFigure is a number with its name and a remark.
type KeyFigure struct {
	Name, Value, Remark string
	// Href leads to more; "" for nowhere.
	Href string
}

// Step is one step of a newcomer.
type Step struct {
	// ID names the step for good; it has lower-case letters and dashes.
	ID          string
	Title, Text string
	// Command is something to copy; "" for nothing.
	Command string
	// Href leads to where the step is done, and Action is what its button says.
	Href, Action string
	Done         bool
}
