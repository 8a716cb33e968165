package local

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
)

const (
	pageExt  = ".page"
	fileMode = 0o600
	// maxPage bounds the file of a page: its text is made of a body that the crawler bounds.
	maxPage = 32 << 20
)

// pageFormat changes with the way in which texts are taken from pages. Sites whose pages are of another format are visited
// at once, and asked for all pages anew.
const pageFormat = 2

// storedPage is a page of a site in its file: the members as a line of JSON, then the text, in Markdown.
type storedPage struct {
	URL          string   `json:"url"`
	Title        string   `json:"title,omitempty"`
	ETag         string   `json:"etag,omitempty"`
	LastModified string   `json:"modified,omitempty"`
	Links        []string `json:"links,omitempty"`
	// Size is that of the text, in bytes.
	Size int    `json:"size"`
	Text string `json:"-"`
}

func storedFrom(p crawl.Page) storedPage {
	return storedPage{
		URL: p.URL, Title: p.Title, ETag: p.Known.ETag, LastModified: p.Known.LastModified, Links: p.Known.Links, Size: len(p.Text), Text: p.Text,
	}
}

func (p storedPage) toKnown() crawl.Known {
	return crawl.Known{ETag: p.ETag, LastModified: p.LastModified, Links: p.Links}
}

func (p storedPage) encodePage() ([]byte, error) {
	head, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode page: %w", err)
	}
	return append(append(head, '\n'), p.Text...), nil
}

var errDamaged = errors.New("page is damaged")

// readPage reads a page's file.
func readPage(path string) (storedPage, error) {
	p, rest, err := openPage(path)
	if err != nil {
		return storedPage{}, err
	}
	defer rest.Close()
	text, err := io.ReadAll(io.LimitReader(rest, maxPage))
	if err != nil || len(text) != p.Size {
		return storedPage{}, errDamaged
	}
	p.Text = string(text)
	return p, nil
}

type pageText struct {
	*bufio.Reader
	io.Closer
}

// openPage reads the first line of a page's file; the text follows.
func openPage(path string) (storedPage, pageText, error) {
	h, err := os.Open(path)
	if err != nil {
		return storedPage{}, pageText{}, errors.New("page cannot be opened")
	}
	rest := pageText{bufio.NewReader(h), h}
	line, err := rest.ReadBytes('\n')
	var p storedPage
	if err != nil || json.Unmarshal(line, &p) != nil {
		_ = h.Close()
		return storedPage{}, pageText{}, errDamaged
	}
	info, err := h.Stat()
	if err != nil || info.Size() != int64(len(line)+p.Size) || pageName(p.URL) != filepath.Base(path) {
		_ = h.Close()
		return storedPage{}, pageText{}, errDamaged
	}
	return p, rest, nil
}

// pageName is the name of a page's file.
func pageName(address string) string {
	sum := sha256.Sum256([]byte(address))
	return hex.EncodeToString(sum[:16]) + pageExt
}

// parsePage makes a document of a page.
func parsePage(p storedPage) (document, error) {
	text, heading := documents.CleanMarkdown(p.Text)
	title := strings.TrimSpace(documents.StripInline(p.Title))
	if title == "" {
		title = heading
	}
	if title == "" {
		title = pageTitle(p.URL)
	}
	if strings.TrimSpace(text) == "" {
		return document{}, &documents.Error{Reason: documents.NoText}
	}
	return newDocument(title, text, true), nil
}

// pageTitle stands in for a title: the last name of the address, or its host.
func pageTitle(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	if name := path.Base(u.Path); name != "/" && name != "." {
		return name
	}
	return u.Host
}

// writeFile replaces a file as a whole. One that holds the same already stays as it is.
func writeFile(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	next := path + ".next"
	if err := os.WriteFile(next, data, fileMode); err != nil {
		return errors.New("file cannot be written")
	}
	if err := os.Rename(next, path); err != nil {
		return errors.New("file cannot be written")
	}
	return nil
}
