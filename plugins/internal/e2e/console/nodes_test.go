package console

import (
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestNodesPage looks at the page of nodes with two cores on one database, and drains one there without a script.
func TestNodesPage(t *testing.T) {
	t.Parallel()
	hcl := "storage \"postgres\" {\n  url = \"" + kit.NewDatabase(t) + "\"\n  replicas = true\n}\n" + kit.MailHCL
	env := []string{kit.NewMasterKey(), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false"}
	c := kit.StartCore(t, hcl, append(slices.Clip(env), "SVC_NODE_ID=core-1")...)
	b := kit.Browse(t, c)
	b.SetUp(c)
	kit.StartCore(t, hcl, append(slices.Clip(env), "SVC_NODE_ID=core-2")...)
	b.WithoutScript(true)
	if sent := inspectForms(b, "/system/nodes"); !slices.Contains(sent, "POST /system/nodes/core-2/drain") {
		t.Errorf("the page sends %q", sent)
	}
	b.AnswerBelow("/system/nodes", "/system/nodes/core-2/drain", ".toast.ok")
	if list := c.CLI("node", "list"); !strings.Contains(list, "draining") {
		t.Errorf("the nodes are\n%s", list)
	}
	if sent := inspectForms(b, "/system/nodes"); !slices.Contains(sent, "POST /system/nodes/core-2/resume") {
		t.Errorf("the page sends %q", sent)
	}
	b.WithoutScript(false)
	b.Walk("nodes", "/system/nodes", kit.ReadAxe(t), kit.Wide, kit.Narrow)
	b.WithoutScript(true)
	b.AnswerBelow("/system/nodes", "/system/nodes/core-2/resume", ".toast.ok")
}
