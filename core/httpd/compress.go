package httpd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
)

const (
	// minCompressed is the smallest text that is worth compressing, in bytes.
	minCompressed = 1 << 10
	// lengthJitter hides the exact length of a compressed page, which may hold both a secret and what a request has sent.
	lengthJitter = 32
	// compressionLevel is gzip's: pages are made anew for each request, and the levels above save little.
	compressionLevel = 3
)

// compressor returns what compresses a whole answer with gzip if it is text and the client accepts that. It does not suit
// streams: their headers would wait for the first data.
var compressor = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(compressionLevel), gzhttp.EnableZstd(false), gzhttp.RandomJitter(lengthJitter, 0, false),
		gzhttp.ContentTypes([]string{"text/html", "text/css", "text/javascript", "image/svg+xml", "application/json", "application/manifest+json"}),
	)
	if err != nil {
		panic(err) // The options are constants.
	}
	return wrap
})

// WriteText answers with a text of a type, compressed if the client accepts that.
func WriteText(c *gin.Context, status int, contentType string, text []byte) {
	compressor()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write(text)
	})).ServeHTTP(c.Writer, c.Request)
}

// File is a file that does not change while the process runs.
type File struct {
	contentType, tag string
	content          []byte
}

// NewFile returns a file of a type.
func NewFile(contentType string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{contentType, hex.EncodeToString(sum[:8]), content}
}

// Tag returns a name of the content: the start of its SHA-256 digest.
func (f File) Tag() string { return f.tag }

// Size returns the length of the content in bytes.
func (f File) Size() int { return len(f.content) }

// Write answers with the file, compressed if that helps and the client accepts it. A client that has the content already is
// told so.
func (f File) Write(c *gin.Context) {
	compressor()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", f.contentType)
		// The tag is weak, since it names the content in both encodings.
		w.Header().Set("ETag", `W/"`+f.tag+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
	})).ServeHTTP(c.Writer, c.Request)
}
