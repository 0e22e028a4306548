#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Reads what "go build -v" prints and tells every ten seconds how far it is:
# that it prints a line for each package is too much for a person, and nothing
# too little. What is not the name of a package passes through.
#
#   go build -v … 2>&1 | hack/progress.sh WHAT [TOTAL]

set -euo pipefail

what=$1 of=${2:+ of $2 at most}
started=$SECONDS shown=$SECONDS count=0
while IFS= read -r line; do
  if [[ $line == *[[:space:]]* ]]; then
    printf '%s\n' "$line" >&2
    continue
  fi
  count=$((count + 1))
  if ((SECONDS - shown >= 10)); then
    shown=$SECONDS
    echo "  $what: $count packages compiled$of, $((SECONDS - started)) s" >&2
  fi
done
