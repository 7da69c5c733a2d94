/** `npm run docs` writes what the service sends. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { buildDocs } from '../../scripts/build-docs.ts';
import { openSite } from '../../src/doors/rest/site/site.ts';

test('each page and each file that pages load is written', async () => {
  const folder = mkdtempSync(join(inject('scratch'), 'site-'));
  const count = await buildDocs(folder);
  const { paths } = await openSite();
  expect(count).toBeGreaterThan(paths.length);
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  for (const path of ['docs/index.html', 'docs/usage/index.html', 'docs/rest/index.html']) {
    const loaded = [...read(path).matchAll(/(?:src|href)="(\/(?:docs|console)\/[^"?]+\.(?:css|js|svg))/g)];
    expect(loaded.length).toBeGreaterThan(2);
    for (const [, file] of loaded) expect(existsSync(join(folder, file!)), file).toBe(true);
  }
  expect(JSON.parse(read('openapi.json')).openapi).toBe('3.1.0');
  expect(read('docs/usage.md')).toContain('# Reporting usage');
  expect(read('llms.txt')).toContain('/docs/usage.md');
});
