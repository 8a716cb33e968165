// Command brotli compresses the text files of the console, once and as far as brotli can, so that a core need not do it.
//
//	brotli DIR FILE...
//
// DIR holds one file for each FILE when it ends, and nothing else. Each is named after the first eight bytes of the SHA-256 digest of what
// it unpacks to, as core/httpd names files. FILE may be several files with a plus between them: one script, with a line feed after each.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/andybalholm/brotli"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: brotli DIR FILE...")
		os.Exit(2)
	}
	if err := compressFiles(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "brotli:", err)
		os.Exit(1)
	}
}

// compressFiles has a directory hold the compressed files and nothing else.
func compressFiles(dir string, files []string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		content, err := readParts(file)
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		w := brotli.NewWriterLevel(&packed, brotli.BestCompression)
		if _, err := w.Write(content); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		if err := os.WriteFile(filepath.Join(dir, hex.EncodeToString(sum[:8])+".br"), packed.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readParts returns the content of a file, or of several with a plus between their names.
func readParts(names string) ([]byte, error) {
	parts := strings.Split(names, "+")
	if len(parts) == 1 {
		return os.ReadFile(names)
	}
	var all []byte
	for _, name := range parts {
		part, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(append(all, part...), '\n')
	}
	return all, nil
}
