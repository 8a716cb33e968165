search "remote" "main" {
  config {
    token = "SECRET-one
      SECRET-more"
    limit = 3
  }
}
service "search" { base_url = "/search" backend = search.docs }
token "SECRET-two"
