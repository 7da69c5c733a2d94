import { rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { StaticFile } from '../../../../src/doors/http/static-files.ts';
import { listPages } from '../../../../src/doors/rest/site/documents.ts';
import { readReaders, withPages } from '../../../../src/doors/rest/site/readers.ts';
import { openSite, Site } from '../../../../src/doors/rest/site/site.ts';
import { useService } from '../../../support/service.ts';

const site = await openSite();

const textOf = async (path: string) => (await site.find(path))!.bytes.toString();

/** Pages for people, by address. */
const pages = new Map<string, string>();
for (const path of site.paths) {
  const file = (await site.find(path))!;
  if (file.type.startsWith('text/html')) pages.set(path, file.bytes.toString());
}

/** What the service has beside the site. */
const ELSEWHERE = ['/', '/console', '/docs/rest', '/openapi.json'];

/** Whether an address of the site, with its anchor, is there. */
async function isThere(address: string): Promise<boolean> {
  const [path = '', anchor] = address.replace(/\?v=\w+$/, '').split('#');
  if (ELSEWHERE.includes(path) || path.startsWith('/console/assets/')) return true;
  if (!site.paths.includes(path)) return false;
  return anchor === undefined || !pages.has(path) || pages.get(path)!.includes(` id="${anchor}"`);
}

describe('the site', () => {
  test('has a page for each document and each kind of reader', () => {
    for (const path of [
      '/docs',
      '/docs/readme',
      '/docs/usage',
      '/docs/decisions',
      '/docs/sdk/go',
      '/docs/sdk/python',
      '/docs/start',
    ])
      expect(pages.has(path), path).toBe(true);
    expect(pages.size).toBeGreaterThan(150);
  });

  test('has no notes that an operator keeps beside the project', async () => {
    const notes = new URL('../../../../notes-of-an-operator.md', import.meta.url);
    await writeFile(notes, '# Notes\n');
    try {
      expect(await listPages()).not.toContain('notes-of-an-operator.md');
    } finally {
      await rm(notes);
    }
  });

  test('lists no page that an installation leaves out', () => {
    const readers = readReaders(
      '# Documents\n\n## Start\n\n1. [One](one.md): here.\n2. [Other](../other/README.md): left out.\n',
    );
    const [start] = withPages(readers, new Set(['docs/one.md']));
    expect(start!.pages.map(({ path }) => path)).toEqual(['docs/one.md']);
  });

  test('links to pages, headings and files that are there', async () => {
    const broken: string[] = [];
    for (const [path, page] of pages) {
      for (const [, target = ''] of page.matchAll(/\b(?:href|src|srcset)="([^"]+)"/g)) {
        if (/^\w+:/.test(target)) continue;
        if (!(await isThere(target.startsWith('#') ? path + target : target)))
          broken.push(`${path}: ${target}`);
      }
    }
    expect(broken).toEqual([]);
  });

  test('loads nothing from elsewhere', () => {
    const loads = /<(?:script|img|source|iframe|link)[^>]*\b(?:src|srcset|href)="(?!\/)/;
    for (const [path, page] of pages) expect(page, path).not.toMatch(loads);
  });

  test('leaves out what the comments of a page say to tests', () => {
    for (const [path, page] of pages) expect(page, path).not.toMatch(/<!--(?!doctype)/);
  });

  test('lists what a page has, and where it is read', async () => {
    const page = pages.get('/docs/usage')!;
    expect(page).toContain('<nav class="headings" aria-label="On this page">');
    expect(page).toContain('<a href="#what-a-record-costs">What a record costs</a>');
    expect(page).toMatch(/<details open><summary>For relays<\/summary>/);
    expect(page).toContain('<a href="/docs/usage" aria-current="page">Reporting usage</a>');
  });

  test('reads a file again that could not be read', async () => {
    let reads = 0;
    const failing = new Site(
      new Map([
        [
          '/a',
          async () => {
            reads += 1;
            if (reads === 1) throw new Error('busy');
            return new StaticFile('text/plain', 'a');
          },
        ],
      ]),
    );
    await expect(failing.find('/a')).rejects.toThrow('busy');
    expect((await failing.find('/a'))!.bytes.toString()).toBe('a');
    await failing.find('/a');
    expect(reads).toBe(2);
  });
});

describe('for programs', () => {
  test('each page is Markdown at its address, with links that are there', async () => {
    for (const path of pages.keys()) {
      const text = (await textOf(`${path}.md`)).replace(/^[ \t]*```[\s\S]*?^[ \t]*```$/gm, '');
      expect(text.trimStart(), path).toMatch(/^#+ /);
      for (const [link, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^\w+:|^#/.test(target)) continue;
        expect(site.paths, `${path}: ${link}`).toContain(target.split('#')[0]);
      }
    }
  });

  test('llms.txt lists the pages of each reader, OpenAPI and the contract', async () => {
    const list = await textOf('/llms.txt');
    expect(list).toMatch(/^# Boxoffice\n\n> Boxoffice is the front office /);
    const linked = [...list.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, path]) => path!);
    for (const path of linked) expect(await isThere(path), path).toBe(true);
    expect(linked).toEqual(
      expect.arrayContaining([
        '/docs/usage.md',
        '/openapi.json',
        '/docs/contracts.md',
        '/docs/skills/boxoffice/SKILL.md',
      ]),
    );
    expect(list.match(/^## /gm)!.length).toBe(8);
    const contracts = await textOf('/docs/contracts.md');
    for (const file of ['proto/boxoffice/control/v1/room.proto', 'docs/events/balance_low.json'])
      expect(contracts).toContain(`](/docs/${file.replace(/^docs\//, '')})`);
  });

  test('llms-full.txt has each of these pages once', async () => {
    const [list, full] = [await textOf('/llms.txt'), await textOf('/llms-full.txt')];
    const listed = new Set(
      [...list.matchAll(/\((\/docs(?!\/skills|\/contracts)\S*)\.md\)/g)].map(([, path]) => path!),
    );
    const had = [...full.matchAll(/^<!-- (\S+) -->$/gm)].map(([, path]) => path!);
    expect(had.toSorted()).toEqual([...listed].toSorted());
    expect(full).toContain((await textOf('/docs/usage.md')).replace(/^> .*\n\n/m, '').trim());
  });

  test('the search has the words of each section, and where it is', async () => {
    const rows = JSON.parse(await textOf('/docs/search.json')) as [string, string, string, string][];
    expect(rows).toContainEqual([
      'Reporting usage',
      'What a record costs',
      '/docs/usage#what-a-record-costs',
      expect.stringContaining('GET /v1/rates has the numbers in effect'),
    ]);
    for (const [, , address] of rows) expect(await isThere(address), address).toBe(true);
  });
});

/** What `afdocs` looks at, so that it finds what it found: docs/testing.md has its report. */
describe('agents', async () => {
  const ORIGIN = 'https://docs.example';
  const named = await openSite({ origin: ORIGIN });
  const read = async (path: string) => (await named.find(path))!.bytes.toString();
  const CHARACTERS_MAX = 50_000;
  const listed = [...(await read('/llms.txt')).matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, url]) => url!);

  test('see the way to Markdown and to the list of pages at the beginning of each page', async () => {
    for (const [path, page] of pages) {
      const [before = ''] = page.split('<article>');
      expect(before, path).toContain('<a href="/llms.txt">');
      expect(before, path).toContain(`<a href="${path}.md">`);
      expect(await read(`${path}.md`), path).toMatch(
        /^\s*#+ .*\n\n> For programs: \[all pages\]\(https:\/\/docs\.example\/llms\.txt\)\n/,
      );
    }
  });

  test('read links that name the site', async () => {
    const texts = ['/llms.txt', '/llms-full.txt', ...[...pages.keys()].map((path) => `${path}.md`)];
    for (const path of texts) {
      const text = (await read(path))
        .replace(/^[ \t]*```[\s\S]*?^[ \t]*```$/gm, '')
        .replace(/`[^`\n]+`/g, '');
      const relative = [...text.matchAll(/\]\((?!https?:|mailto:|#)[^)\s]+\)/g)].map(([link]) => link);
      expect(relative, path).toEqual([]);
    }
  });

  test('get a list, and pages, that none of them cuts off', async () => {
    const TOO_LONG = ['/docs/changelog.md'];
    const long = [];
    for (const path of ['/llms.txt', ...[...pages.keys()].map((each) => `${each}.md`)])
      if ((await read(path)).length >= CHARACTERS_MAX) long.push(path);
    expect(long).toEqual(TOO_LONG);
  });

  test('find Markdown at nine of ten addresses of the list', () => {
    const ofMarkdown = listed.filter((url) => url.endsWith('.md'));
    expect(ofMarkdown.length / listed.length).toBeGreaterThanOrEqual(0.9);
    expect(listed.filter((url) => !url.startsWith(`${ORIGIN}/`))).toEqual([]);
  });

  test('see each block of code end', async () => {
    for (const path of pages.keys()) {
      const fences = (await read(`${path}.md`)).match(/^ *```/gm) ?? [];
      expect(fences.length % 2, path).toBe(0);
    }
  });
});

describe('the service', () => {
  const app = useService({ payments: false });

  test.each(['/docs', '/docs/', '/docs/usage', '/docs/usage.md', '/docs.md', '/llms.txt', '/llms-full.txt'])(
    'sends %s, and not again to who has it',
    async (path) => {
      const { status, headers } = await app.request('GET', path);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, no-cache']);
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'");
      const again = await app.request('GET', path, { headers: { 'if-none-match': headers.get('etag')! } });
      expect([again.status, again.text]).toEqual([304, '']);
    },
  );

  test.each([
    ['text/markdown', 'text/markdown'],
    ['text/markdown, text/html;q=0.9, */*;q=0.1', 'text/markdown'],
    ['text/html, text/markdown;q=0.9', 'text/html'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', 'text/html'],
    ['*/*', 'text/html'],
  ])('answers a client that accepts %s with %s, at the same address', async (accept, type) => {
    const { headers, text } = await app.request('GET', '/docs/usage', { headers: { accept } });
    expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(headers.get('vary')).toContain('accept, accept-encoding');
    if (type === 'text/markdown') expect(text).toBe((await app.request('GET', '/docs/usage.md')).text);
  });

  test('sends what has no Markdown as it is', async () => {
    const headers = { accept: 'text/markdown' };
    const picture = await app.request('GET', '/docs/images/concepts-money.svg', { headers });
    expect(picture.headers.get('content-type')).toBe('image/svg+xml');
    expect((await app.request('GET', '/llms.txt', { headers })).text).toContain(
      `](${app.config.publicUrl}/docs/usage.md)`,
    );
  });

  test('lets files be kept, for ever if the address names the version', async () => {
    const [style] = (await app.request('GET', '/docs')).text.match(/\/docs\/assets\/site\.css\?v=\w+/)!;
    expect((await app.request('GET', style)).headers.get('cache-control')).toContain('immutable');
    const picture = await app.request('GET', '/docs/images/concepts-money.svg');
    expect(picture.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(picture.headers.get('content-type')).toBe('image/svg+xml');
    expect(picture.headers.get('content-security-policy')).toContain("style-src 'unsafe-inline'");
  });

  test.each([
    '/docs/nothing',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/images/',
    '/docs/.env',
  ])('has no %s', async (path) => {
    expect((await app.request('GET', path)).status).toBe(404);
  });
});
