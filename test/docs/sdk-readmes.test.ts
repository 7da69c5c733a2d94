/** The READMEs of the SDKs have the same order, so that who knows one finds everything in the others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRelease } from '../../scripts/release-names.ts';

const ROOT = join(import.meta.dirname, '../..');
const RELEASE = readRelease(ROOT);

const IN_ORDER = ['Install', 'First call', 'Errors', 'Retries', 'Following events', 'Relay'];

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
