/** Parsers for command arguments. A value that is not understood ends the command with exit code 2. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { REASON_MAX } from '../../base/audit/reason.ts';
import { parseLine } from '../../base/lib/one-line.ts';
import { readTime } from '../../base/lib/time-text.ts';
import { parseTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { parseSignedDollars } from '../../money/amount.ts';

export function tenantArgument(): Argument {
  return new Argument('<id>', 'the tenant, as t_ and 16 hex digits').argParser(parseTenant);
}

/** `text` says who reads it. */
export function reasonOption(text = 'why, for readers of the audit trail'): Option {
  return new Option('--reason <text>', text).argParser(parseReason).makeOptionMandatory();
}

/** The option of a change of the status. */
export function toldOption(): Option {
  return new Option('--tell <text>', 'what the people of the tenant read about it').argParser(parseReason);
}

export function limitOption(fallback: number): Option {
  return new Option('--limit <n>', 'how many at most').argParser(parseNumber).default(fallback);
}

/** The same answer as JSON. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON');
}

export interface JsonOption {
  readonly json?: boolean;
}

export function parseTenant(text: string): TenantId {
  return parsed(parseTenantId(text), 'It must be t_ and 16 hex digits.');
}

/** Decimal dollars, such as `12.50` or `-3`, in micros. Not zero. */
export function parseDollars(text: string): bigint {
  return parsed(
    parseSignedDollars(text),
    'It must be dollars other than 0, such as 12.50 or -3, with 6 decimals at most.',
  );
}

export function parseReason(text: string): string {
  return parseText(text, REASON_MAX);
}

/** `max`: in characters. */
export function parseText(text: string, max: number): string {
  return parsed(parseLine(text, max), `It must be a line of 1 to ${max} characters.`);
}

/** `wrong`: what is said of a text that could not be read. */
export function parsed<T>(value: T | undefined, wrong: string): T {
  if (value === undefined) throw new InvalidArgumentError(wrong);
  return value;
}

/** A day, which begins at 0:00 UTC, or a time with its offset. */
export function parseTime(text: string): Date {
  return parsed(
    readTime(text, /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/),
    'It must be a day or a time, such as 2026-11-01 or 2026-11-01T06:30:00Z.',
  );
}

/** From 1 to 999999. */
export function parseNumber(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 999999.');
  return Number(text);
}

/** Makes a parser of whole numbers with four digits at most. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    if (!/^[0-9]{1,4}$/.test(text) || Number(text) < min || Number(text) > max) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return Number(text);
  };
}
