package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	// vendorDir holds the scripts and styles of others, and vendorList says which.
	vendorDir  = "core/console/ui/static/vendor"
	vendorList = "vendor.txt"
	fontDir    = "core/notify/card/font"
	// charactersDir holds a table of Chinese characters.
	charactersDir = "plugins/search/local/terms/opencc"
)

// vendoredFiles are the scripts, styles, fonts and tables of others that the binaries embed.
func vendoredFiles(root string) ([]*component, error) {
	raw, err := os.ReadFile(filepath.Join(root, vendorDir, vendorList))
	if err != nil {
		return nil, err
	}
	var out []*component
	seen := map[string]bool{}
	for i, row := range strings.Split(string(raw), "\n") {
		fields := strings.Fields(row)
		if len(fields) == 0 || strings.HasPrefix(row, "#") || seen[fields[0]] {
			continue
		}
		if len(fields) != 5 {
			return nil, fmt.Errorf("%s:%d: expected name, version, licence, file and digest", vendorList, i+1)
		}
		seen[fields[0]] = true
		c := &component{name: fields[0], version: fields[1], linkedInto: []string{binaries[0].name}}
		if c.texts, err = readTexts(filepath.Join(root, vendorDir, path.Dir(fields[3])), []string{"LICENSE"}); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	font := &component{name: "Patchbay Card Sans (a subset of Noto Sans CJK)", linkedInto: []string{binaries[0].name}}
	if font.texts, err = readTexts(filepath.Join(root, fontDir), []string{"OFL.txt"}); err != nil {
		return nil, err
	}
	characters := &component{name: "OpenCC (its table TSCharacters)", version: "1.4.1", linkedInto: []string{binaries[1].name}}
	if characters.texts, err = readTexts(filepath.Join(root, charactersDir), []string{"LICENSE"}); err != nil {
		return nil, err
	}
	return append(out, font, characters), nil
}
