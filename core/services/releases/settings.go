package releases

import (
	"fmt"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/signin"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// Settings is the block service "releases" of plugin.hcl.
type Settings struct {
	BaseURL     string              `patchbay:"base_url,default=/releases" doc:"Path, or absolute URL, below which the service is mounted. Pages of the origin of an absolute URL may call the API from elsewhere."`
	CodeHosts   []string            `patchbay:"codehosts,ref=codehost" doc:"The code hosts to read, such as [codehost.github]. Users link their accounts at the first one."`
	Repos       []string            `patchbay:"repos" doc:"Repositories in everybody's feed, such as [\"owner/name\"], of the first code host; \"codehost.forge:owner/name\" names another one."`
	Interval    time.Duration       `patchbay:"interval,default=1h" doc:"Time between two reads of a repository or account, 5m to 24h."`
	Notify      []string            `patchbay:"notify,ref=notify" doc:"Channels for new releases and daily briefs of users who turned that on, such as [notify.hook]."`
	Translator  string              `patchbay:"translator,ref=translator" doc:"The translator, such as translator.main. Unset: no translation."`
	Translation TranslationSettings `patchbay:"translation" doc:"What is translated, and what that may take."`
	PublicPages bool                `patchbay:"public_pages,default=false" doc:"Show releases of repositories that an administrator published to everybody, without an account."`
	SignIn      signin.Settings     `patchbay:"sign_in" doc:"Sign-in at the first code host, as an application that is registered there."`
	TimeZone    string              `patchbay:"time_zone,default=UTC" doc:"The IANA time zone of users who chose none, such as Europe/Berlin."`
	BriefHour   int64               `patchbay:"brief_hour,default=8" doc:"The hour, 0 to 23, when the day of a brief ends, for users who chose none."`
}

// TranslationSettings is the block translation of the service.
type TranslationSettings struct {
	Languages   []string `patchbay:"languages,default=zh-CN" doc:"BCP 47 tags of the languages to translate into. zh-CN is always allowed."`
	DailyTokens int64    `patchbay:"daily_tokens,default=2000000" doc:"Tokens that language models may read and write on a day in UTC; 0 for no limit. After that, translation and summaries pause until the next day."`
	DailyCost   float64  `patchbay:"daily_cost,default=0" doc:"Cost of calls in a day, in the currency of the translator's prices; 0 for no limit."`
	Briefs      bool     `patchbay:"briefs,default=true" doc:"Add summaries of releases to briefs."`
	BatchTokens int64    `patchbay:"batch_tokens,default=1800" doc:"Tokens of text in one call, roughly, 200 to 100000."`
}

// check finds what the types cannot express.
func (t TranslationSettings) check() (out schema.Diagnostics) {
	at := schema.At("translation")
	for i, l := range t.Languages {
		if !translator.IsLanguage(l) {
			out = append(out, schema.Errorf(at.Attr("languages").Index(i), "must be a BCP 47 tag, such as zh-CN")...)
		}
	}
	if t.DailyTokens < 0 {
		out = append(out, schema.Errorf(at.Attr("daily_tokens"), "must not be negative")...)
	}
	if t.DailyCost < 0 {
		out = append(out, schema.Errorf(at.Attr("daily_cost"), "must not be negative")...)
	}
	if t.BatchTokens < 200 || t.BatchTokens > 100_000 {
		out = append(out, schema.Errorf(at.Attr("batch_tokens"), "must be from 200 to 100000")...)
	}
	return out
}

// Check finds what the types of the settings cannot express.
func (s Settings) Check() (out schema.Diagnostics) {
	for i, text := range s.Repos {
		host, name := splitRepoSetting(text)
		if _, err := repo.ParseName(name); err != nil {
			out = append(out, schema.Errorf(schema.At("repos").Index(i), "must be owner/name, such as golang/go")...)
		} else if host != "" && !s.hasHost(host) {
			out = append(out, schema.Errorf(schema.At("repos").Index(i), "%s",
				fmt.Sprintf("names the code host %s, which is not one of codehosts", host))...)
		}
	}
	if len(s.Repos) > 0 && len(s.CodeHosts) == 0 {
		out = append(out, schema.Errorf(schema.At("repos"), "needs codehosts, from which the repositories are read")...)
	}
	if s.Interval < 5*time.Minute || s.Interval > 24*time.Hour {
		out = append(out, schema.Errorf(schema.At("interval"), "must be from 5m to 24h")...)
	}
	if _, err := time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "" || s.TimeZone == "Local" {
		out = append(out, schema.Errorf(schema.At("time_zone"), "must be an IANA time zone, such as Europe/Berlin")...)
	}
	out = append(out, s.Translation.check()...)
	out = append(out, s.SignIn.Check(len(s.CodeHosts) > 0)...)
	if s.BriefHour < 0 || s.BriefHour > 23 {
		out = append(out, schema.Errorf(schema.At("brief_hour"), "must be from 0 to 23")...)
	}
	return out
}

func (s Settings) hasHost(ref string) bool {
	for _, host := range s.CodeHosts {
		if host == ref {
			return true
		}
	}
	return false
}

// splitRepoSetting returns the code host and the name of a repository of the settings; the host is "" for the first one.
func splitRepoSetting(text string) (host, name string) {
	if host, name, ok := strings.Cut(text, ":"); ok {
		return host, name
	}
	return "", text
}

// sharedRepos returns the repositories that everybody sees.
func (s Settings) sharedRepos() ([]*repo.Repo, error) {
	repos := make([]*repo.Repo, len(s.Repos))
	for i, text := range s.Repos {
		host, name := splitRepoSetting(text)
		if host == "" && len(s.CodeHosts) > 0 {
			host = s.CodeHosts[0]
		}
		name, err := repo.ParseName(name)
		if err != nil {
			return nil, err
		}
		repos[i] = &repo.Repo{Host: host, FullName: name}
	}
	return repos, nil
}
