// Package xsstest holds HTML that tries to get a script, or a request to another site, past whoever shows it. Each vector that
// works sets top.ran, or asks evil.localhost, where nothing listens.
package xsstest

import (
	_ "embed"
	"encoding/json"
	"testing"
)

//go:embed vectors.json
var file []byte

// Vector is a way past filters.
type Vector struct {
	// Name tells the technique; no two vectors have the same one.
	Name string
	HTML string
}

// Vectors returns the vectors.
func Vectors(t testing.TB) []Vector {
	t.Helper()
	var in struct{ Vectors []Vector }
	if err := json.Unmarshal(file, &in); err != nil || len(in.Vectors) == 0 {
		t.Fatalf("read the vectors: %v", err)
	}
	return in.Vectors
}

// FrameScript defines inspectFrame(document), which names what must not be left in a document that a vector was put into, and
// loadFrames(urls, sandbox), which loads each URL in a frame and resolves to what inspectFrame says of each, and where a frame
// was led somewhere else.
const FrameScript = `
const own = /^(attachments\/|data:image\/(png|jpeg|gif|webp|avif|bmp);base64,)/;
const loads = /url\s*\((?!["']?(attachments\/|data:image\/(png|jpeg|gif|webp|avif|bmp);base64,))|image-set|expression|behavior|binding|@import|@font-face|fixed/i;
const inspectFrame = (doc) => {
	const found = [];
	for (const e of doc.querySelectorAll("*")) {
		const at = e.tagName.toLowerCase() + " ";
		// A style sheet stands in the head, where no vector is put.
		if (e.matches("head > style")) { if (loads.test(e.textContent)) found.push(at + e.textContent); continue; }
		if (/^(script|i?frame|frameset|object|embed|applet|svg|math|link|base|form|input|button|select|style|video|audio|source|track|template|noscript|marquee|portal)$/i.test(e.tagName)) found.push("element " + at);
		if (e.matches("meta:not([charset])")) found.push("element " + at);
		for (const a of e.attributes) {
			if (/^on|^(srcdoc|srcset|ping|background|poster|data|action|formaction|xlink:href|http-equiv|autofocus|popover)$/i.test(a.name)) found.push(at + a.name);
			if (a.name === "style" && loads.test(a.value)) found.push(at + "style " + a.value);
			if (a.name === "src" && !own.test(a.value) && new URL(a.value, doc.baseURI).origin !== location.origin) found.push(at + "src " + a.value);
			if (a.name === "href" && !/^(https?|mailto|tel):$/.test(e.protocol)) found.push(at + "href " + a.value);
		}
	}
	return found;
};
const loadFrames = async (urls, sandbox) => {
	const frames = await Promise.all(urls.map((url) => new Promise((loaded) => {
		const frame = document.createElement("iframe");
		if (sandbox) frame.setAttribute("sandbox", sandbox);
		frame.src = url;
		frame.onload = () => loaded(frame);
		document.body.append(frame);
	})));
	// What a refresh or an animation begins comes after the load.
	await new Promise((later) => setTimeout(later, 500));
	return frames.map((frame, i) => {
		for (const e of frame.contentDocument.querySelectorAll("*")) for (const type of ["mouseover", "focus", "toggle", "error"]) e.dispatchEvent(new Event(type));
		const at = frame.contentDocument.location.href;
		return [...inspectFrame(frame.contentDocument), ...(at === new URL(urls[i], location.href).href ? [] : ["led to " + at])].join(", ");
	});
};
`
