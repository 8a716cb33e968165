package news

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/patchbay-dev/patchbay/core/notify/card"
)

var cards = flag.String("cards", "", "a folder to write the cards of all samples into, for people to look at")

func TestCardsCanBeDrawn(t *testing.T) {
	for event, e := range samples() {
		for _, locale := range []string{"zh", "en"} {
			png, err := card.Draw(*must(t, writer(locale, ""), e).Card)
			if err != nil || len(png) > card.MaxBytes {
				t.Fatalf("%s, %s: %d bytes, %v", event, locale, len(png), err)
			}
			if *cards == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(*cards, event+"."+locale+".png"), png, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
