package texts_test

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
)

// TestDropOpaque: encoded data goes, and what people write or look for stays.
func TestDropOpaque(t *testing.T) {
	var raw []byte
	for i := range byte(64) {
		sum := sha512.Sum512([]byte{i})
		raw = append(raw, sum[:]...)
	}
	blob := base64.StdEncoding.EncodeToString(raw)
	var block strings.Builder
	for i := 0; i+64 <= len(blob); i += 64 {
		block.WriteString(blob[i:i+64] + "\n")
	}
	for name, tt := range map[string]struct{ in, want string }{
		"image of Markdown":  {"before ![a crane](data:image/png;base64," + blob + ") after", "before a crane after"},
		"image with a title": {`![x](data:image/gif;base64,R0lGODlhAQABAAAAACw= "small")`, "x"},
		"address in a text":  {`url("data:font/woff2;base64,` + blob + `")`, `url("…")`},
		"escaped drawing":    {"src='data:image/svg+xml," + strings.Repeat("%3Cpath%20d%3D", 20) + "' x", "src='…' x"},
		"long word":          {"token " + blob + " end", "token … end"},
		"hexadecimal":        {"bytes " + hex.EncodeToString(raw) + ".", "bytes …."},
		"block of lines":     {"Certificate:\n" + block.String() + "end\n", "Certificate:\n…\nend\n"},
		"short address":      {"write data:text/plain,hello here", "write data:text/plain,hello here"},
		"sum":                {"sha512 " + hex.EncodeToString(raw[:64]), "sha512 " + hex.EncodeToString(raw[:64])},
		"rule":               {strings.Repeat("-", 400), strings.Repeat("-", 400)},
		"path":               {strings.Repeat("folder2/name-of-it/", 40), strings.Repeat("folder2/name-of-it/", 40)},
		"Chinese":            {strings.Repeat("没有空格的长句子", 60), strings.Repeat("没有空格的长句子", 60)},
		"few lines":          {"a\n" + block.String()[:65*3], "a\n" + block.String()[:65*3]},
		"nothing":            {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := texts.DropOpaque(tt.in); got != tt.want {
				t.Errorf("got %.200q, want %.200q", got, tt.want)
			}
		})
	}
}

func BenchmarkDropOpaque(b *testing.B) {
	text := strings.Repeat("The crane lifts the container, `getUserByEmailAddress`, from the ship.\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		texts.DropOpaque(text)
	}
}
