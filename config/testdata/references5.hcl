notify "webhook" "ops" {}
search "local" "docs" {
  config { folders = ["."] }
}
service "search" { backend = search.docs }
service "mail" { notify = notify.ops }
