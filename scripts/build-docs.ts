/**
 * Writes the site of the documents and the API reference as files, for any server of static files.
 *
 *     npm run docs                  node_modules/.cache/site
 *     npm run docs -- <folder>      <folder>
 *
 * They are what the service itself sends at `/docs`.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ICON_ASSET } from '../src/doors/consoles/assets/assets.ts';
import type { Http } from '../src/doors/http/http.ts';
import { openSite } from '../src/doors/rest/site/site.ts';
import { withDescribedRest } from './describe-rest.ts';

/** Returns how many files there are. */
export async function buildDocs(folder: string): Promise<number> {
  const { paths } = await openSite();
  rmSync(folder, { recursive: true, force: true });
  return withDescribedRest(async (app) => {
    const loaded = await loadedBy(app, '/docs/rest');
    const all = [...paths, '/openapi.json', '/docs/rest', ...loaded];
    for (const path of all) {
      const { statusCode, headers, rawPayload } = await app.inject(path);
      if (statusCode !== 200) throw new Error(`${path} is answered with ${statusCode}`);
      const isPage = String(headers['content-type']).startsWith('text/html');
      write(join(folder, isPage ? `${path}/index.html` : path), rawPayload);
    }
    write(join(folder, ICON_ASSET.path), ICON_ASSET.file.bytes);
    return all.length + 1;
  });
}

/** The scripts and styles of a page that are files of the reference. */
async function loadedBy(app: Http, page: string): Promise<string[]> {
  const { payload } = await app.inject(page);
  return [...payload.matchAll(/"(\/docs\/static\/[^"?]+)/g)].map(([, path]) => path!);
}

function write(file: string, bytes: Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '../node_modules/.cache/site'));
  const started = performance.now();
  const count = await buildDocs(folder);
  console.log(`${count} files in ${folder}, in ${Math.round(performance.now() - started)} ms`);
}
