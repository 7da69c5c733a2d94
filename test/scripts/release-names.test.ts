/** One place has the names under which packages are published, and the others agree. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readManifests, readRelease, readTexts, rename } from '../../scripts/release-names.ts';

const ROOT = join(import.meta.dirname, '../..');

const OLD = {
  version: '0.1.0',
  repository: 'https://old.example/old.git',
  contract: '@old/contract',
  typescript: '@old/sdk',
  go: 'old.example/old/sdk/go',
  rust: 'old',
  python: 'old-py',
};
const NEW = {
  version: '1.0.0-rc.1',
  repository: 'https://new.example/$&.git',
  contract: '@new/contract',
  typescript: '@new/client',
  go: 'new.example/go/v2',
  rust: 'new-client',
  python: 'new-py',
};

const renamed = (text: string, path = 'README.md') => rename(path, text, OLD, NEW);

test('the manifests have the version, the names and the repository of release.json', () => {
  expect(readRelease(ROOT)).toMatchObject(readManifests(ROOT));
});

test('a version that is changed in release.json is changed in every file that names it', () => {
  const release = readRelease(ROOT);
  const next = { ...release, version: '98.7.6' };
  const old = new RegExp(
    `^.*boxoffice.*${release.version.replaceAll('.', '\\.')}(?![\\w.]).*$|^version = "${release.version}"`,
    'gim',
  );
  const left = [...readTexts(ROOT)]
    // Lock files are made, and history stays.
    .filter(([path]) => !/(?:package-lock\.json|CHANGELOG\.md)$|^docs\/decisions\/|^test\//.test(path))
    .flatMap(([path, text]) =>
      (rename(path, text, release, next).match(old) ?? []).map((line) => [path, line]),
    );
  expect(left).toEqual([]);
});

test.for([
  ["import { Boxoffice } from '@old/sdk';", "import { Boxoffice } from '@new/client';"],
  ["from '@old/sdk/relay', '@old/contract/x'", "from '@new/client/relay', '@new/contract/x'"],
  ['import "old.example/old/sdk/go/relay"', 'import "new.example/go/v2/relay"'],
  ['"url": "git+https://old.example/old.git"', '"url": "git+https://new.example/$&.git"'],
])('%s becomes %s', ([text, wanted]) => {
  expect(renamed(text!)).toBe(wanted);
});

test('what only begins like a name stays', () => {
  const text = '@old/sdk-go @old/sdks @old/contracts old.example/old/sdk/gone old_example/old/sdk/go';
  expect(renamed(text)).toBe(text);
});

test('the crate is renamed in its manifest, its lock file, and where it is installed', () => {
  expect(renamed('cargo add old\ncargo add older\nthe old one')).toBe(
    'cargo add new-client\ncargo add older\nthe old one',
  );
  const text = '[package]\nname = "old"\n\n[[package]]\nname = "older"\n';
  expect(renamed(text, 'sdk/rust/Cargo.toml')).toBe(text.replace('"old"', '"new-client"'));
  expect(renamed(text, 'sdk/rust/generate/Cargo.toml')).toBe(text);
});

test('the manifests get the version, also where they need each other, and nothing else does', () => {
  const text =
    '  "version": "0.1.0",\n  "@old/contract": "^0.1.0",\n  "other": "0.1.0",\n    "version": "0.1.0"';
  const wanted =
    '  "version": "1.0.0-rc.1",\n  "@new/contract": "^1.0.0-rc.1",\n  "other": "0.1.0",\n    "version": "0.1.0"';
  expect(renamed(text, 'sdk/typescript/package.json')).toBe(wanted);
  expect(renamed('version = "0.1.0"\nx = { version = "0.1.0" }', 'sdk/rust/Cargo.toml')).toBe(
    'version = "1.0.0-rc.1"\nx = { version = "0.1.0" }',
  );
  expect(renamed('  "version": "0.1.0"', 'package-lock.json')).toBe('  "version": "0.1.0"');
});

test('images, modules, crates and packages that are used get the version', () => {
  const texts = [
    'boxoffice:V',
    'boxoffice-backup:V',
    'boxoffice:V1',
    'old-py==V',
    'old = "V"',
    'older = "V"',
  ];
  const text = texts.join('\n').replaceAll('V', OLD.version);
  const wanted =
    'boxoffice:1.0.0-rc.1\nboxoffice-backup:1.0.0-rc.1\nboxoffice:0.1.01\nnew-py==1.0.0-rc.1\nold = "1.0.0-rc.1"\nolder = "0.1.0"';
  expect(renamed(text, 'x.txt')).toBe(wanted);
  expect(renamed('require old.example/old/sdk/go v0.1.0\n', 'go.mod')).toBe(
    'require new.example/go/v2 v1.0.0-rc.1\n',
  );
  expect(renamed('name = "old"\nversion = "0.1.0"', 'sdk/rust/Cargo.lock')).toBe(
    'name = "new-client"\nversion = "1.0.0-rc.1"',
  );
});

test('the package for Python is renamed in its manifest, and where it is installed', () => {
  expect(renamed('pip install old-py\npip install old-python\nold-py==0.1.0')).toBe(
    'pip install new-py\npip install old-python\nnew-py==1.0.0-rc.1',
  );
  expect(renamed('name = "old-py"\n', 'sdk/python/pyproject.toml')).toBe('name = "new-py"\n');
  expect(renamed('name = "old-py"\n')).toBe('name = "old-py"\n');
});

test('history keeps its names', () => {
  expect(renamed('@old/sdk', 'CHANGELOG.md')).toBe('@old/sdk');
  expect(renamed('@old/sdk', 'docs/decisions/0001-x.md')).toBe('@old/sdk');
});
