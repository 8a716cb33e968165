package news

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/notify"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

var update = flag.Bool("update", false, "write the golden files anew")

const publicURL = "https://ops.example.com/patchbay/"

func TestTexts(t *testing.T) {
	variants := map[string]Writer{"zh": writer("", publicURL), "zh-paths": writer("zh", ""), "en": writer("en", publicURL),
		"en-paths": writer("en", "")}
	for event, e := range samples() {
		for variant, w := range variants {
			t.Run(event+"/"+variant, func(t *testing.T) {
				golden(t, filepath.Join("testdata", event+"."+variant+".txt"), show(t, must(t, w, e)))
			})
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; write it anew with -update if that is meant (-want +got):\n%s", file, diff)
	}
}

// show writes a message as people can check it.
func show(t *testing.T, m *notify.Message) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s %d %v\n", m.Kind, m.Schema, m.Version, m.Severity)
	for _, part := range []struct {
		name string
		text sdk.Text
	}{{"title", m.Title}, {"summary", m.Summary}, {"detail", m.Detail}} {
		fmt.Fprintf(&out, "\n== %s, plain\n%s\n-- markdown\n%s\n-- html\n%s\n", part.name, part.text.Plain, part.text.Markdown, part.text.HTML)
	}
	fmt.Fprint(&out, "\n== links\n")
	for _, l := range m.Links {
		fmt.Fprintf(&out, "%s %s\n", l.Label, l.URL)
	}
	var payload bytes.Buffer
	if err := json.Indent(&payload, m.Payload, "", "  "); err != nil {
		t.Fatal(err)
	}
	drawn, err := json.MarshalIndent(m.Card, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "\n== payload\n%s\n\n== card\n%s\n", payload.String(), drawn)
	return out.String()
}

func TestSummariesOfNewVersions(t *testing.T) {
	for event, want := range map[string]string{
		"version-one-both":      "shop / web 服务有新版本(1.2.0 -> 1.3.0)。",
		"version-one-candidate": "shop / web 服务有新版本(stable -> 1.3.0)。",
		"version-one-current":   "shop / web 服务有新版本(1.2.0 -> edge)。",
		"version-one-neither":   "shop / web 服务有新版本。",
		"version-three":         "发现 3 个服务有新版本:\n- shop / part-0\n- shop / part-1(1.1.0 -> 1.2.0)\n- shop / part-2(1.2.0 -> 1.3.0)",
	} {
		m := must(t, writer("", ""), samples()[event])
		if got := summaryOf(t, m); got != want {
			t.Errorf("%s: %q, want %q", event, got, want)
		}
		if m.Summary.Plain != want && (m.Summary.Plain != "" || m.Title.Plain == "" || m.Detail.Plain == "") {
			t.Errorf("%s for people: %q, %q, %q", event, m.Title.Plain, m.Summary.Plain, m.Detail.Plain)
		}
	}
	m := must(t, writer("", ""), samples()["version-thirteen"])
	if lines := strings.Split(summaryOf(t, m), "\n"); len(lines) != 12 || lines[11] != "... 以及其他 3 个服务（已省略）" {
		t.Errorf("thirteen services: %q", lines)
	}
}

// summaryOf is the summary in a payload.
func summaryOf(t *testing.T, m *notify.Message) string {
	t.Helper()
	p, err := decodePayload(m.Payload)
	if err != nil {
		t.Fatal(err)
	}
	return p.Human.Summary
}

func TestPrimaryURL(t *testing.T) {
	service := Service{"stk/1", "shop", "svc 1", "web"}
	for name, c := range map[string]struct {
		event any
		want  string
	}{
		"a service by scope": {job("failed", func(e *JobEvent) { e.Scope, e.StackID, e.ServiceID = "service", "stk/1", "svc 1" }),
			"services/stk%2F1/svc%201"},
		"a service by scope and name": {job("failed", func(e *JobEvent) {
			e.Scope, e.ServiceID, e.Affected = "service", "svc 1", []VersionChange{unread(service)}
		}), "services/stk%2F1/svc%201"},
		"a service without its stack": {job("failed", func(e *JobEvent) { e.Scope, e.ServiceID = "service", "svc 1" }), "queue/job_01"},
		"one that changed": {job("success",
			func(e *JobEvent) { e.Changed, e.Affected = []VersionChange{unread(service)}, changes(3) }), "services/stk%2F1/svc%201"},
		"one that could have changed": {job("success", func(e *JobEvent) { e.Affected = []VersionChange{unread(service)} }), "queue/job_01"},
		"two that changed":            {job("success", func(e *JobEvent) { e.Changed = changes(2) }), "queue/job_01"},
		"one new version": {NewVersionsEvent{JobID: "job_01", Services: []VersionChange{{Service: service}}},
			"services/stk%2F1/svc%201"},
		"two new versions":              {NewVersionsEvent{JobID: "job_01", Services: changes(2)}, "queue/job_01"},
		"an anomaly":                    {AnomalyEvent{JobID: "job_01", Missing: 1}, "queue/job_01"},
		"an id that looks like a query": {AnomalyEvent{JobID: "job?x#y", Missing: 1}, "queue/job%3Fx%23y"},
	} {
		t.Run(name, func(t *testing.T) {
			for base, prefix := range map[string]string{publicURL: publicURL, "": "/containers/",
				"https://ops.example.com": "https://ops.example.com/", "javascript:alert(1)": "/containers/"} {
				m := must(t, writer("", base), c.event)
				p, err := decodePayload(m.Payload)
				if err != nil {
					t.Fatal(err)
				}
				if p.Links.PrimaryURL != prefix+c.want {
					t.Errorf("%q leads to %s, want %s", base, p.Links.PrimaryURL, prefix+c.want)
				}
				if absolute := strings.HasPrefix(prefix, "https"); absolute != (len(m.Links) > 0) || absolute && m.Links[0].URL != p.Links.PrimaryURL {
					t.Errorf("%q: links %v", base, m.Links)
				}
			}
		})
	}
}

func TestPathsOfTheRoot(t *testing.T) {
	for _, site := range []string{"", "/"} {
		p, err := decodePayload(must(t, Writer{SitePath: site, Now: testTime}, TestEvent{}).Payload)
		if err != nil || p.URL != "/settings" {
			t.Errorf("site path %q: %q, %v", site, p.URL, err)
		}
	}
}

func TestEventsThatSayNothing(t *testing.T) {
	for _, e := range []any{JobEvent{}, NewVersionsEvent{JobID: "job_01"}, NewVersionsEvent{Services: changes(1)},
		AnomalyEvent{JobID: "job_01"}, AnomalyEvent{Missing: 1}} {
		if m, err := write(writer("", ""), e); err == nil {
			t.Errorf("%+v: %+v, want an error", e, m)
		}
	}
}

func TestForChannel(t *testing.T) {
	for event, e := range samples() {
		m := must(t, writer("", publicURL), e)
		for channel, push := range map[string]bool{"chat": false, "webPush": true, "phones": true} {
			raw, err := ForChannel(m.Payload, channel, push)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Channel, Title, Body, URL string
				Human                     struct{ Summary string }
			}
			if err := json.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if got.Channel != channel || push && (got.Title != m.Title.Plain || got.Body != got.Human.Summary ||
				!strings.HasPrefix(got.Body, m.Summary.Plain) || got.URL == "") {
				t.Errorf("%s for %s: %+v", event, channel, got)
			}
			if !push && got.Title+got.Body != "" {
				t.Errorf("%s for %s has what only a push has: %+v", event, channel, got)
			}
		}
	}
	if _, err := ForChannel(json.RawMessage(`[`), "chat", false); err == nil {
		t.Error("half a payload was taken")
	}
}

// No text of the code is missing.
func TestTextsAreThere(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	asked, n := regexp.MustCompile(`w\.(?:fillText|countText)\("([a-zA-Z.]*[a-zA-Z])"`), 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllSubmatch(content, -1) {
			n++
			if !allTexts().Known(string(m[1])) {
				t.Errorf("%s asks for the text %s, which is not there", file, m[1])
			}
		}
	}
	if n == 0 {
		t.Error("no text was looked for; has the function another name?")
	}
}

func TestKindsAndSchemasBelongTogether(t *testing.T) {
	got := map[string]string{}
	for _, e := range samples() {
		m := must(t, writer("", ""), e)
		got[m.Kind] = m.Schema
	}
	want := map[string]string{JobFinished: SchemaJob, NewVersionDiscovered: SchemaVersion, WebhookAnomaly: SchemaAnomaly,
		NotificationTest: SchemaTest}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("kinds and schemas: %v, want %v", got, want)
	}
}
