search "local" "docs" {
  config { folders = ["."] }
}
service "search" {
  base_url = "/system/search"
  backend  = search.docs
}
service "mail" {
  base_url = "mail"
}
