/** Markdown as HTML. Raw HTML in it is kept: what is rendered is part of this project. */
import { Html, html } from '@boxoffice/pages/html';
import { lexer, Marked, type Token } from 'marked';
import { readRunnable } from './runnable.ts';

export interface Heading {
  readonly depth: number;
  readonly id: string;
  /** Without markup. */
  readonly text: string;
}

export interface RenderedMarkdown {
  readonly html: Html;
  readonly headings: readonly Heading[];
  /** Whether the page has commands that it runs. */
  readonly isRunnable: boolean;
}

/**
 * Tables and code that are wider than the screen scroll, also by keyboard. With `runs`, marked commands have what the page needs to run
 * them; a file that they send is the JSON above them.
 */
export function renderMarkdown(text: string, { runs = false } = {}): RenderedMarkdown {
  const tokens = lexer(text);
  const headings = headingsOf(tokens);
  let at = 0;
  let json: string | undefined;
  let isRunnable = false;
  const marked = new Marked({
    renderer: {
      heading({ tokens: inside, depth }) {
        const { id } = headings[at++]!;
        return `<h${depth} id="${id}">${this.parser.parseInline(inside)}</h${depth}>\n`;
      },
      code({ text: code, lang = '' }) {
        if (lang === 'json') json = code;
        const runnable = runs && readRunnable(lang, code, json);
        // As without this function.
        if (!runnable) return false;
        isRunnable = true;
        const requests = JSON.stringify(runnable);
        return html`<pre tabindex="0" data-run="${requests}"><code class="language-sh">${code}\n</code></pre>\n`
          .text;
      },
    },
  });
  const page = marked
    .parser(tokens)
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">')
    .replaceAll('<img ', '<img loading="lazy" ');
  return { html: new Html(page), headings, isRunnable };
}

/** The parts of a page, each with the words from its heading to the next one. For the search. */
export function sectionsOf(text: string): { readonly heading: Heading; readonly words: string }[] {
  const tokens = lexer(text);
  const sources: string[] = [];
  for (const { type, raw } of tokens) {
    if (type === 'heading') sources.push('');
    else if (sources.length > 0) sources[sources.length - 1] += raw;
  }
  return headingsOf(tokens).map((heading, at) => ({ heading, words: wordsOf(sources[at]!) }));
}

function headingsOf(tokens: readonly Token[]): Heading[] {
  const headings: Heading[] = [];
  for (const token of tokens) {
    if (token.type !== 'heading') continue;
    const text = withoutMarks(token.text);
    headings.push({ depth: token.depth, id: anchorOf(text, headings), text });
  }
  return headings;
}

/** As GitHub makes it: in lower case, with dashes, and numbered if it comes again. */
function anchorOf(text: string, before: readonly Heading[]): string {
  const name = text
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
  const same = before.filter((heading) => heading.text === text).length;
  return same === 0 ? name : `${name}-${same}`;
}

function withoutMarks(markdown: string): string {
  return markdown.replace(/\]\([^)]*\)|[`*[]/g, '');
}

/** What a reader sees of Markdown, in one line. */
function wordsOf(markdown: string): string {
  return markdown
    .replace(/^[ \t]*```.*$|^\|[-:| ]+\|$/gm, '')
    .replace(/<\/?[a-z][^>\n]*>/g, ' ')
    .replace(/!?\[((?:[^[\]]|\[[^\]]*\])*)\]\([^)]*\)/g, '$1')
    .replace(/[`*|\s]+/g, ' ')
    .trim();
}
