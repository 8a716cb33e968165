package local_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/search"
)

// shelf is a small library in which each kind of query has a document that answers it, and others that come near.
var shelf = map[string]string{
	"docs/teleport.md": "# Teleport\nTeleport renders a part of the template outside of the tree of components.\n",
	"docs/provide.md":  "# Provide and inject\nProvide a value once and inject it at any depth.\n",
	"docs/computed.md": "# Computed properties\nA computed property is calculated again when what it depends on changes. Depth of any kind is no matter.\n",
	"docs/users.go":    "package users\n\n// getUserByEmailAddress looks a user up.\nfunc getUserByEmailAddress(mail string) {}\n",
	"docs/mails.md":    "# Mail\nEach user has an address. You get mail by it.\n",
	"docs/snake.py":    "def list_open_invoices(customer):\n    return []\n",
	"docs/release.md":  "# Changes\n\n## 1.22.3\nThe walrus was mended.\n\n## 1.22.4\nNothing.\n",
	"docs/old.md":      "# Changes of old\n\n## 1.22.0\nThe seal came. Chapter 1, 22 pages, 3 pictures.\n",
	"docs/next.md":     "# Changes to come\n\n## 1.2.10\nThe otter.\n\n## 11.2.10\nThe mink.\n",
	"docs/csharp.md":   "# C# rules\nRules for C# programs.\n",
	"docs/cpp.md":      "# C++ rules\nRules for C++ programs.\n",
	"docs/c.md":        "# C rules\nRules for C programs.\n",
	"docs/cafe.md":     "# Menu\nCrème brûlée and a naïve façade.\n",
	"docs/street.md":   "# Straßen\nDie Größe der Straße.\n",
	"docs/hans.md":     "# 监听器\n监听器观察资料库。\n",
	"docs/hant.md":     "# 組件\n組件的狀態保存在記憶體裡。\n",
	"docs/keep.md":     "# KeepAlive\nThe keep-alive cache holds instances that are switched.\n",
	"docs/proto.md":    "# Protocol\nThe protocol of HTTPServer speaks to an XMLReader.\n",
}

func TestQueries(t *testing.T) {
	b, _ := newHouse(t, shelf).open(t)
	for _, tt := range []struct {
		kind, query string
		// first is the document that comes first; without one nothing is found. others are those that may follow; nil is any.
		first  string
		others []string
	}{
		{"typo: two letters exchanged", "teleprot", "teleport.md", []string{}},
		{"typo: letters left out", "provde injct", "provide.md", nil},
		{"typo: a letter more", "computted", "computed.md", []string{}},
		{"typo: another letter", "conputed proberty", "computed.md", nil},
		{"typo: two mistakes in a long word", "protcool", "proto.md", nil},
		{"typo: the beginning of a word", "telep", "teleport.md", []string{}},
		{"identifier: its beginning", "getuser", "users.go", nil},
		{"identifier: its words", "get user by email", "users.go", nil},
		{"identifier: as it is", "getUserByEmailAddress", "users.go", nil},
		{"identifier: in small letters", "getuserbyemailaddress", "users.go", []string{}},
		{"identifier: in another style", "get_user_by_email_address", "users.go", nil},
		{"identifier: with underscores", "listOpenInvoices", "snake.py", []string{}},
		{"identifier: one word of it", "invoices", "snake.py", []string{}},
		{"identifier: capitals in a row", "xml reader", "proto.md", nil},
		{"identifier: written as one", "keepalive", "keep.md", []string{}},
		{"identifier: written apart", "keep alive", "keep.md", []string{}},
		{"version: the one that is asked for", "1.22.3", "release.md", nil},
		{"version: not its numbers elsewhere", "1.22.0", "old.md", nil},
		{"version: not within a longer one", "1.2.10", "next.md", nil},
		{"version: with a v", "v1.22.4", "release.md", nil},
		{"name: C#", "C#", "csharp.md", []string{}},
		{"name: C++", "C++", "cpp.md", []string{}},
		{"name: C++ among words", "rules for c++", "cpp.md", nil},
		{"accents: left out", "creme brulee", "cafe.md", []string{}},
		{"accents: left out elsewhere", "naive facade", "cafe.md", []string{}},
		{"accents: other ones", "Crêmé", "cafe.md", []string{}},
		{"accents: ss for ß", "strasse grosse", "street.md", []string{}},
		{"scripts: traditional finds simplified", "監聽器", "hans.md", []string{}},
		{"scripts: traditional finds simplified in a text", "資料庫", "hans.md", []string{}},
		{"scripts: simplified finds traditional", "组件的状态", "hant.md", []string{}},
		{"phrase: in a text", `"at any depth"`, "provide.md", []string{}},
		{"phrase: with other words", `value "at any depth" computed`, "provide.md", []string{}},
		{"phrase: in a title", `"provide and inject"`, "provide.md", []string{}},
		{"phrase: in curly quotes", `“at any depth”`, "provide.md", []string{}},
		{"phrase: in Chinese", `"观察资料"`, "hans.md", []string{}},
		{"phrase: in another order", `"depth any at"`, "", nil},
		{"phrase: two", `"provide a value" "at any depth"`, "provide.md", []string{}},
		{"phrase: without an end", `"at any depth`, "provide.md", nil},
		{"excluded: a word", "c++ rules -C#", "cpp.md", []string{"c.md"}},
		{"excluded: a word that all have", "rules -programs", "", nil},
		{"excluded: in another form", "rules -program", "", nil},
		{"excluded: a phrase", `changes of old -"the walrus"`, "old.md", []string{"computed.md", "next.md"}},
		{"excluded: in Chinese", "监听器 -资料库", "", nil},
		{"excluded: a hyphen within a word is none", "keep-alive", "keep.md", []string{}},
		{"excluded: nothing else", "-teleport", "teleport.md", []string{}},
	} {
		got := find(t, b, tt.query).urls()
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], "file:docs/")
		}
		want := append([]string{tt.first}, tt.others...)
		if tt.first == "" {
			want = []string{}
		}
		slices.Sort(want[min(1, len(want)):])
		fits := len(got) == 0
		if tt.first != "" {
			fits = len(got) > 0 && got[0] == tt.first
		}
		if fits && (tt.others != nil || tt.first == "") {
			slices.Sort(got[min(1, len(got)):])
			fits = slices.Equal(got, want)
		}
		if !fits {
			t.Errorf("%s: %s finds %v, want %v", tt.kind, tt.query, got, want)
		}
	}
}

// exact_match takes words as they are: nothing is corrected, and a query without quotes is a phrase.
func TestExactMatch(t *testing.T) {
	b, _ := newHouse(t, shelf).open(t)
	for query, want := range map[string]string{
		"at any depth": "file:docs/provide.md", `value "any depth"`: "file:docs/provide.md", "depth at any": "", "teleprot": "", "telep": "",
		"getUserByEmailAddress": "file:docs/users.go", "監聽器觀察": "file:docs/hans.md", "1.2.10": "file:docs/next.md",
	} {
		body, _ := json.Marshal(map[string]any{"query": query, "exact_match": true})
		status, a := call(t, b, search.OpSearch, string(body))
		if got := a.urls(); status != 200 || want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %d, %v, want %s", query, status, got, want)
		}
	}
	if status, a := call(t, b, search.OpSearch, `{"query":"x","exact_match":"perhaps"}`); status != 400 ||
		!strings.Contains(a.Detail.Error, "exact_match") {
		t.Errorf("got %d, %s", status, a.Detail.Error)
	}
}

// Scores tell a document that answers from one that mentions a word.
func TestScoresAreSpread(t *testing.T) {
	files := filler()
	files["docs/uninstall.md"] = "# Uninstall the agent\n\nHow to uninstall the agent.\n"
	files["docs/other.md"] = "# Other matters\n\n" + strings.Repeat("There is much to say about the weather and the sea. ", 20) +
		"An agent was seen.\n"
	b, _ := newHouse(t, files).open(t)
	a := find(t, b, "uninstall agent")
	if len(a.Results) != 2 || a.Results[0].Score < 0.8 || a.Results[1].Score > 0.35 || a.Results[1].Score <= 0 {
		t.Errorf("got %+v", a.Results)
	}
}
