search "local" "docs" {
  config { folders = ["."] }
}
service "search" {
  backend = search.docs
}
service "mail" {
  base_url = "/search"
}
