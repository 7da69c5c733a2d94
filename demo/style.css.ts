/** The style of the console, and what only the demo has: a stage of tiles. */
import { contentSecurityPolicy } from '@boxoffice/pages/policy';
import { STYLE as CONSOLE_STYLE } from '../src/doors/consoles/assets/style.css.ts';

export const PAGE_POLICY = contentSecurityPolicy({ style: "'self'", script: true });

export const STYLE = `${CONSOLE_STYLE}
[hidden] { display: none !important; }
@media (min-width: 60rem) {
  .hosting { display: grid; grid-template: auto 1fr / 21rem minmax(0, 1fr); gap: 0 1.25rem; align-items: start; }
  .show { grid-column: 2; grid-row: 1 / span 2; }
}
.steps > li { padding-bottom: 1rem; }
.steps > li:last-child { padding-bottom: 0; }
.steps p { margin: 0 0 .75rem; overflow-wrap: anywhere; }
.steps p:last-child { margin-bottom: 0; }
.steps > li:not([aria-current], .is-done) { color: var(--quiet); }
.steps > li.is-done { display: flex; flex-wrap: wrap; gap: 0 .5rem; align-items: baseline; padding-bottom: .625rem; min-height: 2.625rem; }
.steps > li.is-done h2 { margin: .125rem 0; }
.steps > li.is-done p { margin: 0; }
button[aria-pressed=true] { color: var(--warn); background: var(--warn-soft); border-color: var(--warn); }
.steps .field { margin-bottom: .75rem; }
.steps fieldset { margin-bottom: .75rem; }
.tiles { display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); list-style: none;
         margin: 0 0 1.25rem; padding: 0; }
.tile { margin: 0; padding: 0; overflow: hidden; }
.tile .screen { position: relative; aspect-ratio: 16 / 9; background: #10121a; }
.tile video { width: 100%; height: 100%; object-fit: contain; display: block; }
.tile .nothing { position: absolute; inset: 0; margin: 0; padding: 1rem; display: grid; place-items: center; text-align: center;
                 color: #d5d9e4; background: #10121a; }
.tile .about { padding: .875rem 1rem 1rem; }
.tile h3 { margin: 0 0 .5rem; font-size: 1.0625rem; display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center;
           overflow-wrap: anywhere; }
.facts { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 0; font-size: .875rem; }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.tile .actions { margin: .875rem 0 0; }
.tile .actions button { flex: 1 1 auto; padding: .25rem .5rem; font-size: .875rem; }
.with-heading { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; margin: 0 0 .75rem; }
.with-heading h2 { margin: 0; }
.show .hint:last-child { margin-bottom: 0; }
.card .plain-list { font-variant-numeric: tabular-nums; }
.entry { display: flex; justify-content: space-between; gap: 1rem; }
@media (max-width: 40rem) {
  .show .cards { grid-template-columns: 1fr auto; gap: .75rem; }
  .show .card { padding: .75rem 1rem; }
  .show .tile { padding: 0; }
  .show .figure { font-size: 1.25rem; }
}
`;
