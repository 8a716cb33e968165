package local_test

import (
	"strings"
	"testing"
)

const templated = `---
title: "Getting started"
description: From nothing to a first answer.
sidebar_position: 3
---

import Tabs from '@theme/Tabs';
import '../style.css'

{{< toc depth="2" >}}

# Getting started {#start}

<!-- Reviewers: keep
this in step with the other page. -->

<Tabs groupId="systems">
  <TabItem value="linux" label="On Linux">

Install version {{ page.version }} of the {% include "name.html" %} program.

  </TabItem>
</Tabs>

:::tip Good to know
Write ` + "`{{ .Name }}`" + ` for the name; a List<String> holds them. {/* hidden */}
:::

` + "```yaml\nimport: {{ .Values.import }}\n<Tabs>\n```\n"

func TestTemplateMarksAreStripped(t *testing.T) {
	b, _ := newHouse(t, map[string]string{
		"docs/start.mdx": templated,
		"docs/page.html": "<title>Crane {{ site.name }}</title><p>The crane {{ crane.load }} lifts {% if x %}containers{% endif %}.</p>",
	}).open(t)
	a := find(t, b, "install the program")
	if len(a.Results) != 1 || a.Results[0].Title != "Getting started" {
		t.Fatalf("got %+v", a.Results)
	}
	got := a.Results[0].Content
	for _, want := range []string{
		"From nothing to a first answer.", "# Getting started\n", "Install version  of the  program.", "`{{ .Name }}`", "List<String>",
		"On Linux",
		"Good to know", "import: {{ .Values.import }}\n<Tabs>\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	for _, not := range []string{"sidebar", "@theme", "style.css", "toc", "#start", "Reviewers", "groupId", "TabItem", "page.version",
		"include", ":::", "hidden"} {
		if strings.Contains(got, not) {
			t.Errorf("%q is in:\n%s", not, got)
		}
	}
	if a := find(t, b, "crane lifts containers"); len(a.Results) != 1 || a.Results[0].Title != "Crane" ||
		strings.ContainsAny(a.Results[0].Content, "{}%") {
		t.Errorf("got %+v", a.Results)
	}
	for _, q := range []string{"sidebar_position", "Reviewers", "groupId"} {
		if a := find(t, b, q); len(a.Results) != 0 {
			t.Errorf("%s: a mark was found: %v", q, a.urls())
		}
	}
}
