/** The top of the documents and of the API reference: where one is, and the way to the other. */
import { type Html, html } from '@boxoffice/pages/html';

/** A link stays on one line, on the narrowest screen too. */
export const TOP_STYLE = `.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; z-index: 1; }
.top { background: var(--paper); border-bottom: 1px solid var(--line); }
.top > div { max-width: var(--top-width); margin: 0 auto; padding: .5rem 1.25rem; display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center; }
.top a { display: inline-block; color: var(--ink); text-decoration: none; padding: .375rem .625rem; border: 1px solid transparent; border-radius: .5rem; }
.top a:hover, .top a[aria-current] { background: var(--accent-soft); }
.top a[aria-current] { font-weight: 600; }
.top .brand { font-weight: 700; padding-left: 0; background: none; }
`;

const PLACES = [
  ['/docs', 'Documents'],
  ['/docs/rest', 'API reference'],
  ['/console', 'Console'],
] as const;

/** `address`: of the page. `links` follow in the navigation, and `more` behind it. */
export function renderTop(address: string, { links, more }: { links?: Html; more?: Html } = {}): Html {
  return html`<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div>
<a class="brand" href="/">Boxoffice</a>
<nav aria-label="Boxoffice">${PLACES.map(
    ([place, name]) =>
      html`<a href="${place}"${place === address && html` aria-current="page"`}>${name}</a>\n`,
  )}${links}</nav>
${more}</div></header>`;
}
