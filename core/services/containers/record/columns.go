package record

import (
	"encoding/json"
	"fmt"
)

// EncodeColumn returns a value as a column of JSON has it.
func EncodeColumn(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(raw)
}

// DecodeColumn reads a column of JSON, or a checkpoint of a job, into v, a pointer.
func DecodeColumn(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("read what was stored: %w", err)
	}
	return nil
}

// NoCandidate are the columns of a service without one.
func NoCandidate() map[string]any {
	return map[string]any{"candidate_digest": "", "candidate_tag": "", "candidate_match": "", "candidate_arch": "null",
		"candidate_version": "", "candidate_since": 0}
}
