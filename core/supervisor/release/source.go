// Package release finds releases of the core where they are published, believes only what is signed, and keeps the binaries of versions
// side by side in a directory, of which a link names the one in use.
package release

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"time"

	"aead.dev/minisign"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Names and bounds of what lies beside the archives, in bytes.
const (
	sumsName     = "SHA256SUMS"
	signature    = ".minisig"
	maxSums      = 1 << 20
	maxSignature = 8 << 10
)

const (
	// listTimeout bounds reading the checksums and their signature.
	listTimeout = time.Minute
	// latestTag is the tag that a request without one has.
	latestTag = "latest"
)

// Config says where releases are, and what is accepted of them.
type Config struct {
	// URL is the folder of a release, in which {tag} stands for its tag. LatestURL is the folder of the tag "latest", where that is another.
	URL, LatestURL string
	// PublicKey is the minisign key that signs the checksums.
	PublicKey string
	// MaxBytes bounds an archive, and the sum of what it unpacks to, each in bytes. Timeout bounds a download.
	MaxBytes int64
	Timeout  time.Duration
}

// Source is where releases are published.
type Source struct {
	cfg    Config
	key    minisign.PublicKey
	client *http.Client
}

// Release is a version as its signed checksums describe it.
type Release struct {
	Version string
	// Archive is the name of the archive for this machine, and Digest its checksum: "sha256:" and 64 hexadecimal digits.
	Archive, Digest string
	url             string
}

// NewSource returns a source, or an error for a key that is none.
func NewSource(cfg Config) (*Source, error) {
	s := &Source{cfg: cfg}
	if err := s.key.UnmarshalText([]byte(strings.TrimSpace(cfg.PublicKey))); err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	s.client = &http.Client{CheckRedirect: checkRedirect}
	return s, nil
}

// maxRedirects is how often an address may lead to another one.
const maxRedirects = 5

// checkRedirect refuses a way that is too long, or that leaves TLS.
func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("the redirect is refused")
	}
	return nil
}

// joinFolder returns the URL of the folder of a tag, with a slash at its end.
func (s *Source) joinFolder(tag string) string {
	folder := strings.ReplaceAll(s.cfg.URL, "{tag}", url.PathEscape(tag))
	if tag == latestTag && s.cfg.LatestURL != "" {
		folder = s.cfg.LatestURL
	}
	return strings.TrimSuffix(folder, "/") + "/"
}

// Find returns the release of a tag. Its checksums must be signed by the key, and a tag that is a version must be the version of the
// release.
func (s *Source) Find(ctx context.Context, tag string) (Release, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	folder := s.joinFolder(tag)
	sums, err := s.readFile(ctx, folder+sumsName, maxSums)
	if err != nil {
		return Release{}, err
	}
	signed, err := s.readFile(ctx, folder+sumsName+signature, maxSignature)
	if err != nil {
		return Release{}, err
	}
	if !minisign.Verify(s.key, sums, signed) {
		return Release{}, fault.New(fault.Conflict,
			"The signature of %s is not by the public key (public_key): nothing of this release is used.", folder+sumsName).With("reason",
			"signature_invalid")
	}
	r, err := findArchive(sums)
	if err != nil {
		return r, err
	}
	if want := strings.TrimPrefix(tag, "v"); isVersion.MatchString(want) && want != r.Version {
		return r, fault.New(fault.Conflict, "The release at %s has the version %s instead of %s.", folder, r.Version, tag).With("reason",
			"another_version")
	}
	r.url = folder + r.Archive
	return r, nil
}

// isVersion matches tags that are versions, after their v.
var isVersion = regexp.MustCompile(`^[0-9]+\.[0-9]`)

// archiveName matches the name of the archive of this machine, as "make release" gives it.
var archiveName = regexp.MustCompile(`^patchbay_([0-9A-Za-z][0-9A-Za-z.+-]{0,63})_linux_` + runtime.GOARCH + `\.tar\.gz$`)

// findArchive finds the one archive of this machine in checksums.
func findArchive(sums []byte) (found Release, err error) {
	lines := bufio.NewScanner(bytes.NewReader(sums))
	for lines.Scan() {
		sum, name, _ := strings.Cut(lines.Text(), " ")
		name = strings.TrimLeft(name, " *")
		m := archiveName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
			return found, fault.New(fault.Conflict, "%s has no SHA-256 of %s.", sumsName, name)
		}
		if found.Archive != "" {
			return found, fault.New(fault.Conflict, "%s names several archives for this machine: %s and %s.", sumsName, found.Archive, name)
		}
		found = Release{Version: m[1], Archive: name, Digest: "sha256:" + strings.ToLower(sum)}
	}
	if found.Archive == "" {
		return found, fault.New(fault.Conflict, "%s names no archive for this machine (linux_%s).", sumsName, runtime.GOARCH)
	}
	return found, nil
}

// Download writes the archive of a release, which must have its checksum.
func (s *Source) Download(ctx context.Context, r Release, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	sum := sha256.New()
	if err := s.copyFile(ctx, r.url, s.cfg.MaxBytes, io.MultiWriter(to, sum)); err != nil {
		return err
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != r.Digest {
		return fault.New(fault.Conflict, "The checksum of %s is %s, but %s says %s.", r.Archive, got, sumsName, r.Digest).With("reason",
			"checksum_differs")
	}
	return nil
}

// readFile returns a file of at most limit bytes.
func (s *Source) readFile(ctx context.Context, address string, limit int64) ([]byte, error) {
	var out bytes.Buffer
	err := s.copyFile(ctx, address, limit, &out)
	return out.Bytes(), err
}

// copyFile copies a file of at most limit bytes.
func (s *Source) copyFile(ctx context.Context, address string, limit int64, to io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fault.Wrap(err, fault.InvalidArgument, "%s is not an address.", address)
	}
	req.Header.Set("User-Agent", "patchbay-supervisor")
	resp, err := s.client.Do(req)
	if err != nil {
		return fault.Wrap(err, fault.UpstreamUnavailable, "The release cannot be read: %v", err).With("reason", "source_unreachable")
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return fault.New(fault.NotFound, "There is no such release: %s does not exist.", address).With("reason", "no_such_release")
	case resp.StatusCode != http.StatusOK:
		return fault.New(fault.UpstreamUnavailable, "%s answers with the status %d.", address, resp.StatusCode).With("reason",
			"source_unreachable")
	case resp.ContentLength > limit:
		return tooLarge(address, limit)
	}
	n, err := io.Copy(to, io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return fault.Wrap(err, fault.UpstreamUnavailable, "%s could not be read completely: %v", address, err).With("reason",
			"source_unreachable")
	case n > limit:
		return tooLarge(address, limit)
	}
	return nil
}

func tooLarge(what string, limit int64) error {
	return fault.New(fault.Conflict, "%s has more than %d bytes.", what, limit).With("reason", "too_large")
}
