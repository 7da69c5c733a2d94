/** What is known about uses of API keys and device credentials. */

/** What was used. */
export type UsedKind = 'key' | 'device';

export interface LastUse {
  readonly at: Date;
  /** `null`: a device, whose address is that of a person, or a use of before addresses were kept. */
  readonly address: string | null;
}

/** How long uses by hour are kept. */
export const KEY_USE_DAYS = 7;

export interface HourOfKey {
  readonly hour: Date;
  readonly uses: bigint;
}
