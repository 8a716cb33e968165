package releases

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
)

// readerOf returns the id of who reads: a user's, or that of the built-in developer, who sees what everybody sees.
func readerOf(ctx context.Context) string { return auth.From(ctx).User.ID }

// ownerOf returns the id of the user who makes a request, or an error for who is none and can own nothing.
func ownerOf(ctx context.Context) (string, error) {
	p := auth.From(ctx)
	if !p.HasAccount() {
		return "", fault.New(fault.Forbidden, "This needs an account: create the first user, and sign in.")
	}
	return p.User.ID, nil
}

// preferencesOf returns what a user has chosen, or else the defaults of the settings.
func (s *Service) preferencesOf(ctx context.Context, userID string) (own.Preferences, error) {
	return s.accounts.Preferences(ctx, userID, s.defaultPreferences())
}

// defaultPreferences returns those of a user who has chosen nothing.
func (s *Service) defaultPreferences() own.Preferences {
	set := s.state.Load().settings
	return own.Preferences{TimeZone: set.TimeZone, BriefHour: int(set.BriefHour), BriefDaily: true}
}

// languageOf returns the language in which the caller reads translations on the pages.
func (s *Service) languageOf(ctx context.Context) (string, error) {
	prefs, err := s.preferencesOf(ctx, readerOf(ctx))
	return s.languageFor(prefs), err
}

// languageFor returns the language in which a user reads translations: the chosen one, or else the first of the settings.
func (s *Service) languageFor(prefs own.Preferences) string {
	languages := s.Languages()
	if slices.Contains(languages, prefs.Language) {
		return prefs.Language
	}
	return languages[0]
}

// ReadingLanguages returns the languages in which a user may read: those of translations, and English, in which briefs are written without a translator.
func (s *Service) ReadingLanguages() []string {
	languages := s.Languages()
	if containsLanguage(languages, "en") {
		return languages
	}
	return append(slices.Clip(languages), "en")
}

// briefLanguage returns the language in which a user reads briefs: the chosen one, or else the first of the settings.
func (s *Service) briefLanguage(ctx context.Context, userID string) (string, error) {
	prefs, err := s.preferencesOf(ctx, userID)
	if slices.Contains(s.ReadingLanguages(), prefs.Language) {
		return prefs.Language, err
	}
	return s.Languages()[0], err
}

// loginsOf returns the logins of a user at the code host, none without an account there.
func (s *Service) loginsOf(ctx context.Context, userID string) (logins []string, err error) {
	all, err := s.accounts.List(ctx, userID)
	for _, a := range all {
		logins = append(logins, a.Login)
	}
	return logins, err
}
