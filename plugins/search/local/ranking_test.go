package local_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// filler are documents that make some words common: guides, settings and paths are everywhere.
func filler() map[string]string {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("docs/filler%02d.md", i)] = fmt.Sprintf(
			"# Guide number %d\n\nThis guide tells about the settings and the path of the service, the extension and its search.\n\n配置文件的路径和服务的设置，以及搜索的扩展。\n", i)
	}
	return files
}

func TestRareWordsAreMoreThanTitles(t *testing.T) {
	files := filler()
	files["docs/a.md"] = "# Extension path\n\n## Extension path\n\nThe path of an extension. The extension path is the path of the extension.\n"
	files["docs/b.md"] = "# Path\n\nThe path, and the path to the path.\n"
	files["docs/memory.md"] = "# Memory\n\nWhere the search for neighbours is done by quagga, its extension is found by its path.\n"
	files["docs/zh/a.md"] = "# 设置、路径\n\n## 路径和设置\n\n设置的路径，路径的设置。路径、设置、路径。\n"
	files["docs/zh/b.md"] = "# 网络\n\n如果服务在隧道后面，则要在设置里给出它的路径。\n"
	b, _ := newHouse(t, files).open(t)
	for query, want := range map[string]string{
		"quagga extension path":         "file:docs/memory.md",
		"the extension path for quagga": "file:docs/memory.md",
		"隧道 设置 路径":                      "file:docs/zh/b.md",
	} {
		if got := find(t, b, query).urls(); len(got) == 0 || got[0] != want {
			t.Errorf("%s: got %v, want %s first", query, got, want)
		}
	}
}

func TestTitlesThatAnswerComeFirst(t *testing.T) {
	files := filler()
	files["docs/cli/uninstall.md"] = "# Uninstall\n\nRemoves the program from a machine.\n"
	files["docs/faq.md"] = "# Questions\n\nHow do I uninstall it? You uninstall it as you uninstall others: uninstall, then uninstall what is left.\n"
	files["docs/zh/health.md"] = "# 健康检查\n\n如何看它是否正常工作。\n"
	files["docs/zh/doctor.md"] = "# 工具\n\n健康检查之后再做健康检查，健康检查的结果在日志里。\n"
	b, _ := newHouse(t, files).open(t)
	for query, want := range map[string]string{
		"uninstall":        "file:docs/cli/uninstall.md",
		"how to uninstall": "file:docs/cli/uninstall.md",
		"健康检查":             "file:docs/zh/health.md",
		"怎么做健康检查":          "file:docs/zh/health.md",
	} {
		if got := find(t, b, query).urls(); len(got) == 0 || got[0] != want {
			t.Errorf("%s: got %v, want %s first", query, got, want)
		}
	}
}

func TestNeighboursComeFirst(t *testing.T) {
	files := filler()
	pad := strings.Repeat("nothing of it. ", 20)
	files["docs/apart.md"] = "# One\n\nThe harbour is closed. " + pad + "The crane is not. " + pad
	files["docs/together.md"] = "# Two\n\n" + pad + "The harbour crane is not closed. " + pad
	b, _ := newHouse(t, files).open(t)
	if got := find(t, b, "harbour crane").urls(); len(got) != 2 || got[0] != "file:docs/together.md" {
		t.Errorf("got %v", got)
	}
}

const story = "The harbour master keeps a book of every ship that comes in on the tide. He writes down its name, where it comes from and " +
	"what it carries, and how many hands it has aboard. In the evening the book is closed and taken to the customs house, where a " +
	"clerk copies what is new into the great ledger, which has been kept since the first stone of the quay was laid. Nobody may " +
	"take the ledger from the house, and nobody has ever tried, for it weighs as much as a grown man and smells of tar. On the " +
	"last day of the year it is read aloud from end to end, before the mayor and all who own a ship or a share in one, and " +
	"whoever finds a mistake in it is given a barrel of herring and a seat beside the stove until the reading is over."

func TestEqualDocumentsAreOneResult(t *testing.T) {
	b, _ := newHouse(t, map[string]string{
		"docs/guide/ledger.md":          "# The ledger\n\n" + story + "\n",
		"docs/old/copies/the-ledger.md": "# The Ledger\n\n\n" + strings.ReplaceAll(story, ". ", ".\n") + "\n",
		"docs/v1/ledger.md":             "# The ledger\n\n" + strings.Replace(story, "herring", "cod", 1) + "\n",
		"docs/other.md":                 "# Another book\n\nNot the ledger of the harbour, but that of the mill.\n",
		"docs/a.md":                     "# Short\n\nledger of ships\n",
		"docs/b.md":                     "# Short\n\nledger of boats\n",
	}).open(t)
	got := find(t, b, "ledger of the harbour herring").urls()
	slices.Sort(got)
	if want := []string{"file:docs/a.md", "file:docs/b.md", "file:docs/guide/ledger.md", "file:docs/other.md"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Many copies of what fits best leave room for what fits less.
func TestCopiesLeaveRoom(t *testing.T) {
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("docs/v%03d/ledger.md", i)] = "---\ntitle: Version " + fmt.Sprint(i) + "\n---\n\n" + strings.Repeat(story+"\n\n", 8)
	}
	for _, name := range []string{"mill", "inn", "church"} {
		files["docs/"+name+".md"] = "# The " + name + "\n\nIt has a book, which is no ledger of the harbour.\n"
	}
	b, _ := newHouse(t, files).open(t)
	a := find(t, b, "ledger harbour")
	if len(a.Results) != 4 || !slices.Contains(a.urls(), "file:docs/v000/ledger.md") {
		t.Fatalf("got %v", a.urls())
	}
	for _, r := range a.Results {
		if r.URL == "file:docs/v000/ledger.md" && r.Title != "Version 0" {
			t.Errorf("%s has the title %s of another address", r.URL, r.Title)
		}
	}
}
