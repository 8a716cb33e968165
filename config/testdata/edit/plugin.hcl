# The configuration of a house with a garden.

storage "sqlite" { path = "data/app.sqlite3" } # small enough

// What stands in the documents.
search "local" "docs" {
  timeout = "20s" # they are near
  config {
    # All of them, in this order:
    folders = ["README.md", "core/docs"] # no sources
    mode    = "fast"                     # optional
    weights = {
      title = "3" # titles count more
    }
  }
}

# search "remote" "web" {}
# A search of one line.
search "local" "tiny" {
  config { folders = ["x"] }
}

/* Channels
   of two lines */
notify "webhook" "ops" {}

# Where people talk.
notify "webhook" "chat" {
  config {
    url = env("CHAT_URL", "") # set by systemd
  }
} # end of chat

# The service.
service "search" {
  base_url = "/search" # behind the proxy
  backend  = search.docs
}

service "mail" { # for demo
  notify = [
    notify.ops, # first
    notify.chat,
  ]
}
