search "local" "docs" {
  config { folders = ["."] }
}
search "local" "wiki" {
  config { folders = ["."] }
}
notify "webhook" "ops" {}
service "search" { backend = search.dosc }
service "mail" {
  notify = [search.docs, "notify.ops", notify.nobody, notify.ops, notify.ops, notfy.ops, notify, 3]
}
