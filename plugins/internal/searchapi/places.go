package searchapi

import (
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

// commonNames are names of countries that people write, and that the table of names does not have in this form.
var commonNames = map[string]string{
	"czech republic": "CZ", "turkey": "TR", "turkiye": "TR", "myanmar": "MM", "burma": "MM", "ivory coast": "CI", "hong kong": "HK",
	"macau": "MO", "macao": "MO",
	"congo": "CG", "republic of the congo": "CG", "democratic republic of the congo": "CD", "palestine": "PS", "usa": "US",
	"united states of america": "US",
	"uk":                       "GB", "great britain": "GB", "macedonia": "MK", "swaziland": "SZ", "cape verde": "CV", "vatican": "VA", "holland": "NL",
	"saint lucia":           "LC",
	"saint kitts and nevis": "KN", "saint vincent and the grenadines": "VC", "russian federation": "RU", "republic of korea": "KR",
	"korea": "KR",
}

// regionsByName has the codes of countries by their English names, as plainName writes them.
var regionsByName = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	names := display.English.Regions()
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			region, err := language.ParseRegion(code)
			if err != nil || !region.IsCountry() || region.Canonicalize().String() != code {
				continue
			}
			if name := plainName(names.Name(region)); name != "" {
				out[name] = code
			}
		}
	}
	for name, code := range commonNames {
		out[name] = code
	}
	return out
})

// plainName writes a name without accents, in lower case, and with "and" for "&".
func plainName(name string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ReplaceAll(name, "&", "and")) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == '’' || r == '‘':
			b.WriteRune('\'')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// FindRegion returns the code of a country that is written as its English name, or as the code itself; ok is false if there is none.
func FindRegion(country string) (code string, ok bool) {
	name := plainName(country)
	if code, ok := regionsByName()[name]; ok {
		return code, true
	}
	if len(name) != 2 {
		return "", false
	}
	region, err := language.ParseRegion(name)
	if err != nil || !region.IsCountry() {
		return "", false
	}
	return region.Canonicalize().String(), true
}

// LanguageIn returns the language that most people in a country write, such as de for DE.
func LanguageIn(region string) string {
	base, _ := language.Make("und-" + region).Base()
	return base.String()
}

// languageForm is that of codes which a metasearch engine takes.
var languageForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z]{2})?$`) })

// isLanguage reports whether a text is the code of a language that there is, with or without a country, or says that any will do.
func isLanguage(s string) bool {
	if s == "all" || s == "auto" {
		return true
	}
	_, err := language.Parse(s)
	return languageForm().MatchString(s) && err == nil
}
