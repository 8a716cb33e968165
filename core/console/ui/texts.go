package ui

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed locales/*.json
var ownTexts embed.FS

// The languages of the console, as they stand in cookies and in the attribute lang.
const (
	English = "en"
	Chinese = "zh"
)

// Languages are all languages, the default first.
func Languages() []string { return []string{English, Chinese} }

// OwnTexts are the texts of the frame and of the core's pages.
func OwnTexts() fs.FS {
	dir, err := fs.Sub(ownTexts, "locales")
	if err != nil {
		// The directory is embedded: this cannot fail at run time.
		return ownTexts
	}
	return dir
}

// Texts holds the texts of all pages in all languages.
type Texts struct {
	matcher   language.Matcher
	known     map[string]bool
	languages map[string]*languageTexts
	details   []detail
}

// languageTexts are the texts in one language.
type languageTexts struct {
	tag     language.Tag
	printer *message.Printer
	phrases map[string]phrases
}

// NewTexts reads en.json and zh.json of each source. A text is a string, or an object with the plural forms one and
// other; its parameters are written {{.Name}}. No id may stand in two sources.
func NewTexts(sources ...fs.FS) (*Texts, error) {
	t := &Texts{known: map[string]bool{}, languages: map[string]*languageTexts{}}
	bundle := i18n.NewBundle(language.English)
	bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	var tags []language.Tag
	for _, lang := range Languages() {
		tag := language.MustParse(lang)
		tags = append(tags, tag)
		texts := &languageTexts{tag: tag, printer: message.NewPrinter(tag), phrases: map[string]phrases{}}
		t.languages[lang] = texts
		for _, src := range sources {
			if err := texts.loadTexts(bundle, src, lang); err != nil {
				return nil, fmt.Errorf("read the texts of %s: %w", lang, err)
			}
		}
		for id, p := range texts.phrases {
			t.known[id] = true
			if lang == English && strings.HasPrefix(id, detailPrefix) {
				t.details = append(t.details, newDetail(id, p.other))
			}
		}
	}
	sortDetails(t.details)
	t.matcher = language.NewMatcher(tags)
	return t, nil
}

// loadTexts adds the texts of a source.
func (l *languageTexts) loadTexts(bundle *i18n.Bundle, src fs.FS, lang string) error {
	data, err := fs.ReadFile(src, lang+".json")
	if err != nil {
		return err
	}
	file, err := bundle.ParseMessageFileBytes(data, lang+".json")
	if err != nil {
		return err
	}
	for _, m := range file.Messages {
		if _, there := l.phrases[m.ID]; there {
			return fmt.Errorf("the text %q stands in two sources", m.ID)
		}
		if l.phrases[m.ID], err = cutPhrases(m); err != nil {
			return err
		}
	}
	return nil
}

// Known reports whether there is a text with this id.
func (t *Texts) Known(id string) bool { return t.known[id] }

// lookUpText returns a text with the values of its parameters: args are names and values in turn. One that is missing is shown by its id
// in brackets, so that tests find it.
func (t *Texts) lookUpText(lang, id string, args []any) string {
	return t.fillPhrase(lang, id, func(p phrases) phrase { return p.other }, args)
}

// lookUpPlural is lookUpText for a text with a count, which chooses its form.
func (t *Texts) lookUpPlural(lang, id string, count int, args []any) string {
	return t.fillPhrase(lang, id, func(p phrases) phrase { return p.choosePlural(t.languages[lang].tag, count) }, args)
}

func (t *Texts) fillPhrase(lang, id string, choose func(phrases) phrase, args []any) string {
	p, ok := t.languages[lang].phrases[id]
	if !ok {
		return "⟦" + id + "⟧"
	}
	return choose(p).fillParameters(args)
}

// chooseLanguage finds the language of a request: what the person has chosen, else what the browser asks for.
func (t *Texts) chooseLanguage(chosen, accept string) string {
	for _, lang := range Languages() {
		if chosen == lang {
			return lang
		}
	}
	tags, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(tags) == 0 {
		return English
	}
	_, i, confidence := t.matcher.Match(tags...)
	if confidence == language.No {
		return English
	}
	return Languages()[i]
}
