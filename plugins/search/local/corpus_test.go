package local_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// The corpus is the documentation that comes with a package of the npm registry, in English and Chinese: 630 Markdown files
// with front matter and components, under the MIT licence. The hash is that of the package.
const (
	corpusPackage = "openclaw@2026.2.9"
	corpusHash    = "kJbbIg98ikbZSvS/ypk3Btjha//Fg1sao/xqYrzyMNFNpZFVMcvZNVvMdjRLtccyYNCa5GAJ5nNxP7fzEnS0KQ=="
	corpusFolder  = "package/docs/"
)

// readCorpus downloads the corpus and returns its files by their paths below corpusFolder. The third language is left out.
func readCorpus(t testing.TB) map[string][]byte {
	t.Helper()
	_, err := exec.LookPath("npm")
	testkit.Require(t, "npm", err == nil, "install Node 20 or newer with npm")
	dir := t.TempDir()
	cmd := exec.Command("npm", "pack", "--silent", "--prefer-offline", "--ignore-scripts", "--pack-destination", dir, corpusPackage)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	testkit.Require(t, corpusPackage, err == nil, "npm pack: "+string(out))
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("npm pack left %v, %v", packed, err)
	}
	data, err := os.ReadFile(packed[0])
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha512.Sum512(data); base64.StdEncoding.EncodeToString(sum[:]) != corpusHash {
		t.Fatalf("%s is not the package that the judgements were made for", corpusPackage)
	}
	files, err := unpackDocuments(data)
	if err != nil || len(files) < 600 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

func unpackDocuments(data []byte) (map[string][]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(zipped); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutPrefix(head.Name, corpusFolder)
		ext := filepath.Ext(name)
		if !ok || !filepath.IsLocal(name) || ext != ".md" && ext != ".mdx" || strings.HasPrefix(name, "ja-JP/") {
			continue
		}
		if files[name], err = io.ReadAll(archive); err != nil {
			return nil, err
		}
	}
}
