#!/usr/bin/env bash
# Writes what is generated for the Go SDK: internal/gen and the types out of the contract, the types of
# the REST interface, and api.txt.
# It needs go and the packages of the repository (npm ci).
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/node_modules/.bin:$PATH:/usr/local/go/bin"
export GOCACHE="${GOCACHE:-$PWD/node_modules/.cache/go}"
# As in scripts/toolchains.ts: other flags would compile everything once more.
export GOFLAGS="${GOFLAGS:--gcflags=all=-dwarf=false}"
(cd proto && buf generate --template buf.gen.go.yaml)
node scripts/make-go-types.ts
node scripts/make-rest-structs.ts go
cd sdk/go
WRITE_API=1 go test -run '^TestAPI$' -count=1 . ./relay ./relay/usage
