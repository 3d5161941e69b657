#!/usr/bin/env bash
# Packs the library, installs it into an app by its name, and uses it from there: as an ES module, by require, by both of
# TypeScript's ways, and bundled by esbuild and, where it is there, rollup.

set -euo pipefail
cd "$(dirname "$0")"
library=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "test-consumer.sh: $1" >&2
    exit 1
}

version=$(sed -n 's/^## \([^ ]*\).*/\1/p' CHANGELOG.md | sed 1q)
[ "$(node -p "require('./package.json').version")" = "$version" ] ||
    fail "package.json has another version than CHANGELOG.md, $version"
for part in description license author homepage repository; do
    node -e "process.exit(require('./package.json').$part ? 0 : 1)" || fail "package.json has no $part"
done
mkdir "$folder/library" "$folder/app"
cp -R "$library"/{package.json,README.md,CHANGELOG.md} "$library"/*.js "$library"/*.ts "$folder/library"
cd "$folder/library"
export npm_config_cache=$folder/cache npm_config_offline=true npm_config_audit=false npm_config_fund=false
npm pack --silent --pack-destination "$folder" > "$folder/packed"
files=$(tar tzf "$folder/versiongate-$version.tgz" | sed 's,^package/,,' | LC_ALL=C sort | paste -sd ' ')
[ "$files" = "CHANGELOG.md README.md mount.d.ts mount.js package.json versiongate.cjs versiongate.d.cts versiongate.d.ts versiongate.js" ] ||
    fail "the package has other files: $files"

cd "$folder/app"
echo '{"name": "app", "version": "1.0.0", "private": true}' > package.json
npm install --silent "$folder/versiongate-$version.tgz"

# Gives the messages of an answer, of a server that is not there.
use() {
    cat << 'END'
const answer: string = '{"messages":[{"id":"a","title":"A","text":"B","lockout":true}]}';
const gate = new VersionGate({
  server: 'https://gate.example.com',
  app: { bundle: 'com.example.doto' },
  transport: () => Promise.resolve({ status: 200, body: answer }),
});
gate.check().then((messages) => console.log(`${messages.length} ${messages[0]?.id} ${messages[0]?.lockout}`));
END
}
program() { use | sed 's/: string//'; }

expect() {
    local found
    found=$("${@:2}" 2>&1) || true
    [ "$found" = "1 a true" ] || fail "$1: $found"
}

{ echo "import { VersionGate } from 'versiongate';"; program; } > app.mjs
{ echo "const { VersionGate } = require('versiongate');"; program; } > app.cjs
expect 'as an ES module' node app.mjs
expect 'by require' node app.cjs
for bundler in esbuild rollup; do
    command -v "$bundler" > /dev/null || continue
    case $bundler in
        esbuild)
            esbuild app.mjs --bundle --minify --log-level=warning --format=iife --outfile=module.js
            esbuild app.cjs --bundle --minify --log-level=warning --platform=node --outfile=required.js
            expect 'by require, bundled' node required.js
            ;;
        rollup) rollup --silent --format iife --file module.js node_modules/versiongate/versiongate.js --name VersionGateLibrary
            { echo 'const { VersionGate } = VersionGateLibrary;'; program; } >> module.js ;;
    esac
    expect "bundled by $bundler" node module.js
done
{ echo "import { VersionGate } from 'versiongate';"; use; } > typed.mts
{ echo "import versiongate = require('versiongate');"; echo 'const { VersionGate } = versiongate;'; use; } > typed.cts
tsc --strict --module node16 --moduleResolution node16 --target es2022 --lib es2022,dom --outDir typed \
    typed.mts typed.cts || fail 'TypeScript refuses it'
expect "TypeScript's ES module" node typed/typed.mjs
expect "TypeScript's require" node typed/typed.cjs
echo "Apps use versiongate $version by its name, by Node $(node --version)."
