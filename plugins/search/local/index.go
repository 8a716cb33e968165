package local

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
)

// dirMode is for directories of the data directory.
const dirMode = 0o700

// retryPause is how long a file that was too slow or could not be read is left alone. A slow one takes 20 s each time.
const retryPause = time.Hour

// entry is what is known of an indexed file.
type entry struct {
	Size  int64  `json:"s"`
	MTime int64  `json:"m"`
	Hash  string `json:"h"`
	// Checked is when the content was read, in nanoseconds as MTime is.
	Checked int64 `json:"c"`
	// Parts is how many are in the index; Text is false for a file that is no text.
	Parts int  `json:"n"`
	Text  bool `json:"t"`
	// Why is the reason for a file that is no document.
	Why documents.Reason `json:"w,omitempty"`
	// Print tells documents with the same text.
	Print fingerprint `json:"f"`
	// Generation is that in which the content was indexed.
	Generation int64 `json:"g,omitempty"`
}

// isRetryDue reports whether a file that could not be read for a reason that passes is to be read again although it is the same.
func (e entry) isRetryDue(now time.Time) bool {
	return e.Why.IsPassing() && now.Sub(time.Unix(0, e.Checked)) >= retryPause
}

// openIndex opens the index in dir with the manifest of its files.
func openIndex(dir string, log hclog.Logger) (*index.Index, map[string]entry, error) {
	ix, raw, err := index.Open(dir, countParts, log)
	if err != nil {
		return nil, nil, err
	}
	manifest, err := decodeEntries(raw)
	return ix, manifest, err
}

func countParts(data []byte) (int, error) {
	e, err := decodeEntry(data)
	return e.Parts, err
}

func decodeEntries(raw map[string][]byte) (map[string]entry, error) {
	out := make(map[string]entry, len(raw))
	for address, data := range raw {
		e, err := decodeEntry(data)
		if err != nil {
			return nil, err
		}
		out[address] = e
	}
	return out, nil
}

func decodeEntry(data []byte) (e entry, err error) {
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("read entry: %w", err)
	}
	return e, nil
}
