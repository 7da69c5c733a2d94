/**
 * Writes the site of the documents and the API reference as files, for any server of static files.
 *
 *     npm run docs                        node_modules/.cache/site
 *     npm run docs -- <folder> [<url>]    <folder>; what programs read names the URL in its links, as that of the service does
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
export async function buildDocs(folder: string, origin = ''): Promise<number> {
  const site = await openSite({ origin });
  rmSync(folder, { recursive: true, force: true });
  const writeAt = (path: string, type: string, bytes: Buffer) =>
    write(join(folder, type.startsWith('text/html') ? `${path}/index.html` : path), bytes);
  for (const path of site.paths) {
    const { type, bytes } = (await site.find(path))!;
    writeAt(path, type, bytes);
  }
  return withDescribedRest(async (app) => {
    const others = ['/openapi.json', '/docs/rest', ...(await loadedBy(app, '/docs/rest'))];
    for (const path of others) {
      const { statusCode, headers, rawPayload } = await app.inject(path);
      if (statusCode !== 200) throw new Error(`${path} is answered with ${statusCode}`);
      writeAt(path, String(headers['content-type']), rawPayload);
    }
    writeAt(ICON_ASSET.path, '', ICON_ASSET.file.bytes);
    return site.paths.length + others.length + 1;
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
  const count = await buildDocs(folder, process.argv[3]?.replace(/\/$/, ''));
  console.log(`${count} files in ${folder}, in ${Math.round(performance.now() - started)} ms`);
}
