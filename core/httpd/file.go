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
	"sync"
	"time"

	"github.com/gin-gonic/gin"
)

// File is a file that does not change while the process runs.
type File struct {
	contentType, tag string
	content          []byte
	// gzip and brotli are the content in these encodings, nil where there is none.
	gzip   func() []byte
	brotli []byte
}

// NewFile returns a file of a type. Text is compressed once, when a client takes gzip first, as far as gzip can.
func NewFile(contentType string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{contentType, hex.EncodeToString(sum[:8]), content, sync.OnceValue(func() []byte { return packText(contentType, content) }),
		nil}
}

// WithBrotli returns the file with its content in brotli as well. Clients that accept brotli get that.
func (f File) WithBrotli(packed []byte) File {
	f.brotli = packed
	return f
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

// SizeSent returns how many bytes of content a client that accepts every encoding is sent.
func (f File) SizeSent() int {
	if f.brotli != nil {
		return len(f.brotli)
	}
	if packed := f.gzip(); packed != nil {
		return len(packed)
	}
	return len(f.content)
}

// Write answers with the file, compressed if that helps and the client accepts it. A client that has the content already is
// told so.
func (f File) Write(c *gin.Context) {
	h, content := c.Writer.Header(), f.content
	h.Set("Content-Type", f.contentType)
	// The tag is weak, since it names the content in every encoding.
	h.Set("ETag", `W/"`+f.tag+`"`)
	h.Add("Vary", "Accept-Encoding")
	if f.brotli != nil && acceptsEncoding(c.Request.Header, "br") {
		h.Set("Content-Encoding", "br")
		content = f.brotli
	} else if acceptsEncoding(c.Request.Header, "gzip") {
		if packed := f.gzip(); packed != nil {
			h.Set("Content-Encoding", "gzip")
			content = packed
		}
	}
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(content))
}

// acceptsEncoding reports whether a client names an encoding as one that it accepts.
func acceptsEncoding(h http.Header, encoding string) bool {
	for _, part := range strings.Split(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, weighed := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		value, found := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(weight, " ", "")), "q=")
		q, err := strconv.ParseFloat(value, 64)
		return !weighed || found && err == nil && q > 0
	}
	return false
}
