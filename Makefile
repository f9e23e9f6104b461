# Plain `make` prints the targets.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
BUILD    = $(GO) build -trimpath -buildvcs=false -ldflags "$(LDFLAGS)"

# Fuzzers of what decides and of what is fed from outside, as package:name.
FUZZERS  = internal/policy:FuzzShell internal/policy:FuzzPath internal/policy:FuzzScreen soul/tool:FuzzStrReplaceFile \
           fileop:FuzzParsePatch internal/jsonrpc:FuzzEnvelope
FUZZTIME = 60s

GOLANGCI_VERSION = v2.15.0
GOFUMPT_VERSION  = v0.12.0
TOOLS            = $(CURDIR)/.tools
GOLANGCI         = $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint
GOFUMPT          = $(TOOLS)/gofumpt-$(GOFUMPT_VERSION)/gofumpt

PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.DEFAULT_GOAL = help
.PHONY: help build demo test test-clients test-kernels test-model soak bench bench-go fuzz lint fmt cross clean

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/kimi-acp
	@mkdir -p bin
	$(BUILD) -o bin/kimi-acp ./cmd/kimi-acp

demo: build ## play an editor against the agent, offline
	@bin/kimi-acp demo

test: ## run all tests with the race detector
	$(GO) test -race -timeout 30m ./...

test-clients: ## run the tests with real ACP clients and editors
	$(GO) test -tags clients -count=1 -timeout 30m -v ./internal/clienttest

test-kernels: ## run the tests with kimi-cli from PyPI
	$(GO) test -tags kernels -count=1 -v ./internal/kerneltest

test-model: ## run a real, small model in llama.cpp's server (compiles it the first time)
	$(GO) test -tags model -count=1 -timeout 90m -v ./internal/llamatest

soak: ## play one session of 2,000 turns in which the model fails and the program is killed (15 minutes)
	$(GO) test -tags soak -count=1 -timeout 90m -v ./internal/soaktest

bench: build ## measure the program beside its peer, and rewrite docs/performance.md
	$(GO) run ./internal/agentbench -agent bin/kimi-acp -page docs/performance.md

bench-go: ## run the benchmarks of single functions
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz: ## fuzz decisions, paths, edits and messages, FUZZTIME each; what is found is kept in testdata/fuzz
	@set -e; for fuzzer in $(FUZZERS); do \
		echo "$$fuzzer"; \
		$(GO) test -run '^$$' -fuzz "^$${fuzzer#*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./$${fuzzer%:*}; \
	done

lint: $(GOLANGCI) $(GOFUMPT) ## vet, lint, and check the formatting
	$(GO) vet ./...
	$(GO) vet -tags clients ./internal/clienttest
	$(GO) vet -tags kernels ./internal/kerneltest
	$(GO) vet -tags model ./internal/llamatest
	$(GO) vet -tags soak ./internal/soaktest
	$(GOLANGCI) run ./...
	@unformatted=$$($(GOFUMPT) -l .); if [ -n "$$unformatted" ]; then \
		printf 'not formatted, run make fmt:\n%s\n' "$$unformatted"; exit 1; fi

fmt: $(GOFUMPT) ## format the code
	$(GOFUMPT) -w .

cross: ## build for every platform into dist/
	@mkdir -p dist
	@set -e; for platform in $(PLATFORMS); do \
		os=$${platform%/*}; arch=$${platform#*/}; suffix=; \
		if [ $$os = windows ]; then suffix=.exe; fi; \
		echo "dist/kimi-acp-$$os-$$arch$$suffix"; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch $(BUILD) -o dist/kimi-acp-$$os-$$arch$$suffix ./cmd/kimi-acp; \
	done

clean: ## remove what was built, and the tools
	rm -rf bin dist .tools

$(GOLANGCI):
	GOBIN=$(@D) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

$(GOFUMPT):
	GOBIN=$(@D) $(GO) install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
