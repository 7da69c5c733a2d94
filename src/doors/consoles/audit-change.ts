/** What an entry of the audit trail changed, as both consoles show it. */
import { type Html, html } from '@boxoffice/pages/html';
import type { AuditEntry } from '../../base/audit/audit-entry.ts';
import { MODERATION_WORDS } from '../../control/moderation/moderation-event.ts';
import { CONDITION_WORDS, WATCHDOG_ACTION_WORDS } from '../../control/watchdogs/watchdog.ts';
import { describeThreshold, exact, named, timeOf, timeOfMs } from './components.ts';

const VALUE_LENGTH_MAX = 300;
const MICROS = /_micros$/;
const DURATION = /_ms$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*(?:Z|\+00:00)$/;

/** What people read instead of values, by the name of the field. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  condition: CONDITION_WORDS,
  action: { ...WATCHDOG_ACTION_WORDS, ...MODERATION_WORDS },
};

/** Fields of which an empty value means everything, by the beginning of the action. */
const UNLIMITED: readonly { readonly actions: string; readonly name: string; readonly words: string }[] = [
  { actions: 'device_credential_', name: 'rooms', words: 'every room' },
  { actions: 'webhook_', name: 'types', words: 'all events' },
  { actions: 'webhook_', name: 'rooms', words: 'every room, and none' },
];

/** What each field was and is. What is nothing on one side is left out there. */
export function renderChange({
  action,
  before,
  after,
}: Pick<AuditEntry, 'action' | 'before' | 'after'>): Html {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (names.length === 0) return html``;
  return html`<div class="changes">${names.map((name) => {
    const [was, is] = [before, after].map((fields) => fieldOf(action, fields, name));
    return html`<div>${named(name.replace(MICROS, '').replace(DURATION, '').replaceAll('_', ' '))}: ${
      was !== null && html`<del>${shown(name, was)}</del> `
    }${is !== null ? html`<ins>${shown(name, is)}</ins>` : (was === null || after) && html`<ins>none</ins>`}</div>`;
  })}</div>`;
}

function fieldOf(action: string, fields: AuditEntry['before'], name: string): unknown {
  const value = fields?.[name] ?? null;
  const isThere = fields !== null && name in fields;
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  if (!isThere || !isEmpty) return value;
  const found = UNLIMITED.find((each) => each.name === name && action.startsWith(each.actions));
  return found ? found.words : value;
}

/** A threshold of alerts, as entries have it. */
interface ShownThreshold {
  readonly below_micros?: number;
  readonly below_hours?: number;
}

/** `$5.00 of credit, 24 hours of usage`. */
function thresholdsText(thresholds: readonly ShownThreshold[]): string {
  const texts = thresholds.map(({ below_micros: micros, below_hours: hours = 0 }) =>
    describeThreshold(
      micros === undefined
        ? { kind: 'runway', below: BigInt(hours) }
        : { kind: 'balance', below: BigInt(micros) },
    ),
  );
  return texts.length === 0 ? 'none' : texts.join(', ');
}

function shown(name: string, value: unknown): Html {
  if (name === 'thresholds' && Array.isArray(value)) return html`${thresholdsText(value)}`;
  if (DURATION.test(name) && typeof value === 'number') return html`${timeOfMs(value)}`;
  if (typeof value === 'string' && TIME.test(value)) return timeOf(new Date(value));
  const words = typeof value === 'string' ? WORDS[name]?.[value] : undefined;
  if (words !== undefined) return html`${words}`;
  if (MICROS.test(name) && typeof value === 'number') return html`${exact(BigInt(value))}`;
  if (typeof value === 'boolean') return html`${value ? 'yes' : 'no'}`;
  const isList = Array.isArray(value) && value.every((each) => typeof each !== 'object');
  const text = typeof value === 'string' ? value : isList ? value.join(', ') : JSON.stringify(value);
  return named(text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX).toWellFormed()}…` : text);
}
