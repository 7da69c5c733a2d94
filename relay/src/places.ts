/** The sessions that the relay takes, and the share that one device, address or credential may have of them. */
import { networkOf, readAddress } from '../../sdk/typescript/src/relay/address.ts';
import type { Admission } from '../../sdk/typescript/src/relay/index.ts';
import { Refused } from './refused.ts';

export interface Shares {
  /** All together. */
  readonly sessions: number;
  readonly deviceSessions: number;
  /** Those of one client address; IPv6: of a /64. */
  readonly addressSessions: number;
  /** Those with tokens of one device credential or API key. */
  readonly credentialSessions: number;
}

export interface Guest {
  readonly admission: Pick<Admission, 'deviceThumbprint' | 'mintedBy'>;
  readonly address: string;
}

/** A session. It has connected once its certificate is that of its proof. */
export interface Place extends Guest {
  readonly hasConnected: boolean;
  end(code: string): void;
}

/**
 * Makes room for one session more beside `places`, the oldest first. Where a share is full, its oldest session that has not
 * connected ends: to ask for one costs a client nothing. Where all of a share have connected, it fails with 503 or 429.
 */
export function makeRoom(places: readonly Place[], newcomer: Guest, shares: Shares): void {
  const full = () => new Refused(503, 'FULL', 'the relay has as many sessions as it takes');
  const tooMany = (what: string) => () =>
    new Refused(429, 'TOO_MANY_SESSIONS', `the ${what} has as many sessions as it may have`);
  const { deviceThumbprint, mintedBy } = newcomer.admission;
  const site = siteOf(newcomer.address);
  const rules: readonly [number, (each: Guest) => boolean, () => Refused][] = [
    [
      shares.deviceSessions,
      ({ admission }) => admission.deviceThumbprint === deviceThumbprint,
      tooMany('device'),
    ],
    [shares.addressSessions, ({ address }) => siteOf(address) === site, tooMany('address')],
    [shares.credentialSessions, ({ admission }) => admission.mintedBy === mintedBy, tooMany('credential')],
    [shares.sessions, () => true, full],
  ];
  const ending = new Set<Place>();
  for (const [share, isOfShare, refused] of rules) {
    const taken = places.filter((each) => isOfShare(each) && !ending.has(each));
    if (taken.length < share) continue;
    const oldest = taken.find(({ hasConnected }) => !hasConnected);
    if (!oldest) throw refused();
    ending.add(oldest);
  }
  for (const each of ending) each.end('NETWORK');
}

/** The owner of an IPv6 address has all of its /64. */
export function siteOf(address: string): string | undefined {
  const bytes = readAddress(address);
  return bytes && networkOf(bytes, bytes.length === 4 ? 32 : 64);
}
