package ui

// The icons of the navigation, each a path of strokes in a square of 24.
const (
	IconHome     = "M4 11 12 4l8 7v9h-5v-6H9v6H4z"
	IconChart    = "M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6"
	IconToken    = "M4 8h16v3a2 2 0 0 0 0 3v3H4v-3a2 2 0 0 0 0-3zM14 8v9"
	IconKey      = "M8 12a3.5 3.5 0 1 0 .01 0M11 12h10M18 12v4M15 12v3"
	IconList     = "M9 6h11M9 12h11M9 18h11M4 6h.01M4 12h.01M4 18h.01"
	IconPlay     = "M7 4l12 8-12 8z"
	IconBook     = "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11"
	IconBoxes    = "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9"
	IconJobs     = "M12 3a9 9 0 1 0 9 9M12 7v5l3 2"
	IconFind     = "M10.5 4a6.5 6.5 0 1 0 .01 0M15.5 15.5 21 21"
	IconHook     = "M12 3v9M8 8l4 4 4-4M5 14v4a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-4"
	IconBell     = "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4"
	IconCheck    = "M4 12l5 5L20 6"
	IconSettings = "M4 7h10M18 7h2M16 5v4M4 17h2M10 17h10M8 15v4M4 12h16"
	IconPlug     = "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4"
	IconUsers    = "M9 11a3.5 3.5 0 1 0-.01 0M3 20a6 6 0 0 1 12 0M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14.5a6 6 0 0 1 3 5.5"
	IconNodes    = "M4 4h16v6H4zM4 14h16v6H4zM7.5 7h.01M7.5 17h.01"
	IconAudit    = "M12 3l7 3v6c0 4-3 7-7 9-4-2-7-5-7-9V6zM9 12l2 2 4-4"
	IconEnvelope = "M3 6h18v12H3zM3 7l9 7 9-7"
	IconGlobe    = "M12 3a9 9 0 1 0 .01 0M3 12h18M12 3c4 4 4 14 0 18M12 3c-4 4-4 14 0 18"
	IconPage     = "M6 3h9l4 4v14H6zM14 3v5h5"
)
