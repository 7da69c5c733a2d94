/** `/console/keys/:id`: one API key, and how often it was used, hour by hour. */
import { html } from '@boxoffice/pages/html';
import { getLastUses } from '../../../access/keys/get-last-uses.ts';
import { KEY_USE_DAYS } from '../../../access/keys/key-use.ts';
import { listKeyUses } from '../../../access/keys/list-key-uses.ts';
import { timeText } from '../../../base/lib/short-time.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import { grouped, named, timeOf } from '../../consoles/components.ts';
import { facts, table } from '../../consoles/table.ts';
import type { SessionCall } from '../route.ts';
import { COUNTS, renderSmallChart } from './chart.ts';
import { findListed, stateOf } from './keys.ts';

const HOUR_MS = 3_600_000;

export async function showKey(call: SessionCall): Promise<Answer> {
  const { deps, session } = call;
  const key = await findListed(call);
  const last = (await getLastUses(deps.db, session.tenant, 'key', [key])).get(key.id);
  const used = new Map(
    (await listKeyUses(deps.db, session.tenant, key.id)).map(({ hour, uses }) => [hour.getTime(), uses]),
  );
  const now = Math.floor(Date.now() / HOUR_MS);
  const hours = Array.from(
    { length: KEY_USE_DAYS * 24 },
    (_, at) => (now - KEY_USE_DAYS * 24 + 1 + at) * HOUR_MS,
  );
  const rows = hours.toReversed().filter((hour) => used.has(hour));
  const body = html`<p><a href="/console/keys">All keys</a></p><h1>Key “${named(key.name)}”</h1>
<section class="card">${facts('Key', {
    Kind: key.kind,
    State: stateOf(key),
    Created: timeOf(key.createdAt),
    'Last used': last ? timeOf(last.at) : 'never',
    'From the address': last?.address && html`<code>${last.address}</code>`,
    Id: html`<code>${key.id}</code>`,
  })}</section>
<h2>Uses by hour</h2>
${renderSmallChart({
  label: `Uses by hour, ${KEY_USE_DAYS} days`,
  bars: hours.map(hourText),
  amounts: hours.map((hour) => used.get(hour) ?? 0n),
  measure: COUNTS,
})}
${table(
  'Hours in which it was used',
  ['Hour (UTC)', 'Uses'],
  rows.map((hour) => [timeText(new Date(hour)), grouped(String(used.get(hour)))]),
  { numbers: ['Uses'], names: 'Hour (UTC)', look: 'sums' },
)}
<p class="hint">Each request that carries the key counts, whatever its answer. A use is here within a minute.</p>`;
  return page({ title: 'Key', body });
}

const hourText = (hour: number) => new Date(hour).toISOString().slice(0, 16).replace('T', ' ');
