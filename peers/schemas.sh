#!/usr/bin/env bash
# Puts the test suites of other projects that the schema engine is measured with, at pinned versions, into
# target/peers/schemas. They come from the published packages and are never part of this repository. The tests use
# those that are there and skip the rest with a line that says so. A second run with the same pins does nothing.
#
#   peers/schemas.sh            the suites: jsoncompat, the jsonschema crate, the official test suite, function calls
#   peers/schemas.sh --large    the large API documents as well (60 MB)
set -euo pipefail
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-../target}/peers/schemas"
mkdir -p "$target"
target="$(cd "$target" && pwd)"

crate_of() { # NAME VERSION PATH: one folder of a published crate
    local name="$1" version="$2" path="$3" into="$target/$1-$2"
    [ -d "$into" ] && { echo "schemas: $name $version is in place"; return; }
    echo "schemas: taking $name $version"
    local work
    work="$(mktemp -d)"
    mkdir "$work/src" && : >"$work/src/lib.rs"
    printf '[package]\nname = "taken"\nversion = "0.0.0"\nedition = "2024"\n[dependencies]\n%s = { version = "=%s", default-features = false }\n[workspace]\n' \
        "$name" "$version" >"$work/Cargo.toml"
    cargo fetch --quiet --manifest-path "$work/Cargo.toml"
    local manifest
    manifest="$(cargo metadata --quiet --offline --format-version 1 --manifest-path "$work/Cargo.toml" |
        grep -o "\"manifest_path\":\"[^\"]*/$name-$version/Cargo.toml\"" | head -n 1 | cut -d '"' -f 4)"
    cp -R "$(dirname "$manifest")/$path" "$into.part"
    mv "$into.part" "$into"
    rm -rf "$work"
}

python_of() { # NAME VERSION KIND FOLDER: one folder of a Python package; KIND is :none: (a wheel) or :all: (its source)
    local name="$1" version="$2" kind="$3" folder="$4" into="$target/$1-$2"
    [ -d "$into" ] && { echo "schemas: $name $version is in place"; return; }
    echo "schemas: taking $name $version"
    local work
    work="$(mktemp -d)"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "${kind/:all:/$name}" \
        --dest "$work" "$name==$version"
    (cd "$work" && for file in *.whl; do [ -e "$file" ] && python3 -m zipfile -e "$file" .; done
        for file in *.tar.gz; do [ -e "$file" ] && tar xzf "$file" --strip-components 1; done) || true
    cp -R "$work/$folder" "$into.part"
    mv "$into.part" "$into"
    rm -rf "$work"
}

npm_of() { # NAME VERSION FILE INTO: one file of an npm package
    local name="$1" version="$2" file="$3" into="$target/$4"
    [ -e "$into" ] && { echo "schemas: $name $version is in place"; return; }
    echo "schemas: taking $name $version"
    local work
    work="$(mktemp -d)"
    (cd "$work" && npm pack --silent "$name@$version" >/dev/null && tar xzf ./*.tgz "package/$file")
    mv "$work/package/$file" "$into"
    rm -rf "$work"
}

crate_of jsoncompat 0.5.0 tests/fixtures
crate_of jsonschema 0.60.2 tests/canonical-suite
if python3 -m pip --version >/dev/null 2>&1; then
    # Its source package carries the official JSON-Schema-Test-Suite.
    python_of jsonschema 4.25.1 :all: json
    # Function-calling schemas: the Berkeley leaderboard's own.
    python_of bfcl-eval 2026.3.23 :none: bfcl_eval/data
else
    echo "schemas: no pip here, so no official suite and no function-calling schemas"
fi
if [ "${1:-}" = "--large" ]; then
    if command -v npm >/dev/null; then
        npm_of @octokit/openapi 22.0.0 generated/api.github.com.json octokit-22.0.0.json
        npm_of @octokit/openapi 23.0.2 generated/api.github.com.json octokit-23.0.2.json
    else
        echo "schemas: no npm here, so no large API documents"
    fi
fi
