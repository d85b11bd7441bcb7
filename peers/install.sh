#!/usr/bin/env bash
# Installs real MCP servers of other projects, at pinned versions, into target/peers. The protocol tests talk to
# those that are there and skip the rest with a line that says so. Nothing is installed anywhere else; a second run
# with the same pins does nothing.
set -euo pipefail
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-../target}/peers"
mkdir -p "$target"

# Runs a step unless its inputs are those of the last run.
once() { # NAME FILES… -- COMMAND…
    local name="$1" files=()
    shift
    while [ "$1" != "--" ]; do files+=("$1"); shift; done
    shift
    local sum
    sum="$(cat "${files[@]}" | cksum)"
    if [ "$(cat "$target/$name.done" 2>/dev/null || true)" = "$sum" ]; then
        echo "peers: $name is in place"
        return
    fi
    echo "peers: installing $name"
    "$@"
    echo "$sum" >"$target/$name.done"
}

node_servers() {
    mkdir -p "$target/node"
    cp package.json package-lock.json "$target/node/"
    # No install scripts: a peer needs no browser and no build.
    (cd "$target/node" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

# Two releases each, for the scenarios in drift/.
drift_servers() {
    mkdir -p "$target/drift"
    cp drift/package.json drift/package-lock.json "$target/drift/"
    (cd "$target/drift" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

# The official conformance suite, the Node that it needs and the SDK of the fixture server in conformance/.
conformance_suite() {
    mkdir -p "$target/conformance"
    cp conformance/package.json conformance/package-lock.json "$target/conformance/"
    (cd "$target/conformance" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

# What drives a browser over the console. The browser itself is the system's; without one, its test says so.
console_browser() {
    mkdir -p "$target/console"
    cp console/package.json console/package-lock.json "$target/console/"
    (cd "$target/console" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

python_servers() {
    rm -rf "$target/python"
    python3 -m venv "$target/python"
    "$target/python/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt
}

if command -v npm >/dev/null; then
    once node package.json package-lock.json -- node_servers
    once drift drift/package.json drift/package-lock.json -- drift_servers
    once conformance conformance/package.json conformance/package-lock.json -- conformance_suite
    once console console/package.json console/package-lock.json -- console_browser
else
    echo "peers: no npm here, so no Node servers"
fi
if python3 -m venv --help >/dev/null 2>&1; then
    once python requirements.txt -- python_servers
else
    echo "peers: no python3 with venv here, so no Python servers"
fi
