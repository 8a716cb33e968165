package github_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github"
	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const (
	token  = schema.Secret("ghp_token-of-the-tests")
	secret = "secret-of-the-hooks"
)

var pushed = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

func client(t *testing.T, config string) *codehost.Client {
	t.Helper()
	l := plugintest.Load(t, github.Plugin())
	return codehost.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, codehost.Kind, "host", config)))
}

func configOf(s *githubtest.Server) string {
	return fmt.Sprintf(`{"base_url":%q,"web_url":"https://github.com"}`, s.URL)
}

// world is a double with a person, an organisation and their repositories.
func world(t *testing.T) *githubtest.Server {
	t.Helper()
	s := githubtest.New(t)
	s.Token(token.Reveal(), "me")
	s.AddOrg("team")
	for _, r := range []githubtest.Repo{
		{FullName: "me/app", PushedAt: pushed}, {FullName: "me/secret", Private: true, PushedAt: pushed},
		{FullName: "me/old", Archived: true, PushedAt: pushed},
		{FullName: "team/one", PushedAt: pushed}, {FullName: "team/two", PushedAt: pushed}, {FullName: "other/public", PushedAt: pushed},
		{FullName: "other/hidden", Private: true},
	} {
		s.AddRepo(r)
	}
	return s
}

func TestResolve(t *testing.T) {
	s := world(t)
	c := client(t, configOf(s))
	repo := func(name string) codehost.Repo {
		return codehost.Repo{FullName: name, Visibility: "public", LastActivity: pushed}
	}
	one := &codehost.Resolution{Kind: codehost.KindRepo, Owner: "me", Repos: []codehost.Repo{repo("me/app")}}
	hidden := codehost.Repo{FullName: "me/secret", Visibility: "private", LastActivity: pushed}
	for input, want := range map[string]*codehost.Resolution{
		"me/app": one, " me/app ": one, "ME/App": one, "https://github.com/me/app": one, "https://www.github.com/me/app.git": one,
		"github.com/me/app/tree/main": one, "git@github.com:me/app.git": one, "ssh://git@github.com/me/app.git": one,
		"team": {Kind: codehost.KindOwner, Owner: "team", Repos: []codehost.Repo{repo("team/one"), repo("team/two")}},
		"me": {Kind: codehost.KindOwner, Owner: "me", Repos: []codehost.Repo{repo("me/app"), hidden},
			Warnings: []string{"1 archived repositories are left out"}},
		"https://github.com/other":     {Kind: codehost.KindOwner, Owner: "other", Repos: []codehost.Repo{repo("other/public")}},
		"https://github.com/orgs/team": {Kind: codehost.KindOwner, Owner: "team", Repos: []codehost.Repo{repo("team/one"), repo("team/two")}},
		"me/old": {Kind: codehost.KindRepo, Owner: "me", Repos: []codehost.Repo{repo("me/old")},
			Warnings: []string{"me/old is archived: its webhooks cannot be changed"}},
	} {
		got, err := c.Resolve(t.Context(), token, input)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v, %s", input, err, diff)
		}
	}
	for _, input := range []string{"https://elsewhere.example/me/app", "me/../app", "a b/c", "/", "https://github.com/", "-x"} {
		if e := errs.From(second(c.Resolve(t.Context(), token, input))); e == nil || e.Code != codes.InvalidArgument || e.Source != errs.Caller {
			t.Errorf("%q: %v", input, e)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestLongLists(t *testing.T) {
	s := world(t)
	s.AddOrg("many")
	for i := range 1050 {
		s.AddRepo(githubtest.Repo{FullName: fmt.Sprintf("many/r%d", i)})
	}
	c := client(t, configOf(s))
	got, err := c.Resolve(t.Context(), token, "many")
	if err != nil || len(got.Repos) != 1000 || len(got.Warnings) != 1 {
		t.Fatalf("%d repositories, %v, %v", len(got.Repos), got.Warnings, err)
	}
	s.PageSize(2)
	for i := range 5 {
		s.AddHook("me/app", githubtest.Hook{URL: fmt.Sprintf("https://hook.example/%d", i), ContentType: "json", Events: []string{"package"},
			Active: true})
	}
	hooks, err := c.Hooks(t.Context(), token, "me/app")
	if err != nil || len(hooks) != 5 {
		t.Errorf("%d hooks, %v", len(hooks), err)
	}
	s.Instead(func(r *http.Request) *githubtest.Answer {
		return &githubtest.Answer{Status: 200, Body: "[]", Header: map[string]string{"Link": `<https://elsewhere.example/x>; rel="next"`}}
	})
	if e := errs.From(second(c.Hooks(t.Context(), token, "me/app"))); e == nil || e.Reason != errs.ReasonProtocol {
		t.Errorf("a page at another place: %v", e)
	}
	s.Instead(func(r *http.Request) *githubtest.Answer {
		return &githubtest.Answer{Status: 200, Body: "[]", Header: map[string]string{"Link": `<` + r.URL.RequestURI() + `>; rel="next"`}}
	})
	if e := errs.From(second(c.Hooks(t.Context(), token, "me/app"))); e == nil || e.Reason != errs.ReasonProtocol {
		t.Errorf("a list without an end: %v", e)
	}
}

func TestHookRequests(t *testing.T) {
	s := world(t)
	c := client(t, configOf(s))
	spec := codehost.HookSpec{URL: "https://hook.example/x", Secret: secret, Events: []string{codehost.EventPackage}, Active: true}
	hook, err := c.CreateHook(t.Context(), token, "me/app", spec)
	if err != nil {
		t.Fatal(err)
	}
	want := githubtest.Hook{URL: spec.URL, ContentType: "json", Secret: secret, InsecureSSL: "0", Events: []string{"package"}, Active: true}
	got := s.Hooks("me/app")
	if len(got) != 1 || fmt.Sprint(got[0].ID) != hook.ID {
		t.Fatalf("%+v", got)
	}
	got[0].ID = 0
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Error(diff)
	}
	e := errs.From(second(c.CreateHook(t.Context(), token, "me/app", spec)))
	if e == nil || e.Upstream.GetHttpStatus() != 422 || !strings.Contains(e.Message, "already exists") {
		t.Errorf("the same hook again: %v", e)
	}
	for _, id := range []string{"x", "1/2", "999"} {
		if _, err := c.UpdateHook(t.Context(), token, "me/app", id, spec); err == nil {
			t.Errorf("the id %q is accepted", id)
		}
	}
}

// A repository that was renamed answers with where it is now.
func TestMoved(t *testing.T) {
	s := world(t)
	id := s.AddHook("me/app", githubtest.Hook{URL: "https://hook.example/x", ContentType: "json", Events: []string{"package"}, Active: true})
	move := func(status int) {
		s.Instead(func(r *http.Request) *githubtest.Answer {
			if rest, ok := strings.CutPrefix(r.URL.RequestURI(), "/repos/me/former"); ok {
				return &githubtest.Answer{Status: status, Header: map[string]string{"Location": s.URL + "/repos/me/app" + rest}}
			}
			return nil
		})
	}
	c := client(t, configOf(s))
	move(301)
	if r, err := c.Resolve(t.Context(), token, "me/former"); err != nil || r.Repos[0].FullName != "me/app" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := c.DeleteHook(t.Context(), token, "me/former", fmt.Sprint(id)); err == nil || len(s.Hooks("me/app")) != 1 {
		t.Errorf("a deletion became something else: %v", err)
	}
	move(307)
	if err := c.DeleteHook(t.Context(), token, "me/former", fmt.Sprint(id)); err != nil || len(s.Hooks("me/app")) != 0 {
		t.Errorf("%v, %v", s.Hooks("me/app"), err)
	}
	s.Instead(func(*http.Request) *githubtest.Answer {
		return &githubtest.Answer{Status: 301, Header: map[string]string{"Location": "https://elsewhere.example/"}}
	})
	if e := errs.From(second(c.Resolve(t.Context(), token, "me/app"))); e == nil || e.Reason != errs.ReasonProtocol {
		t.Errorf("another place: %v", e)
	}
}

func TestStatuses(t *testing.T) {
	s := world(t)
	c := client(t, configOf(s))
	reset := map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(time.Now().Add(10 * time.Minute).Unix())}
	for name, tt := range map[string]struct {
		answer githubtest.Answer
		code   codes.Code
		after  time.Duration
	}{
		"bad token": {githubtest.Answer{Status: 401, Body: `{"message":"Bad credentials"}`}, codes.Unauthenticated, 0},
		"no scope":  {githubtest.Answer{Status: 403, Body: `{"message":"Resource not accessible"}`}, codes.PermissionDenied, 0},
		"primary limit": {githubtest.Answer{Status: 403, Header: reset, Body: `{"message":"API rate limit exceeded"}`},
			codes.ResourceExhausted, 10 * time.Minute},
		"primary, 429": {githubtest.Answer{Status: 429, Header: reset}, codes.ResourceExhausted, 10 * time.Minute},
		"secondary limit": {githubtest.Answer{Status: 403, Body: `{"message":"You have exceeded a secondary rate limit."}`},
			codes.ResourceExhausted, time.Minute},
		"retry after": {githubtest.Answer{Status: 403, Header: map[string]string{"Retry-After": "17"}}, codes.ResourceExhausted,
			17 * time.Second},
		"missing": {githubtest.Answer{Status: 404, Body: `{"message":"Not Found"}`}, codes.NotFound, 0},
		"invalid": {githubtest.Answer{Status: 422, Body: `{"message":"Validation Failed","errors":["x",{"field":"url"},7]}`},
			codes.InvalidArgument, 0},
		"broken":           {githubtest.Answer{Status: 502, Body: `<html>`}, codes.Unavailable, 0},
		"nonsense":         {githubtest.Answer{Status: 200, Body: `<html>`}, codes.Unavailable, 0},
		"another's object": {githubtest.Answer{Status: 200, Body: `{"full_name":"../x"}`}, codes.Unavailable, 0},
		"echo":             {githubtest.Answer{Status: 400, Body: `{"message":"bad ` + token.Reveal() + `"}`}, codes.InvalidArgument, 0},
	} {
		s.Instead(func(*http.Request) *githubtest.Answer { return &tt.answer })
		_, err := c.Resolve(t.Context(), token, "me/app")
		e := errs.From(err)
		if e == nil || e.Code != tt.code || e.Source != errs.Upstream || (e.RetryAfter-tt.after).Abs() > 2*time.Second {
			t.Errorf("%s: %+v", name, e)
		}
		if strings.Contains(fmt.Sprint(err), token.Reveal()) {
			t.Errorf("%s: the error holds the token", name)
		}
	}
	address := "http://" + testkit.FreeAddress(t)
	if e := errs.From(second(client(t, `{"base_url":"`+address+`"}`).Hooks(t.Context(), token, "me/app"))); e == nil ||
		e.Reason != errs.ReasonConnect {
		t.Errorf("nobody listens: %v", e)
	}
	if e := errs.From(second(c.Hooks(t.Context(), "bad\r\ntoken", "me/app"))); e == nil || e.Source != errs.Caller ||
		strings.Contains(e.Message, "bad\r") {
		t.Errorf("a token with a break: %v", e)
	}
}

func TestConformance(t *testing.T) {
	s := populate(world(t))
	s.Instead(func(r *http.Request) *githubtest.Answer {
		if r.URL.Path == "/repos/slow/repo" {
			<-r.Context().Done()
		}
		return nil
	})
	conformance.TestCodeHost(t, github.Plugin(), conformance.CodeHostConfig{
		JSON:    configOf(s),
		Invalid: []string{`{"base_url":"x"}`, `{"base_url":"https://u:p@host"}`, `{"web_url":"x"}`, `{"timeout":"0s"}`, `{"timeout":"1h"}`},
		Token:   token, Repo: "me/app", ReleasesOf: "me/app", Missing: "me/none", Slow: "slow/repo",
		Inputs:     map[string]string{"me/app": codehost.KindRepo, "team": codehost.KindOwner, "https://github.com/me": codehost.KindOwner},
		Deliveries: deliveries(),
	})
}
