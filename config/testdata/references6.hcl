notify "webhook" "ops" {}
service "mail" { notify = "notify.ops" }
