/** `/console/ledger`: every entry, with filters, also as CSV; `/console/charge`: how one charge came about. */
import { type Html, html } from '@boxoffice/pages/html';
import { notFound } from '../../../base/failure.ts';
import { findSessionOf, type SessionOfRecord } from '../../../control/sessions/find-session-of.ts';
import { LATE_HOURS_MAX } from '../../../control/sessions/match-session.ts';
import { entryOf, filterEntries } from '../../../money/ledger/list-entries.ts';
import { RECORD_TEXT_MAX } from '../../../money/ledger/posting.ts';
import { ROLE_WORDS, TIER_WORDS } from '../../../money/pricing/role.ts';
import { explainCharge } from '../../../money/usage/explain-charge.ts';
import type { ListedRecord } from '../../../money/usage/list-records.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { emptyState, exact, named, scrolling, timeOf } from '../../consoles/components.ts';
import { separatorOf } from '../../consoles/csv-links.ts';
import { parseEntryQuery, showEntries } from '../../consoles/ledger-list.ts';
import { textOf } from '../../consoles/query.ts';
import { streamItems } from '../../http/item-stream.ts';
import { ENTRY_COLUMNS, ledgerStream } from '../../http/ledger-stream.ts';
import type { SessionCall } from '../route.ts';

export async function showLedger({ deps, session, query }: SessionCall): Promise<Answer> {
  return showEntries(
    { db: deps.db, tenant: session.tenant, query },
    {
      path: '/console/ledger',
      paymentsPath: '/console/payments',
      csvPath: '/console/ledger.csv',
      chargePath: '/console/charge',
      empty: emptyState(
        'The ledger is empty.',
        'Its first entry is your first payment. The sum of all entries is your balance.',
      ),
    },
  );
}

/** Every entry that the filters let through, however many there are. */
export async function sendLedger({ deps, session, query }: SessionCall): Promise<Answer> {
  const asked = parseEntryQuery(query);
  const filter = await deps.calls.run(session, () => filterEntries(deps.db, session.tenant, asked));
  const stream = ledgerStream(deps.db, session.tenant, filter, entryOf);
  const chunks = await streamItems(deps, stream, {
    caller: session,
    columns: ENTRY_COLUMNS,
    type: 'text/csv',
    separator: separatorOf(query),
  });
  return { kind: 'download', type: 'text/csv; charset=utf-8', chunks, saveAs: 'ledger.csv' };
}

export async function showCharge({ deps, session, query }: SessionCall): Promise<Answer> {
  const id = textOf(query, 'id', RECORD_TEXT_MAX);
  const found = id === undefined ? undefined : await explainCharge(deps, session.tenant, id);
  if (!found) throw notFound('usage record');
  const { record, explanation: how, posting } = found;
  const ofSession = await findSessionOf(deps.db, session.tenant, record);
  const line = (name: string, value: Html | string | number) =>
    html`<tr><th scope="row">${name}</th><td class="number">${value}</td></tr>`;
  const body = html`<h1>How this charge came about</h1>
<p>Record <code>${record.id}</code>${record.room !== null && html` in the room ${named(record.room)}`}${
    record.participant !== null && html`, participant ${named(record.participant)}`
  }, charged ${timeOf(posting.at)}.</p>
<p>${renderSession(record, ofSession)}</p>
${scrolling(
  'The calculation',
  html`<table><caption>The calculation</caption><tbody>
${line('Sent', `${how.egressGib} GiB`)}
${line('Platform fee for a GiB', exact(how.platformFeePerGib))}
${line('Fee, in micro-dollars', how.fee.decimal)}
${line(`Time as ${ROLE_WORDS[record.role]} in ${TIER_WORDS[record.tier]}`, `${how.minutes} minutes`)}
${line('Ceiling for 1,000 minutes', exact(how.ceilingPer1000Minutes))}
${line('Ceiling, in micro-dollars', how.ceiling.decimal)}
${line(how.capped ? 'Price: the ceiling, which is smaller' : 'Price: the fee, which is smaller', how.price.decimal)}
${line('Fraction that earlier charges left over', how.carryBefore.decimal)}
${line('Fraction that is left for the next charge', how.carryAfter.decimal)}
${line('Charged', exact(record.amount))}</tbody></table>`,
  'slim',
)}
<p class="hint">Rate card ${how.rateVersion}, pricing rule ${how.ruleVersion}. <a href="/console/ledger">Back to the ledger</a></p>`;
  return page({ title: 'A charge', body });
}

/** Which session the record belongs to, or why it belongs to none. */
function renderSession({ room, participant }: ListedRecord, of: SessionOfRecord): Html {
  if ('id' in of)
    return html`It belongs to <a href="/console/room-sessions/${of.id}">a session of ${named(participant!)}</a>.`;
  if (of.without === 'not assigned yet')
    return html`It is added to its <a href="/console/room-sessions">session</a> within seconds.`;
  const none = html`It belongs to no <a href="/console/room-sessions">session</a>`;
  if (of.without === 'no participant') return html`${none}, as it names no participant in a room.`;
  return html`${none}: ${named(participant!)} has not entered ${named(room!)} with a token, or left more than ${LATE_HOURS_MAX} hours before.`;
}
