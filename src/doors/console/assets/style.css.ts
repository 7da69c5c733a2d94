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
h1 { margin: 0 0 1rem; font-size: 1.75rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .75rem; font-size: 1.125rem; line-height: 1.3; }
code, pre { font: .875em/1.5 var(--mono); }
code { overflow-wrap: anywhere; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; z-index: 1; }

.top { background: var(--paper); border-bottom: 1px solid var(--line); }
.top > div { max-width: 72rem; margin: 0 auto; padding: .5rem 1.25rem; display: flex; flex-wrap: wrap; gap: .25rem 1.5rem;
             align-items: center; }
.brand { font-weight: 700; color: var(--ink); text-decoration: none; padding: .375rem 0; }
.top nav { display: flex; flex-wrap: wrap; gap: .125rem .25rem; flex: 1; }
.top nav a { padding: .375rem .625rem; border-radius: .5rem; color: var(--ink); text-decoration: none; }
.top nav a:hover { background: var(--accent-soft); }
.top nav a[aria-current] { background: var(--accent-soft); font-weight: 600; }
.who { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; font-size: .875rem; color: var(--quiet); }
.who bdi { max-width: 12rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; display: inline-block;
           vertical-align: bottom; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
.narrow main { max-width: 34rem; }
main.hero { max-width: 60rem; padding-top: 4rem; }
.hero h1 { font-size: 2.5rem; letter-spacing: -.02em; max-width: 22ch; }
.hero .lead { font-size: 1.25rem; color: var(--quiet); max-width: 46ch; }

.card { background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; margin: 0 0 1.25rem;
        min-width: 0; }
.card > :last-child, .card > form:last-child > :last-child { margin-bottom: 0; }
.card > h2:first-child { margin-top: 0; }
.cards { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); margin-bottom: 1.25rem; }
.cards .card { margin: 0; }
.figure { font-size: 2rem; line-height: 1.2; font-weight: 650; letter-spacing: -.02em; margin: 0; font-variant-numeric: tabular-nums;
          overflow-wrap: anywhere; }
.label { margin: 0 0 .25rem; font-weight: 600; font-size: .875rem; color: var(--quiet); }
.hint { color: var(--quiet); font-size: .875rem; margin: .25rem 0 0; font-weight: 400; }
.note, .alert, .done { padding: .75rem 1rem; border-radius: .5rem; border: 1px solid; margin: 0 0 1.25rem; overflow-wrap: anywhere; }
.note { background: var(--accent-soft); border-color: var(--accent); }
.alert { background: var(--bad-soft); color: var(--bad); border-color: var(--bad); }
.done { background: var(--good-soft); color: var(--good); border-color: var(--good); }
.badge { display: inline-block; padding: .0625rem .5rem; border-radius: 1rem; background: var(--accent-soft); font-size: .8125rem;
         white-space: nowrap; }
.badge.good { background: var(--good-soft); color: var(--good); }
.badge.bad { background: var(--bad-soft); color: var(--bad); }
.badge.warn { background: var(--warn-soft); color: var(--warn); }

.field { margin: 0 0 1.25rem; }
.field label { display: block; font-weight: 600; margin-bottom: .25rem; }
.field input, .field select { width: 100%; }
input, select { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--quiet); border-radius: .5rem;
                padding: .5rem .75rem; min-width: 0; max-width: 100%; min-height: 2.625rem; }
input[aria-invalid=true] { border-color: var(--bad); border-width: 2px; }
.wrong { color: var(--bad); font-size: .875rem; margin: .25rem 0 0; }
.filters { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: end; margin: 0 0 1.25rem; }
.filters .field { margin: 0; flex: 1 1 9rem; max-width: 16rem; }
.inline { display: inline-flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 0; }
button, .button { display: inline-block; font: inherit; font-weight: 600; font-size: .9375rem; color: var(--ink); background: var(--paper);
         border: 1px solid var(--quiet); border-radius: .5rem; padding: .5rem .875rem; min-height: 2.625rem; cursor: pointer;
         text-decoration: none; }
button:hover, .button:hover { background: var(--accent-soft); }
.primary { color: var(--accent-ink); background: var(--accent); border-color: var(--accent); }
.primary:hover { background: var(--accent); filter: brightness(1.1); }
.danger { color: var(--bad); border-color: var(--bad); }
.danger:hover { background: var(--bad-soft); }
.plain { border: 0; background: none; color: var(--accent); text-decoration: underline; padding: .25rem; min-height: 1.5rem;
         font-weight: 400; font-size: inherit; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: 0 0 1rem; }

.scroll { position: relative; overflow-x: auto; border: 1px solid var(--line); border-radius: .75rem; background: var(--paper); margin: 0 0 1.25rem; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
caption { text-align: left; padding: .75rem 1rem; font-weight: 600; }
th, td { text-align: left; padding: .5rem 1rem; vertical-align: middle; }
th { font-weight: 600; }
thead th { color: var(--quiet); font-size: .8125rem; }
tbody tr > *, tfoot tr > * { border-top: 1px solid var(--line); }
tfoot { font-weight: 600; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td bdi, th bdi, td code { overflow-wrap: anywhere; }
@media (min-width: 40.01rem) { .rows td code { white-space: nowrap; } }
.rows .inline { flex-wrap: nowrap; }
.number bdi { display: inline-block; max-width: 12rem; white-space: normal; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.empty { padding: 2rem 1.25rem; text-align: center; color: var(--quiet); border: 1px dashed var(--line); border-radius: .75rem;
         margin: 0 0 1.25rem; }
.empty strong { display: block; color: var(--ink); font-size: 1.0625rem; }
.pages { display: flex; gap: 1rem; }

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

.chart svg { display: block; width: 100%; max-width: 52rem; height: auto; }
.chart text { fill: var(--quiet); font: 12px var(--sans); }
.chart line { stroke: var(--line); }
.chart rect { stroke: var(--paper); stroke-width: 1; }
.s0 { fill: var(--s0); } .s1 { fill: var(--s1); } .s2 { fill: var(--s2); }
.s3 { fill: var(--s3); } .s4 { fill: var(--s4); } .s5 { fill: var(--s5); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0 0 .75rem; padding: 0; font-size: .875rem; }
.legend svg { width: .75rem; height: .75rem; vertical-align: -.0625rem; margin-right: .375rem; display: inline; }
.legend bdi { overflow-wrap: anywhere; }
footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem 2rem; color: var(--quiet); font-size: .875rem; }
@media (max-width: 40rem) {
  main { padding-top: 1.25rem; }
  .hero h1 { font-size: 2rem; }
  .chart text { font-size: 22px; }
  .chart .minor { display: none; }
  .rows .inline { flex-wrap: wrap; justify-content: flex-end; }
  table.rows thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table.rows, table.rows tbody, table.rows tr, table.rows td, table.rows th, table.rows caption { display: block; }
  table.rows tr { padding: .625rem 0; border-top: 1px solid var(--line); }
  table.rows td, table.rows tbody th { border: 0; padding: .125rem 1rem; display: flex; justify-content: space-between; gap: 1rem;
    text-align: right; white-space: normal; }
  table.rows td::before, table.rows tbody th::before { content: attr(data-label); color: var(--quiet); font-weight: 400; flex: none;
    text-align: left; }
}
@media (min-width: 120rem) { main, .top > div, footer { max-width: 90rem; } }
@media print { .top, footer, button, .button, .filters, .pages, .actions { display: none; } main { padding: 0; max-width: none; } }
@media (prefers-reduced-motion: no-preference) { a, button { transition: background-color .12s; } }
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4c3fd1"/><path d="M7 12h18v10a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2z" fill="#fff"/><path d="M9 8h14a2 2 0 0 1 2 2H7a2 2 0 0 1 2-2z" fill="#c9c4ff"/></svg>`;
