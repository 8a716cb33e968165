package documents

import (
	"encoding/json"
	"strings"
)

// cell is a cell of a notebook. In the oldest form its text is its input and it may be a heading.
type cell struct {
	Type   string `json:"cell_type"`
	Source lines  `json:"source"`
	Input  lines  `json:"input"`
	Level  int    `json:"level"`
}

// lines is a text that may be written as a list of its lines.
type lines string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lines) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = lines(one)
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return err
	}
	*l = lines(strings.Join(many, ""))
	return nil
}

// notebook is a file of Jupyter. What cells have put out is not read.
type notebook struct {
	Cells      []cell `json:"cells"`
	Worksheets []struct {
		Cells []cell `json:"cells"`
	} `json:"worksheets"`
	Metadata struct {
		Title        string                    `json:"title"`
		KernelSpec   struct{ Language string } `json:"kernelspec"`
		LanguageInfo struct{ Name string }     `json:"language_info"`
	} `json:"metadata"`
}

// parseNotebook makes Markdown of the cells of a notebook.
func parseNotebook(text string) (*Document, error) {
	var nb notebook
	if err := json.Unmarshal([]byte(text), &nb); err != nil {
		return nil, &Error{Damaged}
	}
	cells := nb.Cells
	for _, w := range nb.Worksheets {
		cells = append(cells, w.Cells...)
	}
	language := cleanWord(nb.Metadata.LanguageInfo.Name)
	if language == "" {
		language = cleanWord(nb.Metadata.KernelSpec.Language)
	}
	var out []string
	for _, c := range cells {
		source := strings.Trim(string(c.Source+c.Input), "\n")
		switch {
		case strings.TrimSpace(source) == "":
		case c.Type == "code":
			out = append(out, "```"+language+"\n"+source+"\n```")
		case c.Type == "heading":
			out = append(out, strings.Repeat("#", min(max(c.Level, 1), 6))+" "+source)
		default:
			out = append(out, stripMarks(source))
		}
	}
	doc := &Document{Title: nb.Metadata.Title, Text: strings.Join(out, "\n\n"), Prose: true}
	if doc.Title == "" {
		doc.Title = FirstHeading(doc.Text)
	}
	return doc, nil
}
