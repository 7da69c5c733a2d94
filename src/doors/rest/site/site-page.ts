/** A page of the site: the document with its headings beside it, and the lists of all readers. */
import { renderDocument } from '@boxoffice/pages/document';
import { type Html, html } from '@boxoffice/pages/html';
import { ICON_ASSET } from '../../consoles/assets/assets.ts';
import type { Heading, RenderedMarkdown } from './markdown.ts';
import type { Reader } from './readers.ts';
import { renderTop } from './top.ts';

/** Fewer headings are seen without a list of them. */
const LISTED_HEADINGS_MIN = 3;

const TO_PAGES = html`<a class="to-pages" href="#pages">All pages</a>`;
const SEARCH = html`<div class="search" role="search" hidden><label class="hidden" for="search">Search the documents</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" maxlength="100"></div>
`;

export interface SitePage {
  readonly address: string;
  readonly content: RenderedMarkdown;
  readonly readers: readonly Reader[];
  /** Addresses of what pages load. */
  readonly style: string;
  readonly scripts: readonly string[];
}

/** The document comes before the lists, so that readers who hear or tab through a page need not skip them. */
export function renderSitePage({ address, content, readers, style, scripts }: SitePage): string {
  const title = content.headings[0]?.text ?? 'Documents';
  return renderDocument({
    title: title === 'Boxoffice' ? title : `${title} - Boxoffice`,
    head: html`<link rel="icon" href="${ICON_ASSET.path}">
<link rel="stylesheet" href="${style}">
<link rel="alternate" type="text/markdown" href="${address}.md">
${scripts.map((script) => html`<script src="${script}" defer></script>`)}`,
    body: html`${renderTop(address, { links: TO_PAGES, more: SEARCH })}
<div class="columns">
<main id="main" tabindex="-1">
<p class="programs" data-markdown-ignore>For programs: <a href="${address}.md">this page as Markdown</a>, <a href="/llms.txt">all pages</a></p>
<section id="found" aria-label="Found" hidden><p role="status"></p><ol></ol></section>
<article>
${content.html}
</article>
</main>
${renderHeadings(content.headings)}
${renderReaders(readers, address)}
</div>`,
  });
}

function renderHeadings(headings: readonly Heading[]): Html | undefined {
  const listed = headings.filter(({ depth }) => depth === 2);
  if (listed.length < LISTED_HEADINGS_MIN) return undefined;
  return html`<nav class="headings" aria-label="On this page"><h2>On this page</h2>
<ul>${listed.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>`;
}

/** The first list that has the page is open. */
function renderReaders(readers: readonly Reader[], address: string): Html {
  const own = readers.find((reader) => reader.address === address || hasPage(reader, address));
  return html`<nav id="pages" class="pages" aria-label="Pages"><h2 class="hidden">Pages</h2>
${readers.map(
  (reader) => html`<details${reader === own && html` open`}><summary>${reader.name}</summary>
<ul>${[reader, ...reader.pages.map((page) => ({ name: page.title, address: page.address }))].map(
    (entry) =>
      html`<li><a href="${entry.address}"${entry.address === address && html` aria-current="page"`}>${
        entry === reader ? 'What to read' : entry.name
      }</a></li>`,
  )}</ul></details>
`,
)}</nav>`;
}

function hasPage({ pages }: Reader, address: string): boolean {
  return pages.some((page) => page.address === address);
}
