/** The lists of `docs/README.md`: which pages each kind of reader reads, in which order. */
import { addressOf, CONTENTS } from './documents.ts';
import { resolveLink } from './links.ts';

export interface Reader {
  /** Such as `For operators`. */
  readonly name: string;
  /** Where the list of this reader is a page of its own. */
  readonly address: string;
  /** Markdown: what the list is for, and the list. */
  readonly text: string;
  readonly pages: readonly ListedPage[];
}

export interface ListedPage {
  readonly path: string;
  readonly title: string;
  readonly address: string;
  /** What is on the page. */
  readonly about: string;
}

const ENTRY = /^\d+\. \[([^\]]+)\]\(([^)\s]+)\): (.*)$/gm;

export function readReaders(contents: string): Reader[] {
  return contents
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [name = '', ...lines] = section.split('\n');
      const text = lines.join('\n').trim();
      const pages = [...text.matchAll(ENTRY)].map(([, title = '', target = '', about = '']) => {
        const path = resolveLink(target, CONTENTS);
        return { path, title, about, address: addressOf(path) };
      });
      return { name, address: `/docs/${name.toLowerCase().replaceAll(' ', '-')}`, text, pages };
    });
}

/** The lists without the pages that this installation does not have: an image of the service leaves some out. */
export function withPages(readers: readonly Reader[], pages: ReadonlySet<string>): Reader[] {
  return readers.map((reader) => ({ ...reader, pages: reader.pages.filter(({ path }) => pages.has(path)) }));
}
