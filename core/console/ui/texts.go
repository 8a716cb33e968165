package ui

import (
	"embed"
	"io/fs"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

//go:embed locales/*.json
var ownTexts embed.FS

// The languages of the console, as they stand in cookies and in the attribute lang.
const (
	English = locale.English
	Chinese = locale.Chinese
)

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
	*locale.Texts
	matcher  language.Matcher
	printers map[string]*message.Printer
	details  []detail
}

// NewTexts reads en.json and zh.json of each source, as locale.Read does.
func NewTexts(sources ...fs.FS) (*Texts, error) {
	all, err := locale.Read(sources...)
	if err != nil {
		return nil, err
	}
	t := &Texts{Texts: all, printers: map[string]*message.Printer{}}
	var tags []language.Tag
	for _, lang := range locale.Languages() {
		tag := language.MustParse(lang)
		tags = append(tags, tag)
		t.printers[lang] = message.NewPrinter(tag)
	}
	for _, id := range all.IDs(English) {
		if strings.HasPrefix(id, detailPrefix) {
			t.details = append(t.details, newDetail(id, all.Phrase(English, id)))
		}
	}
	sortDetails(t.details)
	t.matcher = language.NewMatcher(tags)
	return t, nil
}

// chooseLanguage finds the language of a request: what the person has chosen, else what the browser asks for.
func (t *Texts) chooseLanguage(chosen, accept string) string {
	for _, lang := range locale.Languages() {
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
	return locale.Languages()[i]
}
