package docker

import (
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// pullLine is a line of the engine's report of a pull.
type pullLine struct {
	Status   string `json:"status"`
	ID       string `json:"id"`
	Progress struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Error  string `json:"error"`
	Detail struct {
		Message string `json:"message"`
	} `json:"errorDetail"`
}

// failureText returns the error that ended the pull, "" for none.
func (l *pullLine) failureText() string {
	if l.Detail.Message != "" {
		return l.Detail.Message
	}
	return l.Error
}

// progress adds up the lines of a pull.
type progress struct {
	layers map[string]*layer
	order  []string
	status string
}

type layer struct {
	engine.Layer
	done bool
}

func newProgress() *progress { return &progress{layers: map[string]*layer{}} }

// states are the words of the engine for what a layer is at.
var states = map[string]struct {
	// loaded: all bytes are here; done: the layer is complete.
	loaded, done bool
}{
	"Pulling fs layer":   {},
	"Waiting":            {},
	"Retrying":           {},
	"Downloading":        {},
	"Verifying Checksum": {loaded: true},
	"Download complete":  {loaded: true},
	"Extracting":         {loaded: true},
	"Pull complete":      {loaded: true, done: true},
	"Already exists":     {loaded: true, done: true},
	"Layer already being pulled by another client. Waiting.": {},
}

func (p *progress) addLine(l *pullLine) {
	status := l.Status
	if strings.HasPrefix(status, "Retrying in") {
		status = "Retrying"
	}
	s, ok := states[status]
	if l.ID == "" || !ok {
		p.status = l.Status
		return
	}
	at := p.layers[l.ID]
	if at == nil {
		at = &layer{Layer: engine.Layer{ID: l.ID}}
		p.layers[l.ID], p.order = at, append(p.order, l.ID)
	}
	at.Status, at.done = l.Status, s.done
	// While a layer is unpacked the engine counts again from 0: what was loaded stays loaded.
	if status == "Downloading" {
		at.CurrentBytes, at.TotalBytes = l.Progress.Current, max(l.Progress.Total, l.Progress.Current)
	}
	if status == "Extracting" && at.TotalBytes == 0 {
		at.TotalBytes = l.Progress.Total
	}
	if s.loaded {
		at.CurrentBytes = at.TotalBytes
	}
}

// takeSnapshot returns the progress of the pull.
func (p *progress) takeSnapshot() engine.PullProgress {
	out := engine.PullProgress{TotalLayers: len(p.order), Status: p.status}
	for _, id := range p.order {
		at := p.layers[id]
		out.CurrentBytes += at.CurrentBytes
		out.TotalBytes += at.TotalBytes
		if at.done {
			out.CompletedLayers++
		} else {
			out.Active = append(out.Active, at.Layer)
		}
	}
	return out
}
