/**
 * Rules of the feed of revocations: a snapshot holds everything that was answered before it was asked for, so a relay that has it
 * refuses each token that was made void.
 */
import { createHash } from 'node:crypto';
import type { Facts } from '../facts.ts';
import { type Answer, type Entry, endOf, roomIn } from '../journal.ts';
import { withoutRepetitions } from '../repetitions.ts';
import type { Look, Rule } from '../rule.ts';

export const REVOCATION_RULES: readonly Rule[] = [
  { name: 'a snapshot of revocations voids each token that was ended before', check: checkSnapshots },
];

/** A snapshot names what may still be used; the clocks of those who sign and of those who ask are not the same. */
const CLOCKS_APART_US = 60_000_000;

/** A token that something made void. */
export interface Voided {
  readonly token: Entry;
  readonly by: Entry;
  readonly untilUs: number;
  /** What names it in a snapshot (docs/revocations.md): the user, the room, the credential. */
  readonly user: string;
  readonly room: string;
  readonly credential: string;
}

export function hashOf(...texts: readonly string[]): string {
  return createHash('sha256').update(texts.join('\0')).digest().subarray(0, 16).toString('base64url');
}

const succeeded = ({ outcome }: Entry) => outcome === 'ok';
const userOf = ({ args }: Entry) => JSON.stringify([args.tenant, args.room, args.username]);
const roomOf = ({ args }: Entry) => JSON.stringify([args.tenant, args.room]);
const credentialOf = (tenant: string | undefined, id: string | undefined) => JSON.stringify([tenant, id]);

/** Answers that made tokens void, by what they were about. */
function findEndings(facts: Facts): ReadonlyMap<string, readonly Entry[]> {
  const changes = withoutRepetitions(facts.of('kick', 'ban', 'room.end', 'credential.revoke'));
  return Map.groupBy(changes.filter(succeeded), (entry) => {
    if (entry.op === 'room.end') return roomOf(entry);
    return entry.op === 'credential.revoke' ? credentialOf(entry.args.tenant, entry.args.id) : userOf(entry);
  });
}

/** By tenant. */
export function findVoided(facts: Facts): ReadonlyMap<string, readonly Voided[]> {
  const endings = findEndings(facts);
  const all = facts
    .of('join', 'mint')
    .filter(succeeded)
    .flatMap((token): Voided[] => {
      const { tenant, key } = token.args;
      const { rid = '', sub = '', iat = 0, exp = 0 } = token.answer?.claims ?? {};
      const by = [userOf(token), roomOf(token), credentialOf(tenant, key)]
        .flatMap((name) => endings.get(name) ?? [])
        .filter((ended) => ended.invokedUs > endOf(token) && (roomIn(ended).uid ?? rid) === rid)
        .toSorted((a, b) => endOf(a) - endOf(b))[0];
      if (!by) return [];
      const untilUs = token.invokedUs + (exp - iat) * 1_000_000 - CLOCKS_APART_US;
      const names = {
        user: hashOf('epoch', rid, sub),
        room: hashOf('room', rid),
        credential: hashOf('credential', tenant!, key!),
      };
      return [{ token, by, untilUs, ...names }];
    });
  return Map.groupBy(all, ({ token }) => token.args.tenant!);
}

function checkSnapshots(facts: Facts, look: Look): void {
  const voided = findVoided(facts);
  for (const { args, invokedUs, answer } of facts.of('revocations.read').filter(succeeded)) {
    const held = heldBy(answer);
    for (const each of voided.get(args.tenant!) ?? []) {
      if (endOf(each.by) >= invokedUs || each.untilUs <= invokedUs) continue;
      look.at();
      if (!isVoid(each, held)) look.wrong(describe(each));
    }
  }
}

/** The hashes of a snapshot; those of users have their epochs. */
export type Held = ReadonlyMap<string, number>;

export function heldBy(answer: Answer | undefined): Held {
  const ended = [...(answer?.closed ?? []), ...(answer?.credentials ?? [])];
  return new Map([...(answer?.epochs ?? []), ...ended.map((hash) => [hash, 0] as const)]);
}

export function isVoid({ token, user, room, credential }: Voided, held: Held): boolean {
  const { ep = 0 } = token.answer!.claims!;
  return (held.get(user) ?? 0) > ep || held.has(room) || held.has(credential);
}

export function describe({ token: { args }, by }: Voided): string {
  return `a token of ${args.username} in ${args.room} of ${args.tenant} is not void after a ${by.op}`;
}
