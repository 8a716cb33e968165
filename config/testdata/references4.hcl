# env SVC_MAIL_NOTIFY=notify.ops,notify.opps
search "local" "docs" {
  config { folders = ["."] }
}
notify "webhook" "ops" {}
service "search" { backend = null }
service "mail" {}
