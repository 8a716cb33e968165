package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// probeTimeout bounds one request to the core, maxProbe what is read of its answer.
const (
	probeTimeout = 2 * time.Second
	maxProbe     = 4 << 10
)

// probeVersion asks the core at one of the URLs for its health and its version.
func probeVersion(ctx context.Context, urls []string) (version string, err error) {
	for _, url := range urls {
		var failure error
		if version, failure = askVersion(ctx, url); failure == nil {
			return version, nil
		}
		err = errors.Join(err, failure)
	}
	return "", err
}

func askVersion(ctx context.Context, url string) (string, error) {
	if _, err := fetchBody(ctx, url+"/api/health"); err != nil {
		return "", err
	}
	raw, err := fetchBody(ctx, url+"/api/version")
	if err != nil {
		return "", err
	}
	var body struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(raw, &body); err != nil || body.Version == "" {
		return "", fmt.Errorf("%s/api/version does not answer with a version", url)
	}
	return body.Version, nil
}

// prober asks the core, which redirects nobody and needs no kept connection.
var prober = &http.Client{
	Timeout: probeTimeout, Transport: &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// errNotServed says that the core answers, and that no service of it has the path.
var errNotServed = errors.New("there is no such path")

func fetchBody(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := prober.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("%s: %w", url, errNotServed)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with the status %d", url, resp.StatusCode)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxProbe))
}
