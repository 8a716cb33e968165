package httpd

import (
	"net/http"
	"sync"

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
		gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(compressionLevel), gzhttp.EnableZstd(false),
		gzhttp.RandomJitter(lengthJitter, 0, false),
		gzhttp.ContentTypes(textTypes()),
	)
	if err != nil {
		panic(err) // The options are constants.
	}
	return wrap
})

// textTypes are the types of content that are compressed.
func textTypes() []string {
	return []string{"text/html", "text/css", "text/javascript", "image/svg+xml", "application/json", "application/manifest+json",
		"application/atom+xml", "application/feed+json"}
}

// WriteText answers with a text of a type, compressed if the client accepts that.
func WriteText(c *gin.Context, status int, contentType string, text []byte) {
	compressor()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		w.WriteHeader(status)
		_, _ = w.Write(text)
	})).ServeHTTP(c.Writer, c.Request)
}
