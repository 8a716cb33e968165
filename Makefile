# The targets that people type. "make run" and "make test" need Go, gcc and make.
GO      ?= go
VERSION ?= 0.1.0-dev
COMMIT  := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/patchbay-dev/patchbay/core/cli.Version=$(VERSION) -X github.com/patchbay-dev/patchbay/core/cli.Commit=$(COMMIT)

.PHONY: build run test check bench e2e generate tools clean

build:
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/patchbay ./core/cmd/patchbay
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/patchbay-plugins ./plugins/cmd/patchbay-plugins

run: build
	bin/patchbay serve -config plugin.hcl

clean:
	rm -rf bin
