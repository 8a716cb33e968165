plugin "unpinned" { path = "bin/unpinned" }
plugin "trusted" {
  path              = "/opt/trusted"
  insecure_unpinned = true
}
plugin "local" {
  env  = ["HTTPS_PROXY", "A=b"]
  args = ["x"]
}
plugin "broken" {
  path = ["x"]
  mtsl = true
}

plugin "hasty" {
  path          = "bin/hasty"
  start_timeout = "0s"
}
