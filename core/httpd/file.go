package httpd

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// File is a file that does not change while the process runs.
type File struct {
	contentType, tag string
	content          []byte
	// packed is the content in gzip, nil where that does not help.
	packed []byte
}

// NewFile returns a file of a type. Text is compressed here, once, as far as gzip can.
func NewFile(contentType string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{contentType, hex.EncodeToString(sum[:8]), content, packText(contentType, content)}
}

// packText returns content in gzip. It returns nil if the content is short or no text, or if gzip makes it no shorter.
func packText(contentType string, content []byte) []byte {
	kind, _, _ := strings.Cut(contentType, ";")
	if len(content) < minCompressed || !slices.Contains(textTypes(), kind) {
		return nil
	}
	var b bytes.Buffer
	// The level is a constant that there is, and writing to memory does not fail.
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(content)
	_ = w.Close()
	if b.Len() >= len(content) {
		return nil
	}
	return b.Bytes()
}

// Tag returns a name of the content: the start of its SHA-256 digest.
func (f File) Tag() string { return f.tag }

// Size returns the length of the content in bytes.
func (f File) Size() int { return len(f.content) }

// SizeSent returns how many bytes of content a client that accepts gzip is sent.
func (f File) SizeSent() int {
	if f.packed != nil {
		return len(f.packed)
	}
	return len(f.content)
}

// Write answers with the file, compressed if that helps and the client accepts it. A client that has the content already is
// told so.
func (f File) Write(c *gin.Context) {
	h, content := c.Writer.Header(), f.content
	h.Set("Content-Type", f.contentType)
	// The tag is weak, since it names the content in both encodings.
	h.Set("ETag", `W/"`+f.tag+`"`)
	h.Add("Vary", "Accept-Encoding")
	if f.packed != nil && acceptsGzip(c.Request.Header) {
		h.Set("Content-Encoding", "gzip")
		content = f.packed
	}
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(content))
}

// acceptsGzip reports whether a client names gzip as an encoding that it accepts.
func acceptsGzip(h http.Header) bool {
	for _, part := range strings.Split(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, weighed := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		value, found := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(weight, " ", "")), "q=")
		q, err := strconv.ParseFloat(value, 64)
		return !weighed || found && err == nil && q > 0
	}
	return false
}
