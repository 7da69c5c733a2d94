/**
 * The site of the documents: pages for people and for programs, made from the Markdown of the repository.
 *
 * Each file is made by its first reader, and held from then on. So nothing is built beforehand, a start takes no longer, and
 * a service that shows no page holds none.
 */
import { JAVASCRIPT, STYLE_SHEET } from '../../consoles/assets/assets.ts';
import { StaticFile } from '../../http/static-files.ts';
import { addressOf, CONTENTS, listFiles, listPages, readDocument, readPage } from './documents.ts';
import { type SiteFiles, withSiteLinks } from './links.ts';
import { renderMarkdown, sectionsOf } from './markdown.ts';
import { type Reader, readReaders, withPages } from './readers.ts';
import { RUN_SCRIPT } from './run.js.ts';
import { SITE_STYLE } from './site.css.ts';
import { SITE_SCRIPT } from './site.js.ts';
import { renderSitePage } from './site-page.ts';

const STYLE = new StaticFile(STYLE_SHEET, SITE_STYLE);
const SCRIPT = new StaticFile(JAVASCRIPT, SITE_SCRIPT);
const RUN = new StaticFile(JAVASCRIPT, RUN_SCRIPT);
const STYLE_PATH = '/docs/assets/site.css';
const SCRIPT_PATH = '/docs/assets/site.js';
const RUN_PATH = '/docs/assets/run.js';

const TEXT = 'text/plain; charset=utf-8';
/** By the ending of a file. */
const TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  json: 'application/json; charset=utf-8',
};

type Make = () => Promise<StaticFile>;

export class Site {
  readonly #makers: ReadonlyMap<string, Make>;
  readonly #made = new Map<string, Promise<StaticFile>>();

  constructor(makers: ReadonlyMap<string, Make>) {
    this.#makers = makers;
  }

  get paths(): string[] {
    return [...this.#makers.keys()];
  }

  /** `undefined`: there is no such file. */
  find(path: string): Promise<StaticFile> | undefined {
    const known = this.#made.get(path);
    if (known) return known;
    const making = this.#makers.get(path)?.();
    if (!making) return undefined;
    this.#made.set(path, making);
    // A file that could not be read is tried again.
    making.catch(() => this.#made.delete(path));
    return making;
  }
}

export interface SiteOptions {
  /** Whether pages run their marked commands, at the service that sends them. Only where all payments are play. */
  readonly runs?: boolean | undefined;
}

export async function openSite({ runs = false }: SiteOptions = {}): Promise<Site> {
  const [pages, files] = await Promise.all([listPages(), listFiles()]);
  const known: SiteFiles = { pages: new Set(pages), files: new Set(files) };
  const listed = known.pages.has(CONTENTS) ? readReaders(await readPage(CONTENTS)) : [];
  const readers = withPages(listed, known.pages);
  return new Site(
    new Map<string, Make>([
      ...pages.flatMap((path) => {
        const read = async (suffix: '' | '.md') => withSiteLinks(await readPage(path), path, known, suffix);
        return makersOfPage(addressOf(path), read, readers, runs);
      }),
      ...readers.flatMap((reader) => {
        const text = `# ${reader.name}\n\n${reader.text}\n`;
        const read = async (suffix: '' | '.md') => withSiteLinks(text, CONTENTS, known, suffix);
        return makersOfPage(reader.address, read, readers, runs);
      }),
      ...files.map((path): [string, Make] => [addressOf(path), () => makeFile(path)]),
      [STYLE_PATH, async () => STYLE],
      [SCRIPT_PATH, async () => SCRIPT],
      ...(runs ? [[RUN_PATH, async () => RUN] as [string, Make]] : []),
      ['/docs/search.json', () => makeSearch(pages, known)],
      ['/llms.txt', async () => new StaticFile(TEXT, await listForPrograms(readers, files))],
      ['/llms-full.txt', async () => new StaticFile(TEXT, await allForPrograms(readers, known))],
    ]),
  );
}

type Read = (suffix: '' | '.md') => Promise<string>;

/** The page, and its Markdown. */
function makersOfPage(
  address: string,
  read: Read,
  readers: readonly Reader[],
  runs: boolean,
): [string, Make][] {
  return [
    [
      address,
      async () => {
        const content = renderMarkdown(await read(''), { runs });
        const scripts = [`${SCRIPT_PATH}?v=${SCRIPT.version}`];
        if (content.isRunnable) scripts.push(`${RUN_PATH}?v=${RUN.version}`);
        const style = `${STYLE_PATH}?v=${STYLE.version}`;
        const page = renderSitePage({ address, content, readers, style, scripts });
        return new StaticFile('text/html; charset=utf-8', page);
      },
    ],
    [`${address}.md`, async () => new StaticFile('text/markdown; charset=utf-8', await read('.md'))],
  ];
}

async function makeFile(path: string): Promise<StaticFile> {
  return new StaticFile(TYPES[path.split('.').at(-1)!] ?? TEXT, await readDocument(path));
}

/** Page, heading, address and words of each section. One page after another, so that requests come in between. */
async function makeSearch(pages: readonly string[], known: SiteFiles): Promise<StaticFile> {
  const rows: string[][] = [];
  for (const path of pages) {
    const sections = sectionsOf(withSiteLinks(await readPage(path), path, known, ''));
    const title = sections[0]?.heading.text ?? path;
    for (const { heading, words } of sections) {
      const anchor = heading.depth === 1 ? '' : `#${heading.id}`;
      rows.push([title, heading.text, `${addressOf(path)}${anchor}`, words]);
    }
  }
  return new StaticFile(TYPES.json!, JSON.stringify(rows));
}

/** Source: llmstxt.org. */
async function listForPrograms(readers: readonly Reader[], files: readonly string[]): Promise<string> {
  const lists = readers.map(({ name, pages }) => {
    const lines = pages.map(({ title, address, about }) => `- [${title}](${address}.md): ${about}`);
    return `## ${name}\n\n${lines.join('\n')}\n`;
  });
  const protos = files
    .filter((path) => path.endsWith('.proto'))
    .map((path) => `- [${path}](${addressOf(path)})`);
  return [
    `# Boxoffice\n\n> ${(await introduction()).replaceAll('\n', ' ')}\n`,
    'Each page of the site is Markdown at its address with `.md` behind it. /llms-full.txt has all pages below in one file.\n',
    ...lists,
    `## Contracts\n\n- [OpenAPI 3.1 of REST and joining](/openapi.json)\n${protos.join('\n')}\n`,
    ...skillLists(files),
  ].join('\n');
}

/** What programs that write code are told first. A package may leave it out. */
function skillLists(files: readonly string[]): string[] {
  const skills = files.filter((path) => path.endsWith('/SKILL.md'));
  const lines = skills.map((path) => `- [${path}](${addressOf(path)}): how to write a back end or a relay`);
  return lines.length > 0 ? [`## Skills\n\n${lines.join('\n')}\n`] : [];
}

/** What README says first. */
async function introduction(): Promise<string> {
  const paragraphs = (await readPage('README.md')).split('\n\n');
  return paragraphs.find((paragraph) => /^\w/.test(paragraph))!;
}

/** The pages of all lists, each once. */
async function allForPrograms(readers: readonly Reader[], known: SiteFiles): Promise<string> {
  const paths = new Set(readers.flatMap(({ pages }) => pages.map(({ path }) => path)));
  const parts: string[] = [];
  for (const path of paths) {
    const text = withSiteLinks(await readPage(path), path, known, '.md');
    parts.push(`<!-- ${addressOf(path)} -->\n\n${text.trim()}\n`);
  }
  return parts.join('\n');
}
