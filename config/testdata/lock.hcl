plugin "intranet" { path = "bin/intranet" }
