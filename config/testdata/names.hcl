notfy "webhook" "ops" {}
serch "local" "x" {}
timeout = "3s"
core {
  htp_addr = "0.0.0.0:1"
}
core {}
storage "postgress" {}
service "serch" {}
plugin "Upper" {}
plugin "twice" { path = "a" }
plugin "twice" { path = "b" }
search "local" {}
search "local" "a" "b" {}
search "local" "Docs" {}
search "lokal" "a" {}
search "UPPER" "b" {}
search "local" "docs" {
  conifg {}
  config { folders = [] }
  config { folders = [] }
}
search "remote" "docs" {}
service "mail" {}
service "mail" {}
