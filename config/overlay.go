package config

import "path/filepath"

// overlaid returns a function that reads the texts of overlay, by absolute path, in place of what read finds there.
func overlaid(overlay map[string][]byte, read func(string) ([]byte, error)) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		if abs, err := filepath.Abs(path); err == nil {
			if text, ok := overlay[abs]; ok {
				return text, nil
			}
		}
		return read(path)
	}
}
