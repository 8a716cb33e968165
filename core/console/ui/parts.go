package ui

import (
	"fmt"
	"net/http"
	"strings"
)

func pressedText(on bool) string {
	if on {
		return "true"
	}
	return "false"
}

// errorText is the part of a text's id that tells a status.
func errorText(status int) string {
	switch {
	case status == http.StatusNotFound:
		return "404"
	case status == http.StatusForbidden:
		return "403"
	case status == http.StatusTooManyRequests:
		return "429"
	case status >= http.StatusInternalServerError:
		return "500"
	}
	return "400"
}

// Tone is the class of a state's pill: ok, warn, bad, info or off.
func Tone(state string) string {
	switch state {
	case "ok", "ready", "success", "active", "enabled", "available", "serving", "answered":
		return "ok"
	case "degraded", "backoff", "rolled_back", "cooling_down", "attention", "cancel_requested", "exhausted", "refused", "denied", "draining":
		return "warn"
	case "failed", "bad", "invalid", "error", "revoked", "lost":
		return "bad"
	case "running", "starting", "configuring", "queued", "checking":
		return "info"
	}
	return "off"
}

// Spark is the path of a sparkline through values, in a box of width and height; empty with fewer than two.
func Spark(values []float64, width, height float64) string {
	if len(values) < 2 {
		return ""
	}
	top := 0.0
	for _, v := range values {
		top = max(top, v)
	}
	if top == 0 {
		top = 1
	}
	var b strings.Builder
	for i, v := range values {
		x := float64(i) * width / float64(len(values)-1)
		y := height - 2 - v/top*(height-4)
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", command, x, y)
	}
	return b.String()
}
