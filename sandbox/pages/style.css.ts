/** The one stylesheet of the pages. */
import { TOKENS } from '@boxoffice/pages/tokens.css';

export const STYLE = `${TOKENS}
body {
  margin: 0;
  min-height: 100vh;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 var(--sans);
}
main { max-width: 34rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
.wide main { max-width: 64rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 0.5rem; }
h2 { font-size: 1.125rem; margin: 2.5rem 0 0.75rem; }
p { margin: 0 0 1rem; }
a { color: var(--accent); text-underline-offset: 0.15em; }
code { font: 0.875em var(--mono); overflow-wrap: anywhere; }
.hint { color: var(--quiet); font-size: 0.875rem; }
.banner {
  margin: 0;
  padding: 0.5rem 1.25rem;
  background: var(--warn-soft);
  color: var(--warn);
  font-size: 0.875rem;
  text-align: center;
}
.alert, .note { padding: 0.75rem 1rem; border-radius: 0.5rem; border: 1px solid; }
.alert { background: var(--bad-soft); color: var(--bad); border-color: var(--bad); }
.note { background: var(--accent-soft); border-color: var(--accent); }
.merchant { font-weight: 600; color: var(--quiet); margin-bottom: 0.75rem; }

.columns { display: grid; gap: 2.5rem; max-width: 64rem; }
.amount { display: block; font-size: 2.5rem; letter-spacing: -0.02em; }
h1 .hint { display: block; font-size: 1rem; font-weight: 500; }
.items { list-style: none; margin: 1.5rem 0 0; padding: 0; border-top: 1px solid var(--line); }
.items li { display: flex; justify-content: space-between; gap: 1rem; padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
.item-name { overflow-wrap: anywhere; }
.item-name .hint { display: block; }
.item-amount, .money, .number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.payment, .card, .panel {
  background: var(--paper);
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  padding: 1.5rem;
}
.card { margin: 3rem auto; padding: 2rem; }
.cancel { margin: 1.25rem 0 0; text-align: center; }
@media (min-width: 52rem) {
  .columns { grid-template-columns: minmax(0, 5fr) minmax(0, 6fr); align-items: start; padding-top: 4rem; }
  .summary { position: sticky; top: 2rem; }
}

fieldset { border: 0; margin: 0 0 1.25rem; padding: 0; min-width: 0; }
legend, label { font-weight: 600; }
legend { padding: 0; margin-bottom: 0.5rem; }
label .hint { font-weight: 400; }
.field { margin: 0 0 1.25rem; }
.field label { display: block; margin-bottom: 0.25rem; }
.field .hint { font-weight: 400; }
input:not([type='radio']), select {
  font: inherit;
  color: inherit;
  background: var(--paper);
  border: 1px solid var(--quiet);
  border-radius: 0.5rem;
  padding: 0.625rem 0.75rem;
}
.field input, .field select { width: 100%; }
::placeholder { color: var(--quiet); opacity: 1; }
.choices { border: 1px solid var(--line); border-radius: 0.5rem; overflow: hidden; }
.choice {
  display: grid;
  grid-template-columns: auto 1fr auto;
  align-items: center;
  gap: 0 0.75rem;
  padding: 0.75rem 1rem;
  font-weight: 400;
  cursor: pointer;
}
.choice + .choice { border-top: 1px solid var(--line); }
.choice:hover, .choice:has(:checked) { background: var(--accent-soft); }
.choice:has(:focus-visible) { outline: 3px solid var(--focus); outline-offset: -3px; }
.choice input { width: 1.125rem; height: 1.125rem; margin: 0; accent-color: var(--accent); outline: 0; }
.choice-card { color: var(--quiet); font-size: 0.875rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
details summary { cursor: pointer; padding: 0.75rem 0.25rem; color: var(--accent); font-weight: 600; }
.panel summary { padding: 0; }
.panel[open] summary { margin-bottom: 1.25rem; }
.panel { margin-top: 1rem; max-width: 36rem; }

button {
  font: inherit;
  font-weight: 600;
  font-size: 0.9375rem;
  color: var(--ink);
  background: var(--paper);
  border: 1px solid var(--quiet);
  border-radius: 0.5rem;
  padding: 0.5rem 0.875rem;
  cursor: pointer;
}
button:hover { background: var(--accent-soft); }
button.danger { color: var(--bad); border-color: var(--bad); }
button.danger:hover { background: var(--bad-soft); }
button.primary { color: var(--accent-ink); background: var(--accent); border-color: var(--accent); }
button.primary:hover { filter: brightness(1.1); }
form > button.primary { width: 100%; padding: 0.8125rem 1rem; font-size: 1.0625rem; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; margin: 0; }
.card .actions { flex-direction: column; align-items: stretch; margin-top: 1.5rem; }
.card .actions button { padding: 0.8125rem 1rem; font-size: 1.0625rem; }
.inline { display: inline-flex; align-items: center; gap: 0.5rem; font-weight: 400; font-size: 0.9375rem; }
.inline input { padding: 0.4375rem 0.625rem; width: 6.5rem; }

.rows { list-style: none; margin: 0; padding: 0; background: var(--paper); border: 1px solid var(--line); border-radius: 0.75rem; }
.row { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 0.75rem 1.5rem; padding: 1rem 1.25rem; }
.row + .row { border-top: 1px solid var(--line); }
.row-main { flex: 1 1 20rem; min-width: 0; }
.row-main > .hint { display: block; overflow-wrap: anywhere; }
.rows .row-main > strong + .hint { display: inline; white-space: nowrap; }
.compact .row { padding: 0.625rem 1.25rem; }
.compact button { padding: 0.3125rem 0.75rem; font-size: 0.875rem; }
.sub { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; margin-top: 0.75rem; padding-left: 0.875rem; border-left: 3px solid var(--line); }
.empty { color: var(--quiet); }
.badge {
  display: inline-block;
  padding: 0.0625rem 0.5rem;
  border-radius: 1rem;
  background: var(--accent-soft);
  color: var(--ink);
  font-size: 0.8125rem;
  white-space: nowrap;
}
.badge.succeeded, .badge.delivered, .badge.sent, .badge.won { background: var(--good-soft); color: var(--good); }
.badge.failed, .badge.lost, .badge.requires_payment_method, .badge.dropped { background: var(--bad-soft); color: var(--bad); }
.badge.pending, .badge.waiting, .badge.suppressed, .badge.processing, .badge.requires_action, .badge.held, .badge.needs_response, .badge.disputed { background: var(--warn-soft); color: var(--warn); }

.mail { width: 100%; height: 40rem; border: 1px solid var(--line); border-radius: 0.75rem; background: var(--paper); }
pre { margin: 0; padding: 1.25rem; overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: 0.75rem; font: 0.875rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
header h1, header .hint { overflow-wrap: anywhere; }
.row-main > a { font-weight: 600; overflow-wrap: anywhere; }

table { width: 100%; border-collapse: separate; border-spacing: 0; background: var(--paper); border: 1px solid var(--line); border-radius: 0.75rem; font-size: 0.9375rem; }
th, td { text-align: left; padding: 0.625rem 1rem; vertical-align: middle; }
th { color: var(--quiet); font-size: 0.8125rem; font-weight: 600; }
td { border-top: 1px solid var(--line); }
th.number, td.number { text-align: right; }
@media (max-width: 44rem) {
  .card { margin: 1rem auto; padding: 1.5rem; border-radius: 0.75rem; width: calc(100% - 2rem); }
  .payment { padding: 1.25rem; }
  .choice { grid-template-columns: auto 1fr; }
  .choice-card { grid-column: 2; }
  .amount { font-size: 2.125rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, td { display: block; }
  tr + tr { border-top: 1px solid var(--line); }
  tr { padding: 0.75rem 1rem; }
  td, td.number { border: 0; padding: 0.1875rem 0; display: flex; justify-content: space-between; gap: 1rem; text-align: right; white-space: normal; }
  td::before { content: attr(data-label); color: var(--quiet); flex: none; }
}
`;

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4c3fd1"/><path d="M7 12h18v10a2 2 0 0 1-2 2H9a2 2 0 0 1-2-2z" fill="#fff"/><path d="M9 8h14a2 2 0 0 1 2 2H7a2 2 0 0 1 2-2z" fill="#c9c4ff"/></svg>`;
