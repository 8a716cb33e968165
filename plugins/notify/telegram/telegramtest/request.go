package telegramtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	_ "image/png" // photos are PNG files
	"io"
	"mime"
	"net/http"
	"strings"
)

// fields are the parameters of a request, whichever way they came.
type fields map[string]string

func (f fields) boolField(name string) bool {
	return f[name] == "true" || f[name] == "True" || f[name] == "1"
}

// readMessage takes a request apart and checks it as the API does.
func readMessage(r *http.Request, method string) (*Message, error) {
	m := &Message{Method: method}
	in, err := readFields(r, m)
	if err != nil {
		return nil, err
	}
	m.ChatID, m.ParseMode, m.Silent = in["chat_id"], in["parse_mode"], in.boolField("disable_notification")
	switch method {
	case "sendMessage":
		m.Markup = in["text"]
		var preview struct {
			Disabled bool `json:"is_disabled"`
		}
		if raw := in["link_preview_options"]; raw != "" && json.Unmarshal([]byte(raw), &preview) != nil {
			return nil, errors.New("can't parse link preview options JSON object")
		}
		m.PreviewDisabled = preview.Disabled
	case "sendPhoto":
		m.Markup = in["caption"]
		if err := checkPhoto(m.Photo); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("method not found")
	}
	return m, m.parseText()
}

// readFields reads JSON, a form or a multipart form.
func readFields(r *http.Request, m *Message) (fields, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	out := fields{}
	switch kind {
	case "application/json":
		var raw map[string]json.RawMessage
		if json.NewDecoder(r.Body).Decode(&raw) != nil {
			return nil, errors.New("can't parse JSON object")
		}
		for name, value := range raw {
			var s string
			if json.Unmarshal(value, &s) != nil {
				s = string(value)
			}
			out[name] = s
		}
		return out, nil
	case "multipart/form-data":
		if r.ParseMultipartForm(MaxPhoto+1<<20) != nil {
			return nil, errors.New("can't parse the form")
		}
		if files := r.MultipartForm.File["photo"]; len(files) == 1 {
			f, err := files[0].Open()
			if err != nil {
				return nil, err
			}
			defer f.Close()
			m.FileName = files[0].Filename
			if m.Photo, err = io.ReadAll(f); err != nil {
				return nil, err
			}
		}
	}
	if err := r.ParseForm(); err != nil {
		return nil, errors.New("can't parse the form")
	}
	for name := range r.Form {
		out[name] = r.Form.Get(name)
	}
	return out, nil
}

// parseText checks text or caption and takes the markup from it.
func (m *Message) parseText() error {
	m.Text = m.Markup
	switch strings.ToLower(m.ParseMode) {
	case "":
	case "html":
		var err error
		if m.Text, m.Entities, err = ParseHTML(m.Markup); err != nil {
			return err
		}
	default:
		return errors.New("unsupported parse_mode")
	}
	switch n := Units(strings.TrimSpace(m.Text)); {
	case m.Method == "sendMessage" && n == 0:
		return errors.New("message text is empty")
	case m.Method == "sendMessage" && n > MaxText:
		return errors.New("message is too long")
	case m.Method == "sendPhoto" && n > MaxCaption:
		return errors.New("message caption is too long")
	}
	return nil
}

// The API bounds the sum of width and height, and their ratio.
const (
	maxSum   = 10000
	maxRatio = 20
)

func checkPhoto(raw []byte) error {
	w, h := imageSize(raw)
	switch {
	case len(raw) == 0:
		return errors.New("there is no photo in the request")
	case len(raw) > MaxPhoto:
		return errors.New("file is too big")
	case w == 0:
		return errors.New("IMAGE_PROCESS_FAILED")
	case w+h > maxSum || w > maxRatio*h || h > maxRatio*w:
		return errors.New("PHOTO_INVALID_DIMENSIONS")
	}
	return nil
}

// imageSize returns the width and height of an image, or 0 for data that is no image.
func imageSize(raw []byte) (int, int) {
	c, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}
