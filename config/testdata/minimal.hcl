search "local" "docs" {
  config { folders = ["."] }
}
service "search" { backend = search.docs }
