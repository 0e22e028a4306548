#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: verify.sh [CHECK...]
#
# Checks that the code is as it should be, and that what is generated, formatted
# or pinned is current; or only what is named. It changes nothing: what has to
# be written to be compared is written to a copy. All checks run, also after one
# has failed.

set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
failed=()
only=("$@")

# check NAME COMMAND... runs COMMAND and remembers NAME if it fails.
check() {
  local name=$1 started=$SECONDS
  shift
  if ((${#only[@]} > 0)) && [[ " ${only[*]} " != *" $name "* ]]; then return; fi
  echo "verify: $name"
  if ! "$@"; then
    failed+=("$name")
    echo "verify: $name FAILED"
  fi
  if ((SECONDS - started >= 10)); then echo "  $((SECONDS - started)) s"; fi
}

# empty fails and shows its input unless there is none.
empty() {
  local input
  input=$(cat)
  [[ -z $input ]] || { printf '%s\n' "$input"; false; }
}

# sources prints the files of the working tree that git knows or would add.
sources() {
  git ls-files -z --cached --others --exclude-standard "$@" | while IFS= read -r -d '' file; do
    [[ ! -e $file ]] || printf '%s\0' "$file"
  done
}

formatting() {
  sources '*.go' | xargs -0 gofmt -l -s | empty
}

headers() {
  sources '*.go' '*.sh' .ci/run ':!*.gen.go' | xargs -0 grep -L 'SPDX-License-Identifier: Apache-2.0' | empty
}

vet() {
  go vet ./...
}

# linter TOOL ARGUMENT... runs a tool of hack/lint. It is not linked again while
# it is current.
linter() {
  local tool=$1
  shift
  GOBIN=$root/bin/tools go -C hack/lint install tool && "bin/tools/$tool" "$@"
}

lint() {
  linter golangci-lint run --allow-serial-runners
}

# dead_code looks for functions that neither a program nor a test reaches.
dead_code() {
  linter deadcode -test ./... | sed '/^pkg\/generated\//d' | empty
}

modules() {
  local folder result=0
  for folder in . hack/tools hack/lint hack/kubernetes; do
    (cd "$folder" && go mod tidy -diff) || { echo "go mod tidy changes $folder"; result=1; }
  done
  return "$result"
}

generated() {
  mkdir "$copy/before" || return
  sources | xargs -0 tar -c | tar -x -C "$copy/before" || return
  cp -R "$copy/before" "$copy/after" || return
  if [[ -d bin/tools ]]; then
    # Generators that are current are not linked again.
    mkdir "$copy/after/bin" && cp -R bin/tools "$copy/after/bin/tools" || return
  fi
  "$copy/after/hack/update-codegen.sh" || return
  (cd "$copy" && diff -r --exclude=bin before after) || {
    echo '"make generate" makes these changes'
    false
  }
}

# dependencies compares the direct ones with those that have a reason.
dependencies() {
  diff \
    <(awk '/^\t/ && !/=>|\/\/ indirect/ { sub("/cmd/.*", "", $1); print $1 }' go.mod hack/*/go.mod | sort -u) \
    <(awk -F'|' '/^\| `/ { print $2 }' docs/reference/dependencies.md | grep -o '`[^`]*`' | tr -d '`' | sort -u) ||
    { echo "docs/reference/dependencies.md has others than go.mod"; false; }
}

# manifests builds what can be installed and decodes every object strictly.
manifests() {
  local folder result=0
  mkdir "$copy/manifests" || return
  for folder in artifacts/base artifacts/overlays/*/ artifacts/examples/*/; do
    [[ -e $folder/kustomization.yaml ]] || continue
    bin/kubectl kustomize "$folder" >"$copy/manifests/$(basename "$folder").yaml" ||
      { echo "kustomize cannot build $folder"; result=1; }
  done
  go run ./hack/manifests "$copy"/manifests/*.yaml artifacts/audit/*.yaml artifacts/examples/*.yaml || result=1
  return "$result"
}

scripts() {
  local file result=0
  while IFS= read -r -d '' file; do
    bash -n "$file" || result=1
  done < <(sources '*.sh' .ci/run)
  return "$result"
}

check formatting formatting
check "license headers" headers
check scripts scripts
check manifests manifests
check modules modules
check dependencies dependencies
check "go vet" vet
check lint lint
check "dead code" dead_code
check "generated code" generated

if ((${#failed[@]} > 0)); then
  printf 'verify: failed:%s\n' "$(printf ' %s;' "${failed[@]}")"
  exit 1
fi
echo "verify: all current"
