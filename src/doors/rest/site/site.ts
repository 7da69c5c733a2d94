/**
 * The site of the documents: pages for people and for programs, made from the Markdown of the repository.
 *
 * Each file is made by its first reader, and held from then on. So nothing is built beforehand, a start takes no longer, and
 * a service that shows no page holds none.
 */
import { JAVASCRIPT, STYLE_SHEET } from '../../consoles/assets/assets.ts';
import { StaticFile } from '../../http/static-files.ts';
import { addressOf, CONTENTS, listFiles, listPages, readDocument, readPage } from './documents.ts';
import { FOR_PEOPLE, type LinkForm, type SiteFiles, withSiteLinks } from './links.ts';
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

/** The list of files that programs generate code from. */
const CONTRACTS = '/docs/contracts';

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
  /**
   * Where the site is, such as `https://boxoffice.example`. Programs cut Markdown into parts and forget where it is from, so what they read
   * names it in each address. Without: files for any server.
   */
  readonly origin?: string | undefined;
}

export async function openSite({ runs = false, origin = '' }: SiteOptions = {}): Promise<Site> {
  const [pages, files] = await Promise.all([listPages(), listFiles()]);
  const known: SiteFiles = { pages: new Set(pages), files: new Set(files) };
  const listed = known.pages.has(CONTENTS) ? readReaders(await readPage(CONTENTS)) : [];
  const readers = withPages(listed, known.pages);
  const forPrograms: LinkForm = { origin, suffix: '.md' };
  const makersOf = (address: string, text: () => Promise<string>, path: string) => {
    const read = async (form: LinkForm) => withSiteLinks(await text(), path, known, form);
    return makersOfPage(address, read, { readers, runs, forPrograms });
  };
  return new Site(
    new Map<string, Make>([
      ...pages.flatMap((path) => makersOf(addressOf(path), () => readPage(path), path)),
      ...readers.flatMap(({ name, address, text }) =>
        makersOf(address, async () => `# ${name}\n\n${text}\n`, CONTENTS),
      ),
      ...makersOf(CONTRACTS, async () => listContracts(files), CONTENTS),
      ...files.map((path): [string, Make] => [addressOf(path), () => makeFile(path)]),
      [STYLE_PATH, async () => STYLE],
      [SCRIPT_PATH, async () => SCRIPT],
      ...(runs ? [[RUN_PATH, async () => RUN] as [string, Make]] : []),
      ['/docs/search.json', () => makeSearch(pages, known)],
      ['/llms.txt', async () => new StaticFile(TEXT, await listForPrograms(readers, files, origin))],
      ['/llms-full.txt', async () => new StaticFile(TEXT, await allForPrograms(readers, known, forPrograms))],
    ]),
  );
}

interface PageOptions {
  readonly readers: readonly Reader[];
  readonly runs: boolean;
  readonly forPrograms: LinkForm;
}

/** The page, and its Markdown. */
function makersOfPage(
  address: string,
  read: (form: LinkForm) => Promise<string>,
  { readers, runs, forPrograms }: PageOptions,
): [string, Make][] {
  return [
    [
      address,
      async () => {
        const content = renderMarkdown(await read(FOR_PEOPLE), { runs });
        const scripts = [`${SCRIPT_PATH}?v=${SCRIPT.version}`];
        if (content.isRunnable) scripts.push(`${RUN_PATH}?v=${RUN.version}`);
        const style = `${STYLE_PATH}?v=${STYLE.version}`;
        const page = renderSitePage({ address, content, readers, style, scripts });
        return new StaticFile('text/html; charset=utf-8', page);
      },
    ],
    [`${address}.md`, async () => new StaticFile(TYPES.md!, withList(await read(forPrograms), forPrograms))],
  ];
}

/** Below its title, each page names the list of all pages: a program that was sent here knows no other. */
function withList(text: string, { origin }: LinkForm): string {
  const line = `> For programs: [all pages](${origin}/llms.txt)`;
  return text.replace(/^#+ .*$/m, (title) => `${title}\n\n${line}`);
}

async function makeFile(path: string): Promise<StaticFile> {
  return new StaticFile(TYPES[path.split('.').at(-1)!] ?? TEXT, await readDocument(path));
}

/** Page, heading, address and words of each section. One page after another, so that requests come in between. */
async function makeSearch(pages: readonly string[], known: SiteFiles): Promise<StaticFile> {
  const rows: string[][] = [];
  for (const path of pages) {
    const sections = sectionsOf(withSiteLinks(await readPage(path), path, known, FOR_PEOPLE));
    const title = sections[0]?.heading.text ?? path;
    for (const { heading, words } of sections) {
      const anchor = heading.depth === 1 ? '' : `#${heading.id}`;
      rows.push([title, heading.text, `${addressOf(path)}${anchor}`, words]);
    }
  }
  return new StaticFile(TYPES.json!, JSON.stringify(rows));
}

/** Source: llmstxt.org. */
async function listForPrograms(
  readers: readonly Reader[],
  files: readonly string[],
  origin: string,
): Promise<string> {
  const lists = readers.map(({ name, pages }) => {
    const lines = pages.map(({ title, address, about }) => `- [${title}](${origin}${address}.md): ${about}`);
    return `## ${name}\n\n${lines.join('\n')}\n`;
  });
  // What programs that write code are told first. A package may leave it out.
  const skills = files
    .filter((path) => path.endsWith('/SKILL.md'))
    .map((path) => `- [${path}](${origin}${addressOf(path)}): how to write a back end or a relay`);
  return [
    `# Boxoffice\n\n> ${(await introduction()).replaceAll('\n', ' ')}\n`,
    `Each page of the site is Markdown at its address with \`.md\` behind it, or where \`Accept\` prefers \`text/markdown\`. [All pages below in one file](${origin}/llms-full.txt).\n`,
    ...lists,
    `## Contracts\n\n- [OpenAPI 3.1](${origin}/openapi.json): REST and joining\n- [Contracts](${origin}${CONTRACTS}.md): the .proto files of the control plane, the schemas of events\n`,
    ...(skills.length > 0 ? [`## Skills\n\n${skills.join('\n')}\n`] : []),
  ].join('\n');
}

function listContracts(files: readonly string[]): string {
  const listOf = (ending: string) =>
    files
      .filter((path) => path.endsWith(ending))
      .map((path) => `- [${path}](../${path})`)
      .join('\n');
  return `# Contracts

For programs that generate code: each file as it is in the repository. REST and joining are at \`/openapi.json\`.

## The control plane, over gRPC

${listOf('.proto')}

## Events, and examples to test with

${listOf('.json')}
`;
}

/** What README says first. */
async function introduction(): Promise<string> {
  const paragraphs = (await readPage('README.md')).split('\n\n');
  return paragraphs.find((paragraph) => /^\w/.test(paragraph))!;
}

/** The pages of all lists, each once. */
async function allForPrograms(readers: readonly Reader[], known: SiteFiles, form: LinkForm): Promise<string> {
  const paths = new Set(readers.flatMap(({ pages }) => pages.map(({ path }) => path)));
  const parts: string[] = [];
  for (const path of paths) {
    const text = withSiteLinks(await readPage(path), path, known, form);
    parts.push(`<!-- ${form.origin}${addressOf(path)} -->\n\n${text.trim()}\n`);
  }
  return parts.join('\n');
}
