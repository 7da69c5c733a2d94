/** The style sheet of the console. */
import { TOKENS } from '@boxoffice/pages/tokens.css';

export const STYLE = `${TOKENS}
:root { --s0: #4c3fd1; --s1: #b4540a; --s2: #0f766e; --s3: #be185d; --s4: #8a6100; --s5: #64748b; }
@media screen and (prefers-color-scheme: dark) {
  :root { --s0: #8f85ff; --s1: #f5a25d; --s2: #4fd1c5; --s3: #f472b6; --s4: #facc15; --s5: #94a3b8; }
}
body { margin: 0; min-height: 100vh; background: var(--ground); color: var(--ink); font: 1rem/1.5 var(--sans); }
a { color: var(--accent); text-underline-offset: .15em; }
p { margin: 0 0 1rem; }
h1 { margin: 0 0 1.25rem; font-size: 1.625rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere; text-wrap: balance; }
h2 { margin: 2rem 0 .75rem; font-size: 1.0625rem; line-height: 1.3; }
main > p:not(.alert, .note, .done) { max-width: 46rem; }
code, pre { font: .875em/1.5 var(--mono); }
code { overflow-wrap: anywhere; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; z-index: 1; }

.top { background: var(--paper); border-bottom: 1px solid var(--line); }
.top > div { max-width: 72rem; margin: 0 auto; padding: .5rem 1.25rem; display: flex; flex-wrap: wrap; gap: .25rem 1.5rem;
             align-items: center; }
.brand { font-weight: 700; color: var(--ink); text-decoration: none; padding: .375rem 0; }
.top nav { display: flex; flex-wrap: wrap; gap: .125rem .25rem; flex: 1; }
.top nav.way-in { justify-content: flex-end; }
.top nav a { padding: .375rem .625rem; border: 1px solid transparent; border-radius: .5rem; color: var(--ink); text-decoration: none; }
.top nav a:hover { background: var(--accent-soft); }
.top nav a[aria-current] { background: var(--accent-soft); font-weight: 600; }
.top nav.within { flex: 1 0 100%; margin: 0 -.625rem; font-size: .9375rem; }
.top nav.within a[aria-current] { background: none; text-decoration: underline; text-underline-offset: .375rem; }
.search { display: flex; gap: .375rem; flex: 0 1 15rem; }
.search input, .search button { height: 2.25rem; min-height: 2.25rem; padding: .25rem .625rem; font-size: .875rem; }
.search input { flex: 1; width: 6rem; }
.search input::placeholder { color: var(--quiet); opacity: 1; }
.who { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; font-size: .875rem; color: var(--quiet); }
.who bdi { max-width: 12rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; display: inline-block;
           vertical-align: bottom; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; overflow-wrap: break-word; }
/* A page of one form: before the log-in it stands alone, and after it below the navigation. */
.narrow main { max-width: 30rem; margin-top: 3rem; margin-bottom: 3rem; padding: 2rem; background: var(--paper);
               border: 1px solid var(--line); border-radius: .75rem; }
.narrow main > :last-child { margin-bottom: 0; }
.narrow:has(.who) main { max-width: 72rem; margin-top: 0; margin-bottom: 0; padding: 2rem 1.25rem 4rem; background: none; border: 0; }
.narrow:has(.who) main > * { max-width: 34rem; }
main.hero { padding-top: 4rem; }
.hero .actions { margin-bottom: 3rem; }
.hero h1 { font-size: 2.5rem; letter-spacing: -.02em; max-width: 22ch; }
.hero .lead { font-size: 1.25rem; color: var(--quiet); max-width: 46ch; }

.card { background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin: 0 0 1.25rem;
        min-width: 0; }
.card > :last-child, .card > form:last-child > :last-child { margin-bottom: 0; }
.card > h2:first-child { margin-top: 0; }
.cards { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); margin-bottom: 1.25rem; }
.cards:has(> :nth-child(5)) { grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
.cards .card { margin: 0; }
.figure { font-size: 2rem; line-height: 1.2; font-weight: 650; letter-spacing: -.02em; margin: 0; font-variant-numeric: tabular-nums;
          overflow-wrap: anywhere; }
.figure .unit { font-size: 1rem; font-weight: 400; letter-spacing: 0; color: var(--quiet); }
.label { margin: 0 0 .25rem; font-weight: 600; font-size: .875rem; color: var(--quiet); }
.hint { color: var(--quiet); font-size: .875rem; margin: .25rem 0 0; font-weight: 400; }
main > .hint, section > .hint, .card > .hint, form > .hint { margin-bottom: .75rem; }
.note, .alert, .done { padding: .75rem 1rem; border-radius: .5rem; border: 1px solid; margin: 0 0 1.25rem; overflow-wrap: anywhere; }
.note { background: var(--accent-soft); border-color: var(--accent); }
.alert { background: var(--bad-soft); color: var(--bad); border-color: var(--bad); }
.alert > p, .alert > ul { margin: 0; }
.alert a { color: inherit; }
.done { background: var(--good-soft); color: var(--good); border-color: var(--good); }
/* What a form did stays in view where an address leads to a row far below it. */
div.done { position: sticky; top: .5rem; z-index: 1; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
.done button { min-height: 2rem; padding: .125rem .625rem; }
tr[id] { scroll-margin-block: 40vh; }
tr[id]:target { background: var(--accent-soft); }
tr[id]:focus-visible { outline-offset: -3px; }
.badge { display: inline-block; padding: 0 .5rem; border-radius: 1rem; background: var(--accent-soft); font-size: .8125rem;
         white-space: nowrap; font-weight: 400; letter-spacing: normal; border: 1px solid transparent; }
.figure .badge { font-size: 1rem; font-weight: 600; padding: .25rem .75rem; vertical-align: .25rem; }
.badge.good { background: var(--good-soft); color: var(--good); }
.badge.bad { background: var(--bad-soft); color: var(--bad); }
.badge.warn { background: var(--warn-soft); color: var(--warn); }

.field { margin: 0 0 1.25rem; max-width: 32rem; }
.field label { display: block; font-weight: 600; font-size: .9375rem; margin-bottom: .25rem; }
.field input, .field select, .field textarea { width: 100%; }
input, select, textarea { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--quiet); border-radius: .5rem;
                padding: .5rem .75rem; min-width: 0; max-width: 100%; height: 2.625rem; line-height: 1.4; }
textarea { height: auto; padding-block: .5rem; }
input[aria-invalid=true], select[aria-invalid=true], textarea[aria-invalid=true] { border-color: var(--bad); border-width: 2px; }
.check { display: grid; align-content: start; grid-template-columns: auto 1fr; gap: 0 .625rem; align-items: center; margin: 0 0 .625rem; }
.check input { width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
.check label { overflow-wrap: anywhere; min-height: 1.5rem; }
.check .hint { grid-column: 2; margin: 0; }
td .hint, .changes { overflow-wrap: anywhere; }
td .hint bdi { white-space: normal; }
.changes { font-size: .875rem; min-width: 0; }
.changes del { color: var(--quiet); }
.changes ins { text-decoration: none; font-weight: 600; }
details { margin: 0 0 1.25rem; }
summary { cursor: pointer; padding: .25rem 0; }
.wrong { color: var(--bad); font-size: .875rem; margin: .25rem 0 0; }
.filters { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: end; margin: 0 0 1.25rem; }
.filters .field { margin: 0; flex: 1 1 9rem; max-width: 16rem; }
fieldset { border: 1px solid var(--line); border-radius: .5rem; margin: 0 0 1.25rem; padding: .75rem 1rem 0; min-width: 0; }
legend { font-weight: 600; font-size: .9375rem; padding: 0 .375rem; }
.checks { border: 0; margin: 0 0 1.25rem; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
.checks legend { margin-bottom: .25rem; padding: 0; }
.checks label { display: inline-flex; gap: .5rem; align-items: center; min-height: 1.75rem; }
.checks input { width: 1.25rem; height: 1.25rem; padding: 0; margin: 0; accent-color: var(--accent); }
fieldset .checks { margin: 0; }
progress { width: 100%; max-width: 30rem; accent-color: var(--accent); }
.inline { display: inline-flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 0; }
button, .button { display: inline-flex; gap: 0 .3em; align-items: center; justify-content: center; font: inherit; font-weight: 600; font-size: .9375rem; color: var(--ink); background: var(--paper);
         border: 1px solid var(--quiet); border-radius: .5rem; padding: .5rem .875rem; min-height: 2.625rem; cursor: pointer;
         text-decoration: none; vertical-align: middle; max-width: 100%; overflow-wrap: anywhere; }
button[hidden] { display: none; }
button:hover, .button:hover { background: var(--accent-soft); }
.primary { color: var(--accent-ink); background: var(--accent); border-color: var(--accent); }
.primary:hover { background: var(--accent); filter: brightness(1.1); }
.danger { color: var(--bad); border-color: var(--bad); }
.danger:hover { background: var(--bad-soft); }
.plain { border: 0; background: none; color: var(--accent); text-decoration: underline; padding: .25rem; min-height: 1.5rem;
         font-weight: 400; font-size: inherit; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 0 0 1rem; }

.scroll { position: relative; overflow-x: auto; border: 1px solid var(--line); border-radius: .75rem; background: var(--paper); margin: 0 0 1.25rem; }
.slim { max-width: 46rem; }
table { width: 100%; border-collapse: collapse; font-size: .875rem; }
caption { text-align: left; padding: .75rem 1rem; font-weight: 600; font-size: .9375rem; }
th, td { text-align: left; padding: .5rem .75rem; vertical-align: middle; }
tr > :first-child { padding-left: 1rem; }
tr > :last-child { padding-right: 1rem; }
td a, th a { text-decoration: none; }
td a:hover, th a:hover, td .advice a { text-decoration: underline; }
td button, td .button, td select { min-height: 2rem; height: 2rem; white-space: nowrap; padding: .125rem .625rem; font-size: .875rem; line-height: 1.6; }
th { font-weight: 600; }
thead th { color: var(--quiet); font-size: .8125rem; }
tbody tr > *, tfoot tr > * { border-top: 1px solid var(--line); }
table:not(:has(thead, caption:not(.hidden))) tr:first-child > * { border-top: 0; }
tfoot { font-weight: 600; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
main bdi, td code { overflow-wrap: anywhere; }
code.words { overflow-wrap: normal; }
@media (min-width: 40.01rem) {
  td:has(code) { min-width: 10.5rem; }
  /* A word that a user chose is broken only if it is longer than this. */
  td:has(bdi), th[scope=row]:has(bdi) { min-width: 9rem; }
  .rows td code.long { white-space: normal; }
  .rows th, .rows td { padding: .5rem .75rem; }
  .rows select { max-width: 10rem; }
}
.rows .inline { flex-wrap: nowrap; }
.name { display: flex; flex-direction: column; min-width: 9rem; }
.name code { color: var(--quiet); font-weight: 400; }
.number .badge { margin-right: .25rem; }
.number bdi { display: inline-block; max-width: 12rem; white-space: normal; }
time, .moment { white-space: nowrap; font-variant-numeric: tabular-nums; }
/* In the zone of the reader it may be a shorter day. Columns stay where they are. */
.rows time:not([data-until]) { display: inline-block; min-width: 9.5em; }
.empty { padding: 2rem 1.25rem; text-align: center; color: var(--quiet); border: 1px dashed var(--line); border-radius: .75rem;
         margin: 0 0 1.25rem; }
.empty strong { display: block; color: var(--ink); font-size: 1.0625rem; }
.pages { display: flex; gap: 1rem; }
.pages a[aria-current] { color: var(--ink); font-weight: 600; text-decoration: none; }

.secret { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.secret code { flex: 1 1 14rem; padding: .625rem .75rem; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem;
               overflow-wrap: anywhere; }
pre { margin: 0 0 1rem; padding: 1rem; background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto;
      white-space: pre-wrap; overflow-wrap: anywhere; }
.steps { list-style: none; counter-reset: step; margin: 0; padding: 0; }
.steps > li { counter-increment: step; position: relative; padding: 0 0 1.5rem 3rem; }
.steps > li::before { content: counter(step); position: absolute; left: 0; top: 0; width: 2rem; height: 2rem; border-radius: 50%;
  border: 2px solid var(--quiet); display: grid; place-items: center; font-weight: 600; font-size: .875rem; background: var(--paper); }
.steps > li.is-done::before { content: '✓'; border-color: var(--good); color: var(--good); background: var(--good-soft); }
.steps > li[aria-current]::before { border-color: var(--accent); background: var(--accent); color: var(--accent-ink); }
.steps h2 { margin: .125rem 0 .5rem; }

.feed { max-height: 26rem; overflow: auto; }
.feed ol, .plain-list { list-style: none; margin: 0; padding: 0; font-size: .9375rem; }
.feed li, .plain-list li { padding: .375rem 1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.plain-list li { padding: .375rem 0; }
.feed li:first-child, .plain-list li:first-child { border-top: 0; }
.feed time, .plain-list time { color: var(--quiet); font-size: .875rem; margin-right: .5rem; }

.chart { margin: 0 0 1.25rem; }
.chart > svg { display: block; width: 100%; height: auto; max-width: 52rem; }
.chart.is-small > svg { max-width: none; overflow: visible; }
.chart text { fill: var(--quiet); font: 12px var(--sans); }
.chart.is-small text { font-size: 7.5px; }
.chart line { stroke: var(--line); }
.chart rect { stroke: var(--paper); stroke-width: 1; }
.chart .dense rect { stroke: none; }
.chart .lines { fill: none; stroke: var(--paper); stroke-width: 1.25; }
.chart #p2 .lines { stroke-width: 2.5; stroke-linecap: round; }
.chart svg[hidden] { display: none; }
.chart > .actions { margin: .75rem 0 0; }
.chart .u-select { background: var(--accent); opacity: .2; }
.chart .u-cursor-x { border-color: var(--quiet); }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); }
.s3 { fill: var(--s3); } .s4 { fill: var(--s4); } .s5 { fill: var(--s5); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0 0 .75rem; padding: 0; font-size: .875rem; }
.legend .number { color: var(--quiet); margin-left: .25rem; }
@media (min-width: 60rem) {
  .chart:has(.legend) { display: grid; grid-template-columns: minmax(0, 1fr) 15rem; gap: 2rem; }
  .chart .legend { order: 1; display: block; margin: 0; }
  .chart > .actions { order: 2; grid-column: 1 / -1; }
  .legend li { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: .25rem; padding: .375rem 0; border-top: 1px solid var(--line); align-items: center; }
  .legend li:first-child { border-top: 0; }
}
.legend svg { width: 1.375rem; height: .875rem; vertical-align: -.125rem; margin-right: .375rem; display: inline; }
.legend bdi { overflow-wrap: anywhere; }
footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem 2rem; color: var(--quiet); font-size: .875rem; }
@media (max-width: 40rem) {
  main { padding-top: 1.25rem; }
  .narrow main { margin: 0; padding: 1.25rem 1.25rem 3rem; border: 0; background: none; max-width: none; }
  .hero .actions { margin-bottom: 2rem; }
  .top nav { flex: 1 0 100%; margin: 0 -.5rem; gap: 0; }
  .top nav a { padding: .25rem .5rem; }
  .top nav.within { margin: 0 -.5rem; font-size: .875rem; }
  .hero h1 { font-size: 2rem; }
  .chart text, .chart.is-small text { font-size: 22px; }
  .chart .minor { display: none; }
  .rows .inline { flex-wrap: wrap; justify-content: flex-end; }
  .name { min-width: 0; align-items: flex-end; }
  table.rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.rows, table.rows tbody, table.rows tr, table.rows td, table.rows th, table.rows caption { display: block; }
  table.rows tr { padding: .625rem 0; border-top: 1px solid var(--line); }
  table.rows td, table.rows tbody th { border: 0; padding: .125rem 1rem; display: flex; justify-content: space-between; gap: 1rem;
    text-align: right; white-space: normal; }
  table.rows td::before, table.rows tbody th::before { content: attr(data-label); color: var(--quiet); font-weight: 400; flex: none;
    text-align: left; }
  table.rows td > *, table.rows tbody th > * { min-width: 0; }
  table.rows time, table.rows .moment, table.rows .number { white-space: normal; }
  .rows time:not([data-until]) { min-width: 0; }
  table.rows td:empty { display: none; }
  /* A value that does not fit beside its name is below it. */
  .slim table, .slim tbody, .slim caption { display: block; }
  .slim tr { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .125rem 1rem; padding: .5rem 1rem;
    border-top: 1px solid var(--line); }
  .slim table:not(:has(caption:not(.hidden))) tr:first-child { border-top: 0; }
  .slim th, .slim td { padding: 0; border: 0; min-width: 0; }
  .slim td { margin-left: auto; text-align: right; overflow-wrap: anywhere; }
  .slim time, .slim .number { white-space: normal; }
  /* A row has its time and its sum. What they consist of is in the last one. */
  table.sums tr { display: flex; flex-wrap: wrap; gap: .125rem 1rem; padding: .375rem 1rem; border-top: 1px solid var(--line); }
  table.sums tr[hidden] { display: none; }
  table.sums tfoot { display: block; }
  table.sums td, table.sums tbody th, table.sums tfoot th { padding: 0; border: 0; }
  table.sums th { flex: 1; text-align: left; }
  table.sums td:last-child { order: 1; }
  table.sums td:not(:last-child), table.sums td:last-child::before, table.sums th::before { display: none; }
  table.sums tfoot td:not(:last-child) { display: flex; flex: 1 0 100%; order: 2; font-weight: 400; }
  table.desk tr { display: flex; align-items: center; gap: .5rem; padding: .375rem 1rem; }
  table.desk td, table.desk tbody th { padding: 0; }
  table.desk td::before, table.desk tbody th::before, table.desk td:not(:last-child) { display: none; }
  table.desk tbody th { flex: 1; min-width: 0; overflow: hidden; }
  table.desk th a { min-width: 0; }
  table.desk th bdi { display: block; }
  table.desk .inline { flex-wrap: nowrap; gap: .25rem; }
  table.desk button { padding: .125rem .375rem; font-size: .8125rem; }
}
@media (min-width: 120rem) { main, .narrow:has(.who) main, .top > div, footer { max-width: 90rem; } }
@media print {
  .top, footer, .skip, .filters, .pages, .actions, button, .button, form, .card:has(form) { display: none; }
  body { background: none; font-size: 10pt; }
  main, .narrow main, .narrow:has(.who) main { padding: 0; margin: 0; max-width: none; border: 0; }
  a { color: inherit; text-decoration: none; }
  .scroll, .feed { overflow: visible; max-height: none; }
  tr, .card { break-inside: avoid; }
  h2 { break-after: avoid; }
}
@media (forced-colors: active) {
  .badge, .note, .alert, .done { border-color: CanvasText; }
  .top nav a[aria-current] { border-color: Highlight; }
  .primary { border-width: 2px; }
  .steps > li.is-done::before, .steps > li[aria-current]::before { border-color: Highlight; }
  .chart > svg, .legend svg { forced-color-adjust: none; background: var(--paper); }
}
@media (prefers-reduced-motion: no-preference) { a, button { transition: background-color .12s; } }
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4c3fd1"/><path d="M7 12h18v10a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2z" fill="#fff"/><path d="M9 8h14a2 2 0 0 1 2 2H7a2 2 0 0 1 2-2z" fill="#c9c4ff"/></svg>`;
