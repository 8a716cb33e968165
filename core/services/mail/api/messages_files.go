package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// fileHandlers answers with files: messages, their attachments and mailboxes.
type fileHandlers struct{ *messageHandlers }

// fileAPI declares the endpoints of messages that answer with files.
func (h *fileHandlers) fileAPI(a *api.API) {
	id := &huma.Param{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
	add := func(op, path, summary, kind string, handler gin.HandlerFunc, more ...*huma.Param) {
		a.Document(httpd.Route{Method: http.MethodGet, Path: path, Policy: httpd.APIKey, Handler: handler}, huma.Operation{
			OperationID: op, Tags: []string{tagMessages}, Summary: summary, Parameters: append([]*huma.Param{id}, more...),
			Responses: map[string]*huma.Response{
				"200": {Description: "The file.", Content: map[string]*huma.MediaType{kind: {Schema: &huma.Schema{Type: huma.TypeString}}}},
				"404": a.ErrorResponse("There is none"),
			},
		})
	}
	add("message-raw", "/api/messages/:id/raw", "The message as it came", "message/rfc822", h.serveRaw)
	add("message-html", "/api/messages/:id/html", "The HTML of a message for a sandboxed frame", "text/html", h.serveHTML,
		&huma.Param{Name: "images", In: "query", Description: "remote lets images load from other sites.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"remote"}}})
	add("message-attachment", "/api/messages/:id/attachments/:attachmentId", "The content of an attachment", "application/octet-stream",
		h.serveAttachment,
		&huma.Param{Name: "attachmentId", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}})
	add("mailbox-export", "/api/mailboxes/:id/export", "All messages of a mailbox as an mbox file", "application/mbox", h.serveMbox)
}

// safeFile sets the headers of a file that somebody else has written: nothing in it runs here.
func safeFile(c *gin.Context, kind, name string) {
	h := c.Writer.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-store")
}

// fileTime is how long a client may take for a part of a file.
const fileTime = time.Minute

// timedWriter gives the client time for each part.
type timedWriter struct {
	c  *gin.Context
	rc *http.ResponseController
}

func newTimedWriter(c *gin.Context) *timedWriter {
	return &timedWriter{c, http.NewResponseController(c.Writer)}
}

// Write implements io.Writer.
func (w *timedWriter) Write(p []byte) (int, error) {
	_ = w.rc.SetWriteDeadline(time.Now().Add(fileTime))
	return w.c.Writer.Write(p)
}

// end ends the answer. After an error the connection is cut, unless nothing was sent: half a file must not look like a whole one.
func (w *timedWriter) end(err error) {
	_ = w.rc.SetWriteDeadline(time.Time{})
	switch {
	case err == nil:
	case w.c.Writer.Written():
		httpd.SetError(w.c, err)
		panic(http.ErrAbortHandler)
	default:
		h := w.c.Writer.Header()
		h.Del("Content-Disposition")
		h.Del("Content-Security-Policy")
		h.Del("Content-Length")
		httpd.WriteError(w.c, err)
	}
}

func (h *fileHandlers) serveRaw(c *gin.Context) {
	ctx := c.Request.Context()
	m, err := h.findMessage(ctx, c.Param("id"))
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	safeFile(c, "message/rfc822", m.ID+".eml")
	c.Header("Content-Length", strconv.FormatInt(m.Size, 10))
	w := newTimedWriter(c)
	w.end(copyRaw(w, h.messages.OpenRaw(ctx, m)))
}

// copyRaw writes raw bytes.
func copyRaw(w io.Writer, open rfc822.Opener) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return err
}

// imageTypes are the types that a browser may show as images of a message.
var imageTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true,
	"image/bmp": true}

func (h *fileHandlers) serveAttachment(c *gin.Context) {
	ctx := c.Request.Context()
	m, err := h.findMessage(ctx, c.Param("id"))
	number := 0
	if err == nil {
		number, err = attachmentNumber(c.Param("attachmentId"))
	}
	if err == nil {
		err = h.parsing.Acquire(ctx, 1)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	defer h.parsing.Release(1)
	w := newTimedWriter(c)
	err = rfc822.ReadAttachment(m.Parser, h.messages.OpenRaw(ctx, m), number, func(a rfc822.Attachment, r io.Reader) error {
		kind := a.ContentType
		if !imageTypes[kind] {
			kind = "application/octet-stream"
		}
		safeFile(c, kind, orText(a.Filename, fmt.Sprintf("%s-%d", m.ID, a.Number)))
		_, err := io.Copy(w, r)
		return err
	})
	if errors.Is(err, rfc822.ErrNoAttachment) {
		err = errNoAttachment()
	}
	w.end(err)
}

func errNoAttachment() error { return fault.New(fault.NotFound, "There is no such attachment.") }

// attachmentNumber returns the number in the id of an attachment.
func attachmentNumber(id string) (int, error) {
	text, ok := strings.CutPrefix(id, attachmentPrefix)
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 {
		return 0, errNoAttachment()
	}
	return n, nil
}

// serveHTML answers with a document that runs nothing. Its policy says so once more.
func (h *fileHandlers) serveHTML(c *gin.Context) {
	ctx := c.Request.Context()
	m, err := h.findMessage(ctx, c.Param("id"))
	var parsed *rfc822.Parsed
	if err == nil {
		parsed, err = h.parseStored(ctx, m)
	}
	if err == nil && parsed.HTML == "" {
		err = fault.New(fault.NotFound, "The message has no HTML.")
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	remote := c.Query("images") == "remote"
	images := "'self' data:"
	if remote {
		images += " https: http:"
	}
	document, blocked := rfc822.SanitizeHTML(parsed.HTML, rfc822.HTMLView{RemoteImages: remote, InlineURL: func(contentID string) string {
		for _, a := range parsed.Attachments {
			if a.ContentID != "" && a.ContentID == contentID {
				return "attachments/" + attachmentPrefix + strconv.Itoa(a.Number)
			}
		}
		return ""
	}})
	header := c.Writer.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; img-src "+images+"; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "+
		"sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "private, no-store")
	if blocked {
		// A reader offers to show what was left out.
		header.Set("X-Patchbay-Images", "blocked")
	}
	httpd.WriteBody(c, http.StatusOK, "text/html; charset=utf-8", []byte(document))
}

// exportPage is how many messages are listed at once for an export.
const exportPage = 200

func (h *fileHandlers) serveMbox(c *gin.Context) {
	ctx := c.Request.Context()
	box, err := h.boxes.Get(ctx, callerFrom(ctx), c.Param("id"))
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	safeFile(c, "application/mbox", box.Address+".mbox")
	w := newTimedWriter(c)
	f := message.Filter{Caller: callerFrom(ctx), OldestFirst: true, Limit: exportPage}
	f.Mailboxes.IDs = []string{box.ID}
	for {
		page, err := h.messages.ListStored(ctx, f)
		for _, m := range page {
			if err == nil {
				err = message.WriteMbox(w, m, h.messages.OpenRaw(ctx, m))
			}
			f.AfterSeq = m.Seq
		}
		if err != nil || len(page) < exportPage {
			w.end(err)
			return
		}
	}
}
