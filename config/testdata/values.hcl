core {
  grace    = "90 seconds"
  level    = "verbose"
  workers  = 1.5
  dev_open = "maybe"
  proxies  = "10.0.0.1"
  labels   = { a = ["x"] }
  listen   = "0.0.0.0:1"
}
defaults {
  timeout     = "-1s"
  concurrency = 0
}
search "local" "docs" {
  timeout     = 90
  concurrency = 100000
  isolate     = "no"
  config {
    folders = ["a", ["b"]]
    weights = { a = null }
    mode    = "slow"
    ratio   = "half"
  }
}
search "local" "empty" {}
search "local" "null" {
  config { folders = ["a", null] }
}
search "remote" "main" {
  config {
    limt = 3
    wait = "soon"
    old  = "x"
    feed {}
    header "a" {
      value = env("UNSET_VALUE")
    }
    header "a" {
      value = env("UNSET_VALUE")
    }
    tls {
      url = "x"
    }
    tls {
      url = "x"
    }
  }
}
