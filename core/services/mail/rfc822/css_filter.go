package rfc822

import (
	"slices"
	"strings"
)

const (
	// maxCSS is how much of the style sheets of a message, or of one attribute, is shown, in bytes.
	maxCSS = 512 << 10
	// maxCSSDepth is how deep blocks may be nested.
	maxCSSDepth = 16
)

// styleRules are the rules with @ that stay. What loads something, such as @import and @font-face, does not.
var styleRules = []string{"media", "supports", "container", "layer", "keyframes", "-webkit-keyframes", "-moz-keyframes"}

// styleFunctions are the functions that stay in values. None of them takes an address.
var styleFunctions = []string{
	"rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark", "calc", "min", "max", "clamp",
	"round", "var", "env", "counter", "counters", "attr",
	"linear-gradient", "radial-gradient", "conic-gradient", "repeating-linear-gradient", "repeating-radial-gradient",
	"-webkit-linear-gradient", "-webkit-radial-gradient", "-moz-linear-gradient",
	"matrix", "rotate", "scale", "scalex", "scaley", "skew", "skewx", "skewy", "translate", "translatex", "translatey", "translate3d",
	"rotatex", "rotatey", "rotatez", "scale3d", "matrix3d", "perspective",
	"blur", "brightness", "contrast", "drop-shadow", "grayscale", "hue-rotate", "invert", "opacity", "saturate", "sepia", "cubic-bezier",
	"steps", "rect", "inset", "circle", "ellipse", "polygon",
	"minmax", "repeat", "fit-content",
}

// cssFilter writes CSS without what loads or runs something.
type cssFilter struct {
	lexer *cssLexer
	out   strings.Builder
	// imageURL returns the address from which an image is loaded, or "".
	imageURL func(string) string
}

// filterStyles returns a style sheet in which each image has an address of imageURL, and nothing else is loaded.
func filterStyles(source string, imageURL func(string) string) string {
	f := &cssFilter{lexer: newCSSLexer(source), imageURL: imageURL}
	f.filterItems(0)
	return f.out.String()
}

// filterDeclarations is filterStyles for the declarations of one element. Blocks within them are left out.
func filterDeclarations(source string, imageURL func(string) string) string {
	f := &cssFilter{lexer: newCSSLexer(source), imageURL: imageURL}
	for {
		item, end := f.readItem()
		switch {
		case end.isMark("{"):
			f.skipBlock()
		case len(item) > 0 && item[0].kind != cssAt:
			f.writeDeclaration(item)
		}
		if end.kind == cssEnd {
			return f.out.String()
		}
	}
}

// filterItems writes rules and declarations to the end of their block.
func (f *cssFilter) filterItems(depth int) {
	for {
		item, end := f.readItem()
		switch {
		case end.isMark("{"):
			f.filterRule(item, depth)
		case len(item) > 0 && item[0].kind != cssAt && depth > 0:
			f.writeDeclaration(item)
		}
		if end.kind == cssEnd || end.isMark("}") && depth > 0 {
			return
		}
	}
}

// readItem reads what stands before the next brace or semicolon outside brackets, and that, without the spaces at both ends.
func (f *cssFilter) readItem() (item []cssToken, end cssToken) {
	var closers []string
	for {
		t := f.lexer.nextToken()
		switch {
		case t.kind == cssEnd, t.isMark(";{}") && len(closers) == 0:
			for len(item) > 0 && item[len(item)-1].kind == cssSpace {
				item = item[:len(item)-1]
			}
			return item, t
		case t.isMark("{}"):
			// A brace within brackets: the brackets were never closed.
			return nil, t
		case t.kind == cssFunction || t.isMark("("):
			closers = append(closers, ")")
		case t.isMark("["):
			closers = append(closers, "]")
		case t.isMark(")]"):
			if len(closers) == 0 || closers[len(closers)-1] != t.text {
				t = cssToken{kind: cssBad}
			} else {
				closers = closers[:len(closers)-1]
			}
		case t.kind == cssSpace && len(item) == 0:
			continue
		}
		item = append(item, t)
	}
}

// skipBlock reads a block to its end.
func (f *cssFilter) skipBlock() {
	for depth := 1; depth > 0; {
		switch t := f.lexer.nextToken(); {
		case t.kind == cssEnd:
			return
		case t.isMark("{"):
			depth++
		case t.isMark("}"):
			depth--
		}
	}
}

// filterRule writes a rule whose prelude was read. One that may not stay is skipped with its block.
func (f *cssFilter) filterRule(prelude []cssToken, depth int) {
	stays := len(prelude) > 0 && depth < maxCSSDepth && f.out.Len() < maxCSS
	for i, t := range prelude {
		switch {
		case t.kind == cssBad, t.kind == cssURL, t.kind == cssFunction && t.text == "url":
			stays = false
		case t.kind == cssAt:
			stays = stays && i == 0 && slices.Contains(styleRules, strings.ToLower(t.text))
		}
	}
	if !stays || isCustomProperty(prelude) {
		f.skipBlock()
		return
	}
	for _, t := range prelude {
		t.writeTo(&f.out)
	}
	f.closeBrackets(prelude)
	f.out.WriteByte('{')
	f.filterItems(depth + 1)
	f.out.WriteString("}\n")
}

// isCustomProperty reports whether an item declares a property such as --x, which may have a block for a value.
func isCustomProperty(item []cssToken) bool {
	return len(item) > 1 && item[0].kind == cssName && strings.HasPrefix(item[0].text, "--") && item[1].isMark(":")
}

// closeBrackets closes what an item that ends with the style sheet has left open.
func (f *cssFilter) closeBrackets(item []cssToken) {
	var open []byte
	for _, t := range item {
		switch {
		case t.kind == cssFunction || t.isMark("("):
			open = append(open, ')')
		case t.isMark("["):
			open = append(open, ']')
		case t.isMark(")]"):
			open = open[:max(0, len(open)-1)]
		}
	}
	slices.Reverse(open)
	f.out.Write(open)
}

// boundProperties are properties that run what their value names, in browsers of old.
var boundProperties = []string{"behavior", "-ms-behavior", "-moz-binding", "src"}

// writeDeclaration writes a declaration, unless its value does what no value may.
func (f *cssFilter) writeDeclaration(item []cssToken) {
	name := strings.ToLower(item[0].text)
	value := item[1:]
	for len(value) > 0 && value[0].kind == cssSpace {
		value = value[1:]
	}
	if item[0].kind != cssName || len(value) == 0 || !value[0].isMark(":") || slices.Contains(boundProperties, name) || f.out.Len() > maxCSS {
		return
	}
	value = f.withImages(value[1:])
	for _, t := range value {
		if name == "position" && (strings.EqualFold(t.text, "fixed") || strings.EqualFold(t.text, "sticky")) {
			// It would stay in view while the rest scrolls.
			return
		}
		if t.kind == cssBad || t.kind == cssAt || t.kind == cssFunction && t.text != "url" && !slices.Contains(styleFunctions, t.text) {
			return
		}
	}
	f.out.WriteString(quoteCSSName(name) + ":")
	for _, t := range value {
		t.writeTo(&f.out)
	}
	f.closeBrackets(value)
	f.out.WriteByte(';')
}

// withImages returns a value in which each URL is one of imageURL in quotes, or none.
func (f *cssFilter) withImages(value []cssToken) (out []cssToken) {
	for i := 0; i < len(value); i++ {
		address, t := "", value[i]
		switch {
		case t.kind == cssURL:
			address = t.text
		case t.kind == cssFunction && t.text == "url":
			for i++; i < len(value) && !value[i].isMark(")"); i++ {
				if value[i].kind == cssString {
					address += value[i].text
				} else if value[i].kind != cssSpace {
					out = append(out, cssToken{kind: cssBad})
				}
			}
		default:
			out = append(out, t)
			continue
		}
		if address = f.imageURL(address); address == "" {
			out = append(out, cssToken{cssName, "none"})
		} else {
			out = append(out, cssToken{cssFunction, "url"}, cssToken{cssString, address}, cssToken{cssMark, ")"})
		}
	}
	return out
}
