package schema_test

import (
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func TestWriteMarkdown(t *testing.T) {
	type limits struct {
		Most int64 `patchbay:"most,default=8" doc:"How many at once."`
	}
	s, err := schema.Of(struct {
		Token   schema.Secret `patchbay:"token,required,env=A_TOKEN" doc:"The API token."`
		Mode    string        `patchbay:"mode,default=fast,enum=fast|exact" doc:"a|b."`
		Hosts   []string      `patchbay:"hosts,default=a|b" doc:"Hosts."`
		Wait    time.Duration `patchbay:"wait" doc:"How long."`
		Limits  limits        `patchbay:"limits" doc:"Limits."`
		Channel []string      `patchbay:"notify,ref=notify" doc:"Channels."`
	}{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	want := "| Setting | Type | Default | What it does |\n|---|---|---|---|\n" +
		"| `token` | text, secret | required | The API token. Environment: `A_TOKEN`. |\n" +
		"| `mode` | text | `fast` | a\\|b. One of `fast`, `exact`. |\n" +
		"| `hosts` | list of texts | `a`, `b` | Hosts. |\n" +
		"| `wait` | duration |  | How long. |\n" +
		"| `notify` | list of instances of notify |  | Channels. |\n" +
		"\nBlock `limits`:\n\n| Setting | Type | Default | What it does |\n|---|---|---|---|\n| `most` | whole number | `8` | How many at once. |\n"
	if b.String() != want {
		t.Errorf("the document is\n%s\nwant\n%s", b.String(), want)
	}
}
