/** The style sheet of the site. */
import { TOKENS } from '@boxoffice/pages/tokens.css';
import { TOP_STYLE } from './top.ts';

export const SITE_STYLE = `${TOKENS}
html { scroll-padding-top: 1rem; --top-width: 90rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.6 var(--sans); }
a { color: var(--accent); text-underline-offset: .15em; }
${TOP_STYLE}.search { flex: 1 0 12rem; display: flex; justify-content: flex-end; }
.search[hidden] { display: none; }
.search input { font: inherit; width: 100%; max-width: 22rem; padding: .375rem .75rem; color: var(--ink); background: var(--ground); border: 1px solid var(--quiet); border-radius: .5rem; }
.search input::placeholder { color: var(--quiet); opacity: 1; }
.columns { max-width: 90rem; margin: 0 auto; padding: 0 1.25rem 3rem; display: grid; gap: 2.5rem; grid-template-columns: minmax(0, 1fr); }
main { min-width: 0; padding-top: 1.5rem; }
main:focus { outline: none; }
article { overflow-wrap: break-word; }
article > :is(p, ul, ol, h1, h2, h3, h4) { max-width: 46rem; }
h1 { margin: 0 0 1rem; font-size: 1.875rem; line-height: 1.2; letter-spacing: -.01em; text-wrap: balance; }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.375rem; line-height: 1.3; }
h3 { margin: 2rem 0 .5rem; font-size: 1.0625rem; line-height: 1.3; }
p, article ul, article ol { margin: 0 0 1rem; }
article ul, article ol { padding-left: 1.5rem; }
li { margin: .25rem 0; }
img { max-width: 100%; height: auto; }
blockquote { margin: 0 0 1rem; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--quiet); }
code { font: .875em/1.5 var(--mono); background: var(--accent-soft); border-radius: .25rem; padding: .1em .25em; overflow-wrap: anywhere; }
pre { margin: 0 0 1.25rem; padding: 1rem; overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.wide { margin: 0 0 1.25rem; overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; line-height: 1.45; }
th, td { padding: .5rem .75rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); min-width: 4rem; }
th { font-size: .8125rem; color: var(--quiet); }
[align=right] { text-align: right; }
tbody tr:last-child td { border-bottom: 0; }
.run { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; margin: -.5rem 0 1.25rem; }
.run p { margin: 0; font-size: .9375rem; }
.run button, .run input { font: inherit; padding: .25rem .875rem; color: var(--ink); background: var(--paper); border: 1px solid var(--quiet); border-radius: .5rem; }
.run button { font-weight: 600; cursor: pointer; }
.run button:hover { background: var(--accent-soft); }
.run input { flex: 1 1 14rem; min-width: 0; max-width: 30rem; font-family: var(--mono); font-size: .875rem; line-height: 1.7; }
.own-key { max-width: 46rem; margin: 0 0 1.5rem; padding: 1rem 1rem 0; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
.own-key .run { margin-top: .25rem; }
.answers p { margin: 0 0 .25rem; font-size: .9375rem; }
.answers p:last-child { margin-bottom: 1.25rem; }
.answers pre { max-height: 24rem; overflow-y: auto; border-left: 3px solid var(--accent); }
.programs { margin: 0 0 .5rem; font-size: .8125rem; color: var(--quiet); }
#found { margin-bottom: 2rem; }
#found ol { list-style: none; margin: 0; padding: 0; max-width: 46rem; }
#found li { margin: 0 0 .75rem; padding: .75rem 1rem; background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
#found a { font-weight: 600; }
#found li p { margin: .25rem 0 0; font-size: .875rem; color: var(--quiet); overflow-wrap: anywhere; }
.pages, .headings { font-size: .9375rem; }
.pages ul, .headings ul { list-style: none; margin: 0; padding: 0; }
.pages li, .headings li { margin: 0; }
.pages li a, .headings li a { display: block; padding: .25rem .625rem; border-radius: .375rem; color: var(--ink); text-decoration: none; }
.pages li a:hover, .headings li a:hover { background: var(--accent-soft); }
.pages li a[aria-current] { background: var(--accent-soft); font-weight: 600; }
.pages summary { padding: .375rem 0; font-weight: 600; cursor: pointer; }
.headings { display: none; }
.headings h2 { margin: 0 0 .5rem; padding-left: .625rem; font-size: .8125rem; color: var(--quiet); }
@media (min-width: 60rem) {
  .columns { grid-template-columns: 15rem minmax(0, 1fr); }
  .pages { grid-area: 1 / 1; padding-top: 1.5rem; }
  main { grid-area: 1 / 2; }
  .to-pages { display: none !important; }
}
@media (min-width: 82rem) {
  .columns:has(.headings) { grid-template-columns: 15rem minmax(0, 1fr) 14rem; }
  .headings { display: block; grid-area: 1 / 3; padding-top: 1.5rem; }
  .headings ul { max-height: calc(100vh - 6rem); overflow-y: auto; }
  .headings { position: sticky; top: 0; align-self: start; }
}
@media print { .top, .skip, .pages, .headings, .run, .own-key, .programs { display: none; } .columns { display: block; } }
`;
