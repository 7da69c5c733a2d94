/** The style of the printable statement: light and dark screens, phones, and paper of any size. */
import { TOKENS } from '@boxoffice/pages/tokens.css';

/** The style of what is in the statement, wherever it is shown. */
const CONTENT = `
header { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem 3rem; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; }
h1 span { display: block; color: var(--quiet); font-size: 1rem; font-weight: 500; line-height: 1.5; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.125rem; }
.parties { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem 3rem; margin-top: 1.5rem; }
.parties h2 { margin: 0; color: var(--quiet); font-size: .8125rem; }
address { font-size: .9375rem; font-style: normal; overflow-wrap: anywhere; }
p { margin: 0; }
dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .125rem 1rem; margin: 0; font-size: .9375rem; }
dt, .note, footer { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
.note, footer { font-size: .875rem; }
.note { margin-top: .5rem; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
th, td { padding: .4375rem 0 .4375rem 1rem; text-align: left; vertical-align: baseline; font-weight: 400;
         overflow-wrap: anywhere; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { padding-left: 0; }
thead th { color: var(--quiet); font-size: .8125rem; font-weight: 600; border-bottom-color: var(--strong); }
.number, .word { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.sum th, .sum td { font-weight: 700; border-bottom: 0; border-top: 1px solid var(--strong); }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
code { font: .875em var(--mono); overflow-wrap: anywhere; }
@media screen and (max-width: 44rem) {
  .wide thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .wide, .wide tbody, .wide tfoot { display: block; }
  .wide tr { display: flex; flex-wrap: wrap; column-gap: 1rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .wide tr::after { content: ''; order: 1; flex-basis: 100%; }
  .wide th, .wide td { padding: .0625rem 0; border: 0; }
  .wide th { flex: 1 1 0; min-width: 0; }
  .wide tbody th { font-weight: 600; }
  .wide td { order: 2; color: var(--quiet); font-size: .875rem; text-align: left; }
  .wide td:last-child { order: 1; color: inherit; font-size: inherit; text-align: right; }
  .wide td:empty { display: none; }
  .wide time { white-space: normal; }
  .wide td[data-label]:not(:last-child)::before { content: attr(data-label) ' '; }
  .wide tfoot tr { border-bottom: 0; border-top: 1px solid var(--strong); }
  .wide .sum td:not(:last-child) { font-weight: 400; }
}
@media print {
  h1 { font-size: 16pt; }
  h1 span { font-size: 10pt; }
  h2 { margin: 7mm 0 1mm; font-size: 11pt; break-after: avoid; }
  .parties { margin-top: 5mm; }
  .parties h2 { margin: 0; font-size: 8pt; }
  dl, address { font-size: 9pt; }
  table { font-size: 8.5pt; }
  thead { display: table-header-group; }
  thead th { font-size: 8pt; }
  tfoot { display: table-row-group; }
  th, td { padding: .75mm 0 .75mm 3mm; }
  .note, footer { font-size: 8pt; }
  footer { margin-top: 8mm; }
  tr, dl, address, footer { break-inside: avoid; }
  tfoot tr { break-before: avoid; }
}
`;

const PAPER = `@page {
  margin: 18mm 16mm 20mm;
  @bottom-right { content: counter(page) " / " counter(pages); color: #565d6b; font: 8pt system-ui, sans-serif; }
}
`;

/** The style of a page that is nothing but the statement. */
export const STATEMENT_STYLE = `${TOKENS}
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 var(--sans); }
main { max-width: 60rem; margin: 2rem auto; padding: 2.5rem; background: var(--paper);
       border: 1px solid var(--line); border-radius: .75rem; }
@media screen and (max-width: 44rem) {
  main { margin: 0; padding: 1.5rem 1.25rem; border: 0; border-radius: 0; }
}
@media print {
  body { font-size: 10pt; }
  main { max-width: none; margin: 0; padding: 0; border: 0; }
}
${CONTENT}${PAPER}`;

/** The style of a statement in a page of the console, which is not printed but for it. */
export const STATEMENT_CARD_STYLE = `.statement { max-width: 60rem; padding: 2.5rem; background: var(--paper);
  border: 1px solid var(--line); border-radius: .75rem; }
.statement footer { max-width: none; margin-bottom: 0; padding: 1rem 0 0; }
.statement .note { border: 0; padding: 0; background: none; color: var(--quiet); margin-bottom: 0; }
.statement tr > :first-child { padding-left: 0; }
.statement tr > :last-child { padding-right: 0; }
.statement tbody tr > *, .statement tfoot tr > * { border-top: 0; }
@media screen and (max-width: 44rem) { .statement { padding: 1.25rem; } }
@media print {
  .statement { max-width: none; padding: 0; border: 0; }
  .statement footer { display: block; }
}
.statement { ${CONTENT} }
${PAPER}`;
