// Package locale reads the texts of the product: pages, notifications and failures, in each language.
package locale

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

// The languages, as they stand in settings, cookies and the attribute lang.
const (
	English = "en"
	Chinese = "zh"
)

// Languages returns all languages, the default first.
func Languages() []string { return []string{English, Chinese} }

// Texts holds texts in all languages. It does not change.
type Texts struct {
	languages map[string]*texts
}

// texts are the texts in one language, by their ids.
type texts struct {
	tag     language.Tag
	phrases map[string]phrases
}

// Read reads en.json and zh.json of each source. A text is a string, or an object with the plural forms one and
// other; its parameters are written {{.Name}}. No id may stand in two sources.
func Read(sources ...fs.FS) (*Texts, error) {
	t := &Texts{map[string]*texts{}}
	bundle := i18n.NewBundle(language.English)
	bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	for _, lang := range Languages() {
		all := &texts{language.MustParse(lang), map[string]phrases{}}
		t.languages[lang] = all
		for _, src := range sources {
			if err := all.readSource(bundle, src, lang); err != nil {
				return nil, fmt.Errorf("read the texts of %s: %w", lang, err)
			}
		}
	}
	return t, nil
}

// ReadLazily returns a function that reads the folder "locales" of files, which are part of the program, when it is first called. It
// panics if they are wrong, which the tests of their package find.
func ReadLazily(files fs.FS) func() *Texts {
	return sync.OnceValue(func() *Texts {
		dir, err := fs.Sub(files, "locales")
		if err != nil {
			panic(err)
		}
		t, err := Read(dir)
		if err != nil {
			panic(err)
		}
		return t
	})
}

// readSource adds the texts of a source.
func (l *texts) readSource(bundle *i18n.Bundle, src fs.FS, lang string) error {
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

// IDs returns the ids of the texts in a language, sorted.
func (t *Texts) IDs(lang string) []string { return slices.Sorted(maps.Keys(t.languages[lang].phrases)) }

// Known reports whether there is a text with this id in a language.
func (t *Texts) Known(id string) bool {
	for _, l := range t.languages {
		if _, ok := l.phrases[id]; ok {
			return true
		}
	}
	return false
}

// Phrase returns a text in its form for any number, cut at its parameters.
func (t *Texts) Phrase(lang, id string) Phrase { return t.languages[lang].phrases[id].other }

// Text returns a text with the values of its parameters: args are names and values in turn. One that is missing is shown by its id
// in brackets, so that tests find it. A language that is not known is English.
func (t *Texts) Text(lang, id string, args ...any) string {
	return t.fillPhrase(lang, id, func(_ language.Tag, p phrases) Phrase { return p.other }, args)
}

// Plural is Text for a text with a count, which chooses its form.
func (t *Texts) Plural(lang, id string, count int, args ...any) string {
	return t.fillPhrase(lang, id, func(tag language.Tag, p phrases) Phrase { return p.choosePlural(tag, count) }, args)
}

func (t *Texts) fillPhrase(lang, id string, choose func(language.Tag, phrases) Phrase, args []any) string {
	l := t.languages[lang]
	if l == nil {
		l = t.languages[English]
	}
	p, ok := l.phrases[id]
	if !ok {
		return "⟦" + id + "⟧"
	}
	return choose(l.tag, p).fillParameters(args)
}
