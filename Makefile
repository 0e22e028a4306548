# SPDX-License-Identifier: Apache-2.0

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c

# The same for whoever compiles: the Go build cache is shared.
export CGO_ENABLED := 0
export GOFLAGS := -buildvcs=false
export GOTOOLCHAIN := local

# What --version says. A copy without git, or without its tags, has one as well.
version = $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
ldflags = -X github.com/unikorn-cloud/instance-apiserver/pkg/cmd/usage.version=$(version)
programs := ./cmd/instance-apiserver ./cmd/instance-controller ./cmd/unikorn-simulator ./hack/devcluster

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this.
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {print substr($$0, 5)} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Running

.PHONY: run
run: control-plane build ## Start everything, show an Instance reach Running; Ctrl-C stops it.
	@bin/devcluster run

.PHONY: up
up: control-plane build ## Start everything in the background.
	@bin/devcluster up

.PHONY: down
down: bin/devcluster ## Stop what "make up" or "make run" started.
	@bin/devcluster down

##@ Building

.PHONY: build
build: ## Build our programs into bin/.
	@go build -v -ldflags "$(ldflags)" -o bin/ $(programs) 2>&1 | hack/progress.sh programs

bin/devcluster:
	@go build -o bin/ ./hack/devcluster

.PHONY: control-plane
control-plane: ## Build Kubernetes and etcd into bin/, once per version.
	@hack/kubernetes/build.sh

.PHONY: generate
generate: ## Write generated code and manifests anew.
	hack/update-codegen.sh

##@ Checking

.PHONY: test
test: control-plane build ## Run all tests, those on the control plane included.
# The suites on the control plane wait more than they compute.
	go test -timeout 60m -p 4 ./...

.PHONY: test-unit
test-unit: ## Run the tests that need no control plane.
	go test -timeout 10m $$(go list ./... | grep -v /test/)

.PHONY: lint
lint: ## Lint, and look for dead code.
	hack/verify.sh lint "dead code"

.PHONY: verify
verify: control-plane ## Check code and manifests, and that what is generated or pinned is current.
	hack/verify.sh
