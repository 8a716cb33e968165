search "local" "docs" {
  config { folders = [search.docs, wiki] }
}
service "search" { backend = "search.docs" }
