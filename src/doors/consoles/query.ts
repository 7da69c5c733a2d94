/** Queries of pages with filters. An empty field of a form is one that was left out. */
import { ACTION_LENGTH_MAX, isAction } from '../../base/audit/audit-entry.ts';
import { invalidField } from '../../base/failure.ts';
import type { Form } from '../http/form.ts';
import { type OpenPeriod, parseTime, refuseReversed } from '../http/period.ts';
import { parseChoice } from './fields.ts';
import { readFields } from './read-fields.ts';

/** Fails with `invalid_request` for a text that is too long. */
export function textOf(query: Form, name: string, lengthMax: number): string | undefined {
  const text = query.get(name)?.trim();
  if (text === undefined || text === '') return undefined;
  if ([...text].length > lengthMax) throw invalidField(name, `must have at most ${lengthMax} characters`);
  return text;
}

/** The field `action`: as it is written in an entry of the audit trail, or with spaces. Fails with `invalid_request`. */
export function actionOf(query: Form): string | undefined {
  const action = textOf(query, 'action', ACTION_LENGTH_MAX)?.toLowerCase().replaceAll(' ', '_');
  if (action !== undefined && !isAction(action))
    throw invalidField('action', 'must be words of letters, such as key created');
  return action;
}

/** `undefined`: there is none. Fails with `invalid_request` for what is none of `choices`. */
export function choiceOf<T extends string>(query: Form, name: string, choices: readonly T[]): T | undefined {
  const text = query.get(name);
  return text ? parseChoice(name, text, choices) : undefined;
}

const TIME_LENGTH_MAX = 40;

/** The fields `from` and `to`. Fails with `invalid_request`. */
export function periodOf(query: Form): OpenPeriod {
  const time = (name: string) => () => parseTime(name, textOf(query, name, TIME_LENGTH_MAX));
  return readFields(
    { from: time('from'), to: time('to') },
    { from: ({ from, to }) => refuseReversed(from, to) },
  );
}

/** The fields of `names` that are there, and `more`, as the query of a link. */
export function queryOf(
  query: Form,
  names: readonly string[],
  more: Readonly<Record<string, string>> = {},
): string {
  const kept = names.flatMap((name) => {
    const text = query.get(name)?.trim() ?? '';
    return text === '' ? [] : [[name, text] as [string, string]];
  });
  const all = new URLSearchParams([...kept, ...Object.entries(more)]).toString();
  return all === '' ? '' : `?${all}`;
}
