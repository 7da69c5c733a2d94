/** The list of incidents elsewhere: each line has an address of its own, and names a test that exists. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

test('each incident has an address, and a test that shows why it does not happen here', async () => {
  const lines = (await read('docs/incidents.md')).split('\n').filter((line) => line.startsWith('| ['));
  expect(lines.length).toBeGreaterThanOrEqual(20);
  const addresses = lines.map(
    (line) => /^\| \[[^\]]+\]\((https:\/\/github\.com\/[^)]+)\) \|/.exec(line)?.[1],
  );
  expect(addresses).not.toContain(undefined);
  expect(new Set(addresses).size).toBe(lines.length);
  for (const line of lines) {
    const [, file, name] = /\| `(test\/[\w/.-]+)`: `([^`]+)` \|$/.exec(line)!;
    expect(await read(file!), line).toContain(name);
  }
});
