# The targets that people type. "make run" and "make test" need Go, gcc and make, nothing else.
GO      ?= go
VERSION ?= 0.1.0-dev
COMMIT  := $(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/patchbay-dev/patchbay/core/cli.Version=$(VERSION) -X github.com/patchbay-dev/patchbay/core/cli.Commit=$(COMMIT)

# TESTFLAGS go to every test run. PATCHBAY_REQUIRE=all turns a missing component into a failure. Tests are linked without
# what debuggers read, which takes half the time.
TESTFLAGS ?=
GO_TEST   := $(GO) test -trimpath -ldflags='-s -w'
# TIMEOUT bounds the tests of one package: those that run the product on a container engine take minutes, and several times as long on a
# slow or busy machine.
TIMEOUT   ?= 80m
# E2E_TIMEOUT bounds those of a package that runs the product as processes: a test that hangs ends before the whole run does, and is named.
E2E_TIMEOUT ?= 60m
TOOLS     := bin/tools
# Vet and the linters look at what the tests have compiled: with another flag they would compile everything once more.
export GOFLAGS := $(GOFLAGS) -trimpath

.PHONY: build run test test-without quick e2e fuzz pictures doc-pictures interruptions replicas check names bench generate release-protos image image-archive image-push always image-debian release clean

build:
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/patchbay ./core/cmd/patchbay
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/patchbay-plugins ./plugins/cmd/patchbay-plugins

# Container images: FROM scratch, or on a Debian with Python and Node for plugins in these languages. COMPOSE is the compose binary that
# goes into them, a static one of the second generation, and COMPOSE_amd64 or COMPOSE_arm64 that of an image for another architecture than
# this machine's; CA_BUNDLE the certificates of the image without a Debian.
IMAGE     ?= patchbay:$(VERSION)
COMPOSE   ?= /usr/libexec/docker/cli-plugins/docker-compose
CA_BUNDLE ?= /etc/ssl/certs/ca-certificates.crt
IMAGE_DIR := bin/image
ARCH      := $(shell $(GO) env GOHOSTARCH)
COMPOSE_$(ARCH) ?= $(COMPOSE)

# DEBIAN_BASE is the Debian that image-debian begins with, such as debian:trixie-slim. Without it debootstrap makes one in DEBIAN_ROOT, as root.
DEBIAN_IMAGE ?= $(IMAGE)-debian
DEBIAN_BASE  ?=
DEBIAN_ROOT  ?= bin/debian
DEBIAN_SUITE ?= trixie

# The licences of what the binaries contain.
LICENCES  := core/docs/third-party-licences.md

# What all images of the architecture $(1) contain. /bin is a link, as in Debian.
define prepare_image
	@test -x "$(COMPOSE_$(1))" || { echo "there is no compose binary at '$(COMPOSE_$(1))': name one with COMPOSE=…, and with COMPOSE_ARCHITECTURE=… for another architecture than $(ARCH)"; exit 1; }
	rm -rf $(IMAGE_DIR)/$(1)
	mkdir -p $(IMAGE_DIR)/$(1)/rootfs/usr/bin $(IMAGE_DIR)/$(1)/rootfs/etc/patchbay $(IMAGE_DIR)/$(1)/rootfs/usr/share/doc/patchbay $(IMAGE_DIR)/$(1)/rootfs/tmp $(IMAGE_DIR)/$(1)/rootfs/run $(IMAGE_DIR)/$(1)/owned/data
	ln -s usr/bin $(IMAGE_DIR)/$(1)/rootfs/bin
	chmod 1777 $(IMAGE_DIR)/$(1)/rootfs/tmp $(IMAGE_DIR)/$(1)/rootfs/run
	chmod 700 $(IMAGE_DIR)/$(1)/owned/data
	$(IMAGE_DIR)/tools/compile $(VERSION) $(COMMIT) $(1) $(IMAGE_DIR)/$(1)/rootfs/bin
	cp "$(COMPOSE_$(1))" $(IMAGE_DIR)/$(1)/rootfs/bin/docker-compose
	cp LICENSE $(LICENCES) $(IMAGE_DIR)/$(1)/rootfs/usr/share/doc/patchbay/
	cp examples/deploy/config/plugin.hcl $(IMAGE_DIR)/$(1)/rootfs/etc/patchbay/plugin.hcl
endef
# The engine's cache would hold what another image, which may be removed meanwhile, has in common with this one.
build_image = docker build -q --no-cache --label org.opencontainers.image.version=$(VERSION) -f examples/deploy/Dockerfile

# The image FROM scratch for the architecture $(1), under the name $(2). No program of the image runs while it is built, so that any
# architecture will do.
define scratch_image
	$(call prepare_image,$(1))
	mkdir -p $(IMAGE_DIR)/$(1)/rootfs/etc/ssl/certs
	printf 'root:x:0:0::/:\npatchbay:x:10001:10001::/data:\n' >$(IMAGE_DIR)/$(1)/rootfs/etc/passwd
	printf 'root:x:0:\npatchbay:x:10001:\n' >$(IMAGE_DIR)/$(1)/rootfs/etc/group
	cp "$(CA_BUNDLE)" $(IMAGE_DIR)/$(1)/rootfs/etc/ssl/certs/ca-certificates.crt
	$(build_image) --platform linux/$(1) -t "$(2)" $(IMAGE_DIR)/$(1)
endef

# The programs that make images.
$(IMAGE_DIR)/tools/%: always
	cd core/tools/release && $(GO) build -trimpath -o $(abspath $@) ./$*

image: $(IMAGE_DIR)/tools/compile
	$(call scratch_image,$(ARCH),$(IMAGE))

# The image for all of ARCHITECTURES under one name: image-archive writes it to RELEASE_DIR, beside what "make release" has made, and
# image-push pushes it to the registry of IMAGE, too. IMAGEFLAGS=-unsigned leaves the checksums without a signature.
ARCHITECTURES ?= amd64 arm64
RELEASE_DIR   ?= bin/release
IMAGEFLAGS    ?=
IMAGE_FILES    = $(ARCHITECTURES:%=$(IMAGE_DIR)/%.tar)
image-archive image-push: $(IMAGE_DIR)/tools/image $(IMAGE_FILES)
	$(IMAGE_DIR)/tools/image -version $(VERSION) -out $(RELEASE_DIR) $(if $(filter image-push,$@),-push "$(IMAGE)") $(IMAGEFLAGS) $(IMAGE_FILES)
	rm $(IMAGE_FILES)

# The image for one architecture, as a file.
$(IMAGE_DIR)/%.tar: $(IMAGE_DIR)/tools/compile always
	$(call scratch_image,$*,$(IMAGE)-$*)
	docker save -o $@ "$(IMAGE)-$*"
	docker rmi "$(IMAGE)-$*" >/dev/null

$(DEBIAN_ROOT):
	rm -rf $@.partial
	debootstrap --variant=minbase $(DEBIAN_SUITE) $@.partial
	mv $@.partial $@

image-debian: $(IMAGE_DIR)/tools/compile $(if $(DEBIAN_BASE),,$(DEBIAN_ROOT))
	$(call prepare_image,$(ARCH))
	$(if $(DEBIAN_BASE),,tar -C $(DEBIAN_ROOT) --one-file-system --exclude='./var/cache/apt/archives/*.deb' --exclude='./var/lib/apt/lists/*' -c . | docker import - "$(DEBIAN_IMAGE)-root")
	docker build -q --build-arg DEBIAN_BASE="$(or $(DEBIAN_BASE),$(DEBIAN_IMAGE)-root)" -t "$(DEBIAN_IMAGE)-base" - <examples/deploy/debian.Dockerfile
	$(build_image) --build-arg BASE="$(DEBIAN_IMAGE)-base" -t "$(DEBIAN_IMAGE)" $(IMAGE_DIR)/$(ARCH)

# What is published of a version, in bin/release: archives, Debian and RPM packages, a bill of materials, and checksums that the key
# of MINISIGN_KEY signs; RELEASEFLAGS=-unsigned does without. Another architecture than this machine's needs its C compiler.
RELEASEFLAGS ?=
release:
	cd core/tools/release && $(GO) build -trimpath -o ../../../$(TOOLS)/release .
	$(TOOLS)/release -version $(VERSION) -out $(RELEASE_DIR) $(RELEASEFLAGS)

run: build
	bin/patchbay serve -config plugin.hcl

$(TOOLS)/testsum: $(wildcard core/tools/testsum/*.go)
	cd core/tools && $(GO) build -trimpath -o ../../$(TOOLS)/testsum ./testsum

# The tests that run the product as processes mostly wait for it, so they run beside all others, several at once, and
# without the race detector, which would see nothing of those processes. Nor has it anything to see in those that read the
# source.
# Those of each service are a package below E2E_DIR; the ones that take longest begin first.
E2E_DIR   := ./plugins/internal/e2e
E2E_LONG  := deploy containers supervisor releases console core notify
E2E       := $(addprefix $(E2E_DIR)/,$(E2E_LONG) $(filter-out kit $(E2E_LONG),$(patsubst $(E2E_DIR)/%/doc.go,%,$(wildcard $(E2E_DIR)/*/doc.go))))
GUARD     := ./core/guard
E2E_FLAGS := -json -timeout $(E2E_TIMEOUT) -p 3 -parallel 3
# What "make quick" does without.
QUICK_WITHOUT := a container engine,dockerd,docker-registry,chromium,npm,node,postfix,postgres
# The packages whose tests take longest begin first, so that none of them is left alone at the end.
LONG      := ./core/app ./core/services/containers ./plugins/engine/docker ./core/services/search ./core/services/mail ./core/services/releases ./core/queue

# RACE=-race runs those packages with the race detector whose goroutines share most; it takes them several times as long.
RACE      ?=
RACY      := ./core/auth/limit ./core/cluster ./core/event ./core/httpd ./core/notify/channels ./core/plugin/catalog ./core/plugin/client ./core/plugin/host \
	./core/queue ./core/secret ./core/services/search/access ./core/services/search/audit ./core/services/search/keys ./core/services/search/proxy \
	./core/services/mail/inbound ./core/services/releases/translate ./core/store
UNIT_TEST  = $(GO_TEST) -json -timeout $(TIMEOUT) $(TESTFLAGS)

# RERUN=N runs a failed test once more, alone, and takes up to N of them as flaky, which the last lines list.
RERUN     ?= 0
TESTSUM   := $(TOOLS)/testsum -components bin/components.tsv -rerun $(RERUN) -plain '$(E2E) $(GUARD)' -flags "-trimpath -timeout $(TIMEOUT) $(TESTFLAGS)"

# Each go test has a pipe of its own, so that testsum knows at every moment what runs.
test: $(TOOLS)/testsum
	@rm -f bin/e2e.pipe bin/sdk.pipe bin/race.pipe && mkfifo bin/e2e.pipe bin/sdk.pipe bin/race.pipe
	{ $(GO_TEST) $(E2E_FLAGS) $(GUARD) $(E2E) >bin/e2e.pipe & \
	(cd sdk && $(GO_TEST) -json $(TESTFLAGS) ./... >../bin/sdk.pipe) & \
	racy=$$(test -z '$(RACE)' || $(GO) list $(RACY)); { test -z "$$racy" || $(UNIT_TEST) $(RACE) -p 1 $$racy; } >bin/race.pipe & \
	$(UNIT_TEST) $$($(GO) list $(LONG) ./... | awk '!seen[$$0]++' | grep -v -e '$(E2E_DIR:./%=/%)' -e '$(GUARD:./%=/%)$$' | grep -vxF "$${racy:-none}"); \
	wait; } | $(TESTSUM) bin/e2e.pipe bin/sdk.pipe bin/race.pipe
	@rm -f bin/e2e.pipe bin/sdk.pipe bin/race.pipe

# The tests without a component: only those that bin/components.tsv names for it, which "make test" writes.
test-without: $(TOOLS)/testsum
	@test -n "$(COMPONENT)" -a -s bin/components.tsv || { echo "say COMPONENT=NAME, a name of the first column of bin/components.tsv, which \"make test\" writes"; exit 1; }
	@awk -F'\t' -v c='$(COMPONENT)' '$$1 == c { tests[$$2] = tests[$$2] (tests[$$2] ? "|" : "") $$3 } END { for (p in tests) print p, "^(" tests[p] ")$$" }' bin/components.tsv | \
	while read -r package tests; do PATCHBAY_TEST_WITHOUT='$(COMPONENT)' $(GO_TEST) -count=1 -json -timeout $(TIMEOUT) -run "$$tests" $$package; done | $(TOOLS)/testsum

# For whoever changes a line: the tests that need neither a container engine nor a browser, npm or a mail server.
quick: $(TOOLS)/testsum
	{ (cd sdk && $(GO_TEST) -json ./... >../bin/sdk.json) & \
	PATCHBAY_TEST_WITHOUT='$(QUICK_WITHOUT)' $(GO_TEST) -json -short -timeout $(TIMEOUT) $$($(GO) list ./... | grep -v -e '$(E2E_DIR:./%=/%)'); \
	wait; cat bin/sdk.json; } | $(TOOLS)/testsum

# Only the tests that run the product as processes, with its real clients.
e2e: $(TOOLS)/testsum
	$(GO_TEST) $(E2E_FLAGS) -count=1 $(E2E) | $(TOOLS)/testsum

# A picture of every page in every size, theme and language, in bin/screenshots.
pictures:
	PATCHBAY_TEST_PICTURES=all $(GO) test -count=1 -trimpath -timeout $(TIMEOUT) -run '^Test(PagesInEveryState|Console|SearchPages|SearchMembers|ContainersPages|ContainersHooksPage|NotificationsPages|NotifyEvery|MailPages|ReleasesPages|SupervisorPage)' $(E2E)

# The pictures in core/docs/pictures: pages of a core with demonstration data, and those of core/docs/observability.md, drawn from what a
# working core told a real Prometheus and a collector of traces: 4 minutes. The machine needs a font with Chinese characters.
doc-pictures:
	PATCHBAY_TEST_PICTURES=1 $(GO) test -count=1 -trimpath -timeout $(TIMEOUT) -run '^Test(DocPictures|Dashboard|TracePicture)$$' $(E2E_DIR)/console $(E2E_DIR)/core
	cp bin/screenshots/dashboard.png bin/screenshots/trace.png core/docs/pictures/

# A hundred updates and rollbacks that are cut off at random moments, for each generation of compose: about 15 minutes. The
# test prints PATCHBAY_TEST_SEED, which repeats a run.
interruptions:
	PATCHBAY_TEST_INTERRUPTIONS=100 $(GO) test -count=1 -trimpath -timeout $(TIMEOUT) -v -run 'TestContainersInterrupted(Stack)?$$' $(E2E_DIR)/containers

# Several cores on one PostgreSQL, whole: 20 kills, 200 rounds of a limit, 200 streams of 10,000 messages; and jobs of three processes of
# which one is killed 200 times and replaced: about 25 minutes.
replicas:
	PATCHBAY_TEST_REPLICAS=all $(GO) test -count=1 -trimpath -timeout $(TIMEOUT) -v $(E2E_DIR)/replicas
	PATCHBAY_TEST_KILLS=200 $(GO) test -count=1 -trimpath -timeout $(TIMEOUT) -v -run 'TestKilledNodes$$' ./core/queue

# Messages and texts that nobody has written, for a short time each, both at once. Go reports a failure when the time ends at a
# bad moment: that one names no input.
FUZZTIME ?= 20s
FUZZ     := $(GO) test -trimpath -run '^$$' -parallel 1 -fuzzminimizetime 20x -fuzztime $(FUZZTIME)
fuzzed    = { $(FUZZ) -fuzz $(1) $(2) >bin/$(1).log 2>&1; status=$$?; tail -n 25 bin/$(1).log; [ $$status = 0 ] || \
	{ grep -q '^    context deadline exceeded' bin/$(1).log && ! grep -qE 'Failing input|corpus entry|panic:' bin/$(1).log; }; }
fuzz:
	@mkdir -p bin
	$(call fuzzed,FuzzParse,./core/services/mail/rfc822) & parse=$$!; $(call fuzzed,FuzzFind,./core/services/mail/code); find=$$?; wait $$parse && exit $$find

bench: build
	$(GO) build -trimpath -o bin/bench ./plugins/internal/bench
	bin/bench -bin bin
	$(GO) test -trimpath -run "^$$" -bench . -benchtime 200x ./core/queue ./core/services/search ./core/services/containers ./core/services/search/pages ./core/notify/card
	$(GO) test -trimpath -run "^$$" -timeout $(TIMEOUT) -bench Million -benchtime 100x ./core/services/mail
	$(GO) test -trimpath -run "^$$" -timeout $(TIMEOUT) -bench Mail -benchtime 1x $(E2E_DIR)/mail
	$(GO) test -trimpath -run "^$$" -timeout $(TIMEOUT) -bench StackUpdate -benchtime 3x $(E2E_DIR)/containers
	$(GO) test -trimpath -run "^$$" -bench "Feed|Planning" -benchtime 30x ./core/services/releases
	$(GO) test -trimpath -run "^$$" -bench WaitingClients -benchtime 1x ./core/services/releases
	$(GO) test -trimpath -run "^$$" -bench . -skip "StackUpdate" -benchtime 20x ./plugins/registry/oci ./plugins/engine/docker $(E2E_DIR)/containers
	$(GO) test -trimpath -run "^$$" -bench 'Ranking|CostlyQueries' -benchtime 20x ./plugins/search/local
	$(GO) test -trimpath -run "^$$" -bench FirstIndex -benchtime 1x ./plugins/search/local
	$(GO) test -trimpath -run "^$$" -bench IndexCost -benchtime 1x ./plugins/search/local/quality

UI       := core/console/ui
VENDORED := $(UI)/static/vendor
# The texts that browsers load, the script of every page from its parts, as core/console/ui puts it together.
UI_TEXTS := $(VENDORED)/htmx.org-4.0.1/htmx.min.js+$(VENDORED)/htmx.org-4.0.1/hx-sse.min.js+$(UI)/static/app.js \
	$(VENDORED)/uplot-1.6.32/uPlot.iife.min.js $(VENDORED)/uplot-1.6.32/uPlot.min.css $(UI)/static/app.css $(UI)/static/place.js $(UI)/static/docs.css $(UI)/static/chart.js $(UI)/static/push.js \
	$(wildcard core/services/*/pages/static/*.css core/services/*/pages/static/*.js core/supervisor/static/*.css)

generate:
	mkdir -p $(TOOLS)
	cd core/tools && $(GO) build -trimpath -o ../../$(TOOLS)/ ./brotli ./protogen ./licences google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc github.com/a-h/templ/cmd/templ github.com/tdewolff/minify/v2/cmd/minify
	$(TOOLS)/templ generate -path core
	$(TOOLS)/protogen $(TOOLS) sdk/proto
	cd sdk && $(GO) test -count=1 -trimpath ./proto/internal/compat -run TestPublishedSetIsCurrent -update
	$(TOOLS)/licences . $(LICENCES)
	$(GO) test -count=1 -trimpath ./core/app ./core/cli ./plugins/cmd/patchbay-plugins -run Reference -update
	$(TOOLS)/minify -q -o $(UI)/static/app.css $(UI)/styles/app.css
	$(TOOLS)/brotli $(UI)/static/packed $(UI_TEXTS)

# What is released may not change any more: run it when a release is made, and commit what it writes. A test compares
# the .proto files with it from then on.
release-protos: generate
	cd sdk && $(GO) test -count=1 -trimpath ./proto/internal/compat
	cp sdk/proto/patchbay.binpb sdk/proto/released.binpb

# Linters, that generated files and module files are what their sources say, that nothing calls what is known to be
# vulnerable, where the database of vulnerabilities can be reached, and that the Helm chart is valid.
check: generate
	@test -z "$$(gofmt -l core config plugins sdk examples)" || { gofmt -l core config plugins sdk examples; echo "the files above are not formatted: run gofmt -w"; exit 1; }
	@git diff --exit-code -- '*.pb.go' '*.binpb' '*_templ.go' '*.br' $(UI)/static/app.css $(LICENCES) 'core/docs/reference-*.md' || { echo "generated files differ: run make generate and commit"; exit 1; }
	$(GO) vet ./...
	cd sdk && $(GO) vet ./...
	cd core/tools && $(GO) vet ./brotli ./protogen ./testsum ./licences ./vulncheck && $(GO) test -trimpath ./testsum ./licences ./vulncheck
	$(GO) mod tidy -diff
	cd sdk && $(GO) mod tidy -diff
	cd core/tools && $(GO) mod tidy -diff
	cd core/tools/lint && $(GO) mod tidy -diff
	cd core/tools/release && $(GO) vet ./... && $(GO) test -trimpath ./internal/sums && $(GO) mod tidy -diff
	cd core/tools/lint && $(GO) build -trimpath -o ../../../$(TOOLS)/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	$(TOOLS)/golangci-lint run ./...
	cd sdk && ../$(TOOLS)/golangci-lint run ./...
	cd core/tools && $(GO) build -trimpath -o ../../$(TOOLS)/ ./vulncheck
	$(TOOLS)/vulncheck . sdk
	cd core/tools/helm && $(GO) vet ./... && $(GO) test -trimpath ./... && $(GO) mod tidy -diff
	cd core/tools/helm && $(GO) build -trimpath -o ../../../$(TOOLS)/ helm.sh/helm/v3/cmd/helm
	$(TOOLS)/helm lint --strict --kube-version 1.31 examples/replicas/helm

# What core/docs/CONTRIBUTING.md says of names and comments, counted for each package.
names:
	$(GO) test -count=1 -run 'TestNames$$' -v $(GUARD)

clean:
	rm -rf bin
