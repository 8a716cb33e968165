# env SVC_GRACE=soon
# env SVC_LEVEL=verbose
# env SVC_WORKERS=many
# env SVC_DEV_OPEN=maybe
# env SVC_LABELS=novalue
core {
  level = "debug"
}
