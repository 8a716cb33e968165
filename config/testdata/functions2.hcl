core {
  http_addr = env("NOT_SET")
  level     = secretfile("files/token")
  proxies   = [file("files/missing.txt")]
  workers   = env("A", "b", "c")
}
