package proxy

import (
	"io"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// TestStreamIsNotHeldBack has a chunk end in an escape that is none of the key's.
func TestStreamIsNotHeldBack(t *testing.T) {
	const text = "data: {\"a\":\"x\\n\\\"\"}\n\n"
	st := withoutKey(&searchtest.Chunks{Parts: []string{text, "next"}}, "abc")
	if p, err := st.Next(); string(p) != text || err != nil {
		t.Errorf("the first chunk is %q, %v", p, err)
	}
}

func TestKeyIsCutOutOfStreams(t *testing.T) {
	const key = "abcabd"
	text := "data: abcab abcabcabd x abcabd\n\ndata: \\u0061bca%62\\u0064 \\u00 abcab"
	want := strings.NewReplacer(key, "[redacted]", `\u0061bca%62\u0064`, "[redacted]").Replace(text)
	for size := 1; size <= len(text); size++ {
		var parts []string
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		var st client.SearchStream = withoutKey(&searchtest.Chunks{Parts: parts}, schema.Secret(key))
		var got strings.Builder
		for {
			p, err := st.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got.Write(p)
		}
		if got.String() != want {
			t.Errorf("chunks of %d: %q", size, got.String())
		}
	}
}
