# Written by patchbay plugin lock. Do not edit.

plugin "script" {
  digests = {
    PLATFORM = "sha256:DIGEST OF PATH"
  }
  files = {
    "plugins/script/module.txt" = "sha256:DIGEST OF FILE"
  }
}
