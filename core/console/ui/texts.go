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
	matcher    language.Matcher
	known      map[string]bool
	localizers map[string]*i18n.Localizer
	printers   map[string]*message.Printer
	details    []detail
}

// NewTexts reads en.json and zh.json of each source. A text is a string, or an object with the plural forms one and
// other; its parameters are written {{.Name}}. No id may stand in two sources.
func NewTexts(sources ...fs.FS) (*Texts, error) {
	t := &Texts{known: map[string]bool{}, localizers: map[string]*i18n.Localizer{}, printers: map[string]*message.Printer{}}
	bundle := i18n.NewBundle(language.English)
	bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	var tags []language.Tag
	for _, lang := range Languages() {
		seen := map[string]bool{}
		for _, src := range sources {
			messages, err := loadTexts(bundle, src, lang, seen)
			if err != nil {
				return nil, fmt.Errorf("read the texts of %s: %w", lang, err)
			}
			for _, m := range messages {
				if lang == English && strings.HasPrefix(m.ID, detailPrefix) {
					t.details = append(t.details, newDetail(m))
				}
			}
		}
		for id := range seen {
			t.known[id] = true
		}
		tag := language.MustParse(lang)
		tags = append(tags, tag)
		t.localizers[lang], t.printers[lang] = i18n.NewLocalizer(bundle, lang), message.NewPrinter(tag)
	}
	sortDetails(t.details)
	t.matcher = language.NewMatcher(tags)
	return t, nil
}

// loadTexts adds the texts of a source in a language to the bundle and returns them.
func loadTexts(bundle *i18n.Bundle, src fs.FS, lang string, seen map[string]bool) ([]*i18n.Message, error) {
	data, err := fs.ReadFile(src, lang+".json")
	if err != nil {
		return nil, err
	}
	file, err := bundle.ParseMessageFileBytes(data, lang+".json")
	if err != nil {
		return nil, err
	}
	for _, m := range file.Messages {
		if seen[m.ID] {
			return nil, fmt.Errorf("the text %q stands in two sources", m.ID)
		}
		seen[m.ID] = true
	}
	return file.Messages, nil
}

// Known reports whether there is a text with this id.
func (t *Texts) Known(id string) bool { return t.known[id] }

// lookUpText looks a text up. One that is missing is shown by its id in brackets, so that tests find it.
func (t *Texts) lookUpText(lang, id string, data map[string]any, count any) string {
	out, err := t.localizers[lang].Localize(&i18n.LocalizeConfig{MessageID: id, TemplateData: data, PluralCount: count})
	if err != nil || out == "" {
		return "⟦" + id + "⟧"
	}
	return out
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
