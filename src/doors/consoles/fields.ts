/** Fields of forms that several pages have. */
import { invalidField } from '../../base/failure.ts';
import { microsOfDollars } from '../../money/amount.ts';
import type { Form } from '../http/form.ts';
import { orWrong } from './read-fields.ts';

/** What is wrong with an address that `parseMemberEmail()` does not take. */
export const WRONG_EMAIL = 'Give an e-mail address, such as you@example.com.';

/** One of the choices that a form offers. Fails with `invalid_request`. */
export function parseChoice<T extends string>(
  name: string,
  text: string | undefined,
  choices: readonly T[],
): T {
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw invalidField(name, `must be one of ${choices.join(', ')}`);
  return choice;
}

/** `least` is 0 or more, and `most` has 6 digits at most. Fails with `invalid_request`. */
export function parseWhole(text: string, least: number, most: number): number {
  const number = /^(?:0|[1-9][0-9]{0,5})$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  return orWrong(
    number >= least && number <= most && number,
    `Must be a whole number from ${least} to ${most}.`,
  );
}

/** The word that must be typed to confirm. Fails with `invalid_request`. */
export function parseConfirm(form: Form, word: string): void {
  orWrong(form.get('confirm')?.trim() === word, `Type ${word}, and nothing else.`);
}

/** The id that `formId()` gave the form. Fails with `invalid_request`. */
export function parseFormId(form: Form): string {
  const id = form.get('form') ?? '';
  if (!/^[0-9a-f-]{36}$/.test(id)) throw invalidField('form', 'must be that of a page of the console');
  return id;
}

/** The path of a page of the console; the overview for anything else. */
export function parseNext(text: string | undefined): string {
  return text !== undefined && /^\/console(?:[/?][\w./?=&%+:-]*)?$/.test(text) && !/\/\/|\.\./.test(text)
    ? text
    : '/console';
}

/** `12` or `12.345678` dollars in micros. Fails with `invalid_request`. */
export function parseMicros(name: string, text: string): bigint {
  const [, dollars] = /^\$?(\d{1,9}(?:\.\d{1,6})?)$/.exec(text.trim()) ?? [];
  if (dollars === undefined) throw invalidField(name, 'must be an amount in dollars, such as 20 or 20.50');
  return microsOfDollars(dollars);
}

/** `12` or `12.50` in cents. Fails with `invalid_request`. */
export function parseDollars(name: string, text: string | undefined): number {
  const [, whole, cents = ''] = /^\$?(\d{1,9})(?:\.(\d{1,2}))?$/.exec((text ?? '').trim()) ?? [];
  if (whole === undefined) throw invalidField(name, 'must be an amount in dollars, such as 20 or 20.50');
  return Number(whole) * 100 + Number(cents.padEnd(2, '0'));
}
