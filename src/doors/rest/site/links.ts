/** Links of Markdown that lead to files of the repository, made to lead to addresses of the site. */
import { posix } from 'node:path';
import { addressOf } from './documents.ts';

/** Links and pictures. */
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;
const SOURCE = /\b(src|srcset)="([^"]+)"/g;
const COMMENT = /<!--.*?-->\n*/gs;
/** Blocks of code stay as they are. */
const CODE = /(^[ \t]*```[\s\S]*?^[ \t]*```$)/m;

export interface SiteFiles {
  readonly pages: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
}

/** How a page names others. */
export interface LinkForm {
  /** Before each address. */
  readonly origin: string;
  /** Behind the address of a page. */
  readonly suffix: '' | '.md';
}

/** In HTML, whose readers know where it is from. */
export const FOR_PEOPLE: LinkForm = { origin: '', suffix: '' };

/** The page at `path`, without its comments. What the site does not have is named instead of linked. */
export function withSiteLinks(text: string, path: string, known: SiteFiles, form: LinkForm): string {
  const convertLink = (_link: string, mark: string, words: string, target: string) => {
    // Rust's own documentation links its names so.
    if (/^\w+::/.test(target)) return words;
    const address = convert(target, path, known, form);
    if (address !== undefined) return `${mark}[${words}](${address})`;
    const named = resolveLink(target, path);
    return words.includes(named) ? words : `${words} (\`${named}\`)`;
  };
  const convertSource = (source: string, name: string, target: string) => {
    const address = convert(target, path, known, form);
    return address === undefined ? source : `${name}="${address}"`;
  };
  return text
    .split(CODE)
    .map((part, at) => {
      if (at % 2 === 1) return part;
      return part.replace(COMMENT, '').replace(LINK, convertLink).replace(SOURCE, convertSource);
    })
    .join('');
}

/** The path in the repository that a link of the page `path` leads to. */
export function resolveLink(target: string, path: string): string {
  return posix.join(posix.dirname(path), target);
}

/** `undefined`: the site does not have it. */
function convert(target: string, path: string, known: SiteFiles, form: LinkForm): string | undefined {
  const { origin, suffix } = form;
  if (/^(\w+:|#)/.test(target)) return target;
  const [file = '', anchor] = resolveLink(target, path).split('#');
  if (known.files.has(file)) return `${origin}${addressOf(file)}`;
  if (!known.pages.has(file)) return undefined;
  return `${origin}${addressOf(file)}${suffix}${anchor === undefined ? '' : `#${anchor}`}`;
}
