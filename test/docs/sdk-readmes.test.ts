/** The READMEs of the SDKs have the same order, so that who knows one finds everything in the others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRelease } from '../../scripts/release-names.ts';

const ROOT = join(import.meta.dirname, '../..');
const RELEASE = readRelease(ROOT);

const IN_ORDER = [
  ...['Install', 'First call', 'Back end: rooms, tokens, moderation', 'Errors', 'Retries'],
  ...['Following events', 'Webhooks', 'Relay'],
];

test.each([
  ['sdk/typescript', `npm install ${RELEASE.typescript}`],
  ['sdk/go', `go get ${RELEASE.go}`],
  ['sdk/rust', `cargo add ${RELEASE.rust}`],
  ['sdk/python', `pip install ${RELEASE.python}`],
])('%s/README.md begins with how to install it, and goes on in the common order', (folder, command) => {
  const readme = readFileSync(join(ROOT, folder, 'README.md'), 'utf8');
  const text = readme.replace(/```.*?```/gs, '');
  const headings = [...text.matchAll(/^##+ (.*)$/gm)].map(([, heading]) => heading!);
  const places = IN_ORDER.map((word) => headings.findIndex((heading) => heading.startsWith(word)));
  expect(places).not.toContain(-1);
  expect(places).toStrictEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBe(0);
  expect(readme).toContain(`\`\`\`sh\n${command}\n`);
});

test('README.md and theirs name the oldest versions that they run on', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
  const needs = [
    ['typescript', 'package.json', /"node": ">=(.*)"/, 'Node'],
    ['go', 'go.mod', /^go (\d+\.\d+)/m, 'Go'],
    ['rust', 'Cargo.toml', /^rust-version = "(.*)"/m, 'Rust'],
    ['python', 'pyproject.toml', /^requires-python = ">=(.*)"/m, 'Python'],
  ] as const;
  const [, row] = /^\| needs +\| (.*) \|$/m.exec(read('README.md'))!;
  const cells = row!.split(' | ').map((cell) => cell.trim().split(',')[0]);
  const versions = needs.map(([folder, file, pattern, name]) => {
    const version = `${name} ${pattern.exec(read(`sdk/${folder}/${file}`))![1]}`;
    expect(read(`sdk/${folder}/README.md`)).toContain(`${version} or newer`);
    return version;
  });
  expect(cells).toStrictEqual(versions);
});
