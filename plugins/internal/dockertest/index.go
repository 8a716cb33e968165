package dockertest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Index puts images of a repository, by their architectures, under one tag, and returns the digest of that.
func Index(t testing.TB, reg *Reg, repo, tag string, digests map[string]string) (digest string) {
	t.Helper()
	const list, single = "application/vnd.docker.distribution.manifest.list.v2+json", "application/vnd.docker.distribution.manifest.v2+json"
	var manifests []map[string]any
	for _, arch := range slices.Sorted(maps.Keys(digests)) {
		_, content := sendToRegistry(t, http.MethodGet, "http://"+reg.Host+"/v2/"+repo+"/manifests/"+digests[arch], single, nil)
		manifests = append(manifests, map[string]any{
			"mediaType": single, "digest": digests[arch], "size": len(content), "platform": map[string]string{"os": "linux", "architecture": arch},
		})
	}
	raw, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": list, "manifests": manifests})
	if err != nil {
		t.Fatal(err)
	}
	header, _ := sendToRegistry(t, http.MethodPut, "http://"+reg.Host+"/v2/"+repo+"/manifests/"+tag, list, raw)
	return header.Get("Docker-Content-Digest")
}

// sendToRegistry sends a request to a registry, which must do as it is asked.
func sendToRegistry(t testing.TB, method, url, mediaType string, body []byte) (http.Header, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", mediaType)
	req.Header.Set("Content-Type", mediaType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %s, %v: %s", method, url, resp.Status, err, strings.TrimSpace(string(content)))
	}
	return resp.Header, content
}
