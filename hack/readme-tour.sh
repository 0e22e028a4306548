#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Walks the tour of README.md: runs the sh blocks of its section "A first tour"
# one after the other against an environment that is up, and compares what they
# print with the text block that follows, if there is one.
#
#   hack/readme-tour.sh [FOLDER]
#
# FOLDER takes the place of .run in the commands. A block whose first line ends
# in "# refused" has to fail, every other has to succeed. Of a text block each
# line must be printed; runs of spaces, ages and addresses may differ, and …
# stands for anything. A console block is only to be read.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(cd "${1:-.run}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Writes the blocks of the section to NN.sh and NN.text; a text block has the
# number of the sh block before it.
blocks() {
  awk -v work="$work" '
    /^## / { inside = $0 == "## A first tour"; next }
    !inside { next }
    /^```/ {
      if (file != "") { close(file); file = ""; next }
      if ($0 == "```sh") file = sprintf("%s/%02d.sh", work, ++count)
      else if ($0 == "```console") file = "/dev/null"
      else if ($0 == "```text" && count > 0) file = sprintf("%s/%02d.text", work, count)
      else { print "block that is neither sh, nor the text of one, nor console: " $0 > "/dev/stderr"; exit 1 }
      next
    }
    file != "" { print > file }
  ' README.md
}

# What may differ from one day to the next, made equal.
steady() {
  sed -E -e 's/[[:space:]]+/ /g' -e 's/^ | $//g' \
    -e 's/\b[0-9]+(s|m|h|d)([0-9]+(s|m|h))?\b/AGE/g' \
    -e 's/\b[0-9]{1,3}(\.[0-9]{1,3}){3}\b/ADDRESS/g'
}

# Prints the lines of the text block $1 that are not among the output $2.
missing() {
  local printed line pattern candidate found
  mapfile -t printed < <(steady <"$2")
  while IFS= read -r line; do
    pattern=$(sed -E -e 's/[][\\*?]/\\&/g' -e 's/…/*/g' <<<"$line")
    found=
    for candidate in "${printed[@]}"; do
      # shellcheck disable=SC2053
      if [[ $candidate == $pattern ]]; then found=yes; fi
    done
    [[ -n $found ]] || printf '%s\n' "$line"
  done < <(steady <"$1")
}

# Runs block $1, and fails with its name and output unless it did what the
# README says.
walk() {
  local block=$1 status=0 lacks
  bash -euo pipefail "$block" >"$block.out" 2>&1 || status=$?
  if head -n 1 "$block" | grep -q '# refused$'; then
    if ((status == 0)); then complain "$block" "succeeded"; fi
  elif ((status != 0)); then
    complain "$block" "failed with status $status"
  fi
  if [[ -e ${block%.sh}.text ]]; then
    lacks=$(missing "${block%.sh}.text" "$block.out")
    [[ -z $lacks ]] || complain "$block" "did not print: $lacks"
  fi
}

complain() {
  printf '%s\n--- commands\n' "the tour of README.md: a block $2"
  cat "$1"
  echo '--- output'
  cat "$1.out"
  exit 1
} >&2

blocks
for block in "$work"/*.sh; do
  sed -i "s#\.run/#$folder/#g" "$block"
  # What is exported holds for the blocks that follow.
  eval "$(grep '^export ' "$block")"
  walk "$block"
done
echo "walked the tour: $(find "$work" -name '*.sh' | wc -l) blocks"
