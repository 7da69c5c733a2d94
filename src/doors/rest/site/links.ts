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

/**
 * The page at `path`, without its comments. Links to pages get `suffix` behind the address. What the site does not have
 * is named instead of linked.
 */
export function withSiteLinks(text: string, path: string, known: SiteFiles, suffix: '' | '.md'): string {
  const convertLink = (_link: string, mark: string, words: string, target: string) => {
    const address = convert(target, path, known, suffix);
    if (address !== undefined) return `${mark}[${words}](${address})`;
    const named = resolveLink(target, path);
    return words.includes(named) ? words : `${words} (\`${named}\`)`;
  };
  const convertSource = (source: string, name: string, target: string) => {
    const address = convert(target, path, known, suffix);
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
function convert(target: string, path: string, known: SiteFiles, suffix: string): string | undefined {
  if (/^(\w+:|#)/.test(target)) return target;
  const [file = '', anchor] = resolveLink(target, path).split('#');
  if (known.files.has(file)) return addressOf(file);
  if (!known.pages.has(file)) return undefined;
  return `${addressOf(file)}${suffix}${anchor === undefined ? '' : `#${anchor}`}`;
}
