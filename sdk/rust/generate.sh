#!/usr/bin/env bash
# Writes what is generated for the Rust SDK: src/gen out of the contract and the REST interface, and
# api.txt.
# It needs cargo and the packages of the repository (npm ci).
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/node_modules/.bin:$PATH:$HOME/.cargo/bin"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/node_modules/.cache/rust}"
buf build proto -o - | cargo run --locked --manifest-path sdk/rust/generate/Cargo.toml -- sdk/rust/src/gen
node scripts/make-rest-structs.ts rust
cd sdk/rust
WRITE_API=1 cargo test --locked --all-features --test all api
