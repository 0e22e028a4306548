#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Usage: make-cert.sh FOLDER
#
# Makes in FOLDER:
#
#   ca.crt, ca.key    an authority, unless there is one
#   tls.crt, tls.key  a new serving certificate from it, for a year
#   ca-bundle.yaml    the patch of the APIService: it trusts ca.crt and, while an
#                     authority is being replaced, also ca-old.crt
#
# It asks no cluster: docs/install.md says what to do with the files.

set -euo pipefail

name=instance-apiserver.unikorn-compute.svc
folder=${1:?usage: make-cert.sh FOLDER}

umask 077
mkdir -p "$folder"
cd "$folder"
[[ -e .gitignore ]] || echo '*.key' >.gitignore

# Complete files take the place of the old ones: an interrupted run leaves pairs
# that belong together.
new=$(mktemp -d new.XXXXXX)
trap 'rm -rf "$new"' EXIT

# key FILE makes a private key.
key() {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"
}

if [[ ! -e ca.crt ]]; then
  key "$new/ca.key"
  openssl req -x509 -new -key "$new/ca.key" -sha256 -days 3650 \
    -subj "/CN=instance-apiserver-ca" \
    -addext 'keyUsage=critical,keyCertSign,cRLSign' \
    -out "$new/ca.crt"
  mv "$new/ca.key" "$new/ca.crt" .
fi

key "$new/tls.key"
openssl req -new -key "$new/tls.key" -subj "/CN=$name" -out "$new/tls.csr"
cat >"$new/extensions" <<EXTENSIONS
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth
subjectAltName=DNS:$name
EXTENSIONS
openssl x509 -req -in "$new/tls.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -CAserial "$new/serial" \
  -sha256 -days 365 -extfile "$new/extensions" -out "$new/tls.crt" 2>"$new/log" || { cat "$new/log" >&2; exit 1; }
openssl verify -CAfile ca.crt -purpose sslserver -verify_hostname "$name" "$new/tls.crt" >"$new/log" || { cat "$new/log" >&2; exit 1; }

trusted=(ca.crt)
[[ ! -e ca-old.crt ]] || trusted+=(ca-old.crt)
cat >"$new/ca-bundle.yaml" <<PATCH
# Written by make-cert.sh.
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata:
  name: v1beta1.compute.unikorn-cloud.org
spec:
  caBundle: $(cat "${trusted[@]}" | base64 | tr -d '\n')
PATCH
mv "$new/tls.key" "$new/tls.crt" "$new/ca-bundle.yaml" .
echo "$folder: serving certificate $(openssl x509 -in tls.crt -noout -enddate | sed 's/notAfter=/until /')"
