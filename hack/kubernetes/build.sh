#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Kubernetes control plane from the Go module proxy and links it
# into bin/. The binaries are kept in the user's cache folder, one folder for
# each set of module versions, Go version, platform and flags, so that a second
# clone links and does not compile.
#
#   hack/kubernetes/build.sh [BIN_FOLDER]

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=${1:-$here/../../bin}
commands=(
  go.etcd.io/etcd/server/v3
  k8s.io/kubernetes/cmd/kube-apiserver
  k8s.io/kubernetes/cmd/kube-controller-manager
  k8s.io/kubernetes/cmd/kubectl
)
# The same flags as the Makefile: the Go build cache is shared with ours.
export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOWORK=off

name_of() {
  case $1 in
    go.etcd.io/etcd/*) echo etcd ;;
    *) basename "$1" ;;
  esac
}

module_version() {
  case $1 in
    go.etcd.io/etcd/*) go list -m -f '{{.Version}}' "$1" ;;
    *) printf '%s\n' "$kubernetes" ;;
  esac
}

# A control plane that reports no version is refused by clients that ask for
# one, so the linker sets what the release build would.
ldflags() {
  local minor=${kubernetes#v1.} package
  minor=${minor%%.*}
  printf -- '-s -w'
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    printf -- ' -X %s.gitVersion=%s -X %s.gitMajor=1 -X %s.gitMinor=%s -X %s.gitTreeState=clean' \
      "$package" "$kubernetes" "$package" "$package" "$minor" "$package"
  done
}

build() {
  local package=$1 name total
  name=$(name_of "$package")
  total=$(go list -deps "$package" | wc -l)
  echo "building $name $(module_version "$package") from source" >&2
  # A rename makes the binary appear whole or not at all.
  unfinished=$cache/.$name.$$
  go build -v -o "$unfinished" -ldflags "$(ldflags)" "$package" 2>&1 |
    ../progress.sh "$name" "$total"
  mv "$unfinished" "$cache/$name"
}

cd "$here"
kubernetes=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
key=$kubernetes-$( { cat go.mod && go env GOVERSION GOOS GOARCH GOFLAGS CGO_ENABLED && ldflags; } | sha256sum | cut -c1-12)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/unikorn-instance-apiserver/kubernetes/$key

unfinished=
trap '[[ -z $unfinished ]] || rm -f "$unfinished"' EXIT
mkdir -p "$cache" "$bin"
announced=
for package in "${commands[@]}"; do
  name=$(name_of "$package")
  if [[ ! -x $cache/$name ]]; then
    if [[ -z $announced ]]; then
      echo "building the control plane: about nine minutes on two cores, once per version" >&2
      announced=yes
    fi
    build "$package"
  fi
  ln -sfn "$cache/$name" "$bin/$name"
done
