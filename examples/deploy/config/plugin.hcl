# Patchbay in a container: it looks after the compose projects of the host whose engine socket it is given.

storage "sqlite" {
  path = "/data/patchbay.sqlite3"
}

registry "oci" "default" {}

engine "docker" "local" {}

# Where notifications go is set on the page /notifications. Leave out what you do not need: each plugin is a process of its own.
notify "telegram" "chat" {}

notify "email" "mail" {}

notify "webhook" "hook" {}

notify "webpush" "push" {}

service "containers" {
  base_url   = "/"
  engine     = engine.local
  registries = registry.default
  notify     = [notify.chat, notify.mail, notify.hook, notify.push]
}
