/** Reads what the event of a mail says, as texts for people. What an event does not say is left out of the mail. */
import { timeText } from '../../base/lib/short-time.ts';
import { displayCents, displayMicros, MICROS_PER_CENT } from '../../money/amount.ts';
import { cleanText } from './mail-text.ts';

export class EventFacts {
  readonly #subject: Readonly<Record<string, unknown>>;

  constructor(subject: unknown) {
    this.#subject = typeof subject === 'object' && subject !== null ? { ...subject } : {};
  }

  /** Any text; one that is not empty. */
  text(name: string, lengthMax?: number): string | undefined {
    const value = this.#subject[name];
    return typeof value === 'string' && value !== '' ? cleanText(value, lengthMax) : undefined;
  }

  number(name: string): string | undefined {
    const value = this.#subject[name];
    return typeof value === 'number'
      ? value.toLocaleString('en-US', { maximumFractionDigits: 1 })
      : undefined;
  }

  /** Dollars and cents: `$4.99`. */
  dollars(name: string): string | undefined {
    const micros = this.#micros(name);
    return micros === undefined ? undefined : displayCents(micros);
  }

  /** Dollars and cents, and the exact amount if it has fractions of a cent: `$4.99 (exactly $4.991234)`. */
  exactDollars(name: string): string | undefined {
    const micros = this.#micros(name);
    if (micros === undefined || micros % MICROS_PER_CENT === 0n) return this.dollars(name);
    return `${displayCents(micros)} (exactly ${displayMicros(micros)})`;
  }

  /** `22 Nov 2026, 18:00 UTC`. */
  time(name: string): string | undefined {
    const value = this.#subject[name];
    const time = typeof value === 'string' ? new Date(value) : undefined;
    return time && !Number.isNaN(time.getTime()) ? renderTime(time) : undefined;
  }

  texts(name: string): readonly string[] {
    const value = this.#subject[name];
    return Array.isArray(value)
      ? value.filter((each) => typeof each === 'string').map((each) => cleanText(each))
      : [];
  }

  is(name: string): boolean {
    return this.#subject[name] === true;
  }

  /** An amount is a decimal string of micros. */
  #micros(name: string): bigint | undefined {
    const value = this.#subject[name];
    return typeof value === 'string' && /^-?\d{1,25}$/.test(value) ? BigInt(value) : undefined;
  }
}

/** `22 Nov 2026, 18:00 UTC`. */
export function renderTime(time: Date): string {
  return `${timeText(time)} UTC`;
}
