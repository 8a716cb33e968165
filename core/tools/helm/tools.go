//go:build tools

// Package helm pins Helm, which checks the chart of examples/replicas. It is a module of its own, since Helm needs more modules than all
// other tools.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
