/** Rules of relays that keep a stream open: they are told in time, in order, and everything. */
import type { Facts } from '../facts.ts';
import { lateAnswers } from '../faults.ts';
import { type Entry, endOf } from '../journal.ts';
import type { Look, Rule } from '../rule.ts';
import { describe, findVoided, type Held, hashOf, heldBy, isVoid } from './revocations.ts';

export const PUSH_RULES: readonly Rule[] = [
  { name: 'a relay with a stream is told in time of each token that was ended', check: checkTimes },
  { name: 'the numbers that a relay is told never go back', check: checkOrder },
  { name: 'a snapshot and a push hold what was ended up to their number', check: checkNumbers },
];

/** A second is promised where a wake-up got lost (docs/revocations.md); the machine of a campaign has much else to do. */
const TOLD_WITHIN_US = 3_000_000;
const SLOW_US = 1_000_000;
/** Snapshots keep for 16 minutes what ended, by a clock that a fault may have moved. */
const KEPT_US = 840_000_000;

/** What came by one stream, in order. */
interface Stream {
  readonly tenant: string;
  readonly tellings: readonly Entry[];
  readonly endUs: number;
}

function findStreams(facts: Facts): readonly Stream[] {
  const nameOf = ({ client, args }: Entry) => `${client} ${args.stream}`;
  const ends = new Map(facts.of('revocations.follow').map((entry) => [nameOf(entry), endOf(entry)]));
  // One that was open at the end has no entry of its own.
  const lastUs = facts.journal.entries.at(-1)?.invokedUs ?? 0;
  return [...Map.groupBy(facts.of('revocations.told'), nameOf)].map(([name, tellings]) => ({
    tenant: tellings[0]!.args.tenant!,
    tellings,
    endUs: ends.get(name) ?? lastUs,
  }));
}

interface Step {
  readonly entry: Entry;
  /** What the relay holds from then on, until `untilUs`. */
  readonly held: Held;
  readonly untilUs: number;
}

/** Each step ends when the next one is asked for. */
function* replay({ tellings }: Stream): Generator<Step> {
  const held = new Map<string, number>();
  for (const [at, entry] of tellings.entries()) {
    for (const [hash, epoch] of entry.answer?.told ?? []) held.set(hash, epoch);
    for (const hash of entry.answer?.gone ?? []) held.delete(hash);
    yield { entry, held, untilUs: tellings[at + 1]?.invokedUs ?? Number.POSITIVE_INFINITY };
  }
}

/**
 * Faults between services, PostgreSQL and relays, and answers that took long, because what is late with all is no push that is missing;
 * in the order of their beginnings.
 */
function findDisturbances(facts: Facts): readonly (readonly [fromUs: number, untilUs: number])[] {
  const faults = facts
    .of('fault')
    .filter(({ args }) => !/provider|receiver/.test(`${args.name} ${args.detail}`))
    .map((entry) => [entry.args.begunUs ?? entry.invokedUs, endOf(entry)] as const);
  const slow = lateAnswers(facts, SLOW_US).map(
    ({ invokedUs, returnedUs }) => [invokedUs, returnedUs!] as const,
  );
  return [...faults, ...slow].toSorted(([a], [b]) => a - b);
}

/** The first time by which there was no fault for so long as telling may take. */
function dueAfter(answeredUs: number, disturbances: ReturnType<typeof findDisturbances>): number {
  let calmUs = answeredUs;
  for (const [fromUs, untilUs] of disturbances) {
    if (fromUs >= calmUs + TOLD_WITHIN_US) break;
    calmUs = Math.max(calmUs, untilUs);
  }
  return calmUs + TOLD_WITHIN_US;
}

/** Only a relay whose stream had begun before the answer, and went on until it had to be told, is looked at. */
function checkTimes(facts: Facts, look: Look): void {
  const voided = findVoided(facts);
  const disturbances = findDisturbances(facts);
  for (const stream of findStreams(facts)) {
    const begunUs = stream.tellings[0]!.invokedUs;
    const due = (voided.get(stream.tenant) ?? [])
      .filter(({ by }) => endOf(by) > begunUs && endOf(by) < stream.endUs)
      .map((each) => ({ ...each, dueUs: dueAfter(endOf(each.by), disturbances) }))
      .filter(({ dueUs, untilUs }) => dueUs < stream.endUs && dueUs < untilUs)
      .toSorted((a, b) => b.dueUs - a.dueUs);
    for (const { held, untilUs } of replay(stream))
      while (due.length > 0 && due.at(-1)!.dueUs < untilUs) {
        const each = due.pop()!;
        look.at();
        if (!isVoid(each, held)) look.wrong(`${describe(each)}, for a relay with a stream`);
      }
  }
}

/** From one stream to the next one, too: its first snapshot has everything of before. */
function checkOrder(facts: Facts, look: Look): void {
  for (const tellings of Map.groupBy(facts.of('revocations.told'), ({ client }) => client).values()) {
    let newest = 0;
    for (const { args, answer } of tellings) {
      look.at();
      const seq = answer!.seq!;
      if (seq < newest) look.wrong(`${seq} of ${args.tenant} came after ${newest}`);
      newest = Math.max(newest, seq);
    }
  }
}

/** So a push says what a snapshot of its number says, whichever numbers were left out before. */
async function checkNumbers(facts: Facts, look: Look): Promise<void> {
  const endings = await findEndings(facts);
  const streams = Map.groupBy(findStreams(facts), ({ tenant }) => tenant);
  const reads = Map.groupBy(facts.of('revocations.read'), ({ args }) => args.tenant!);
  for (const tenant of facts.tenants) {
    const read = (reads.get(tenant) ?? []).filter(({ outcome }) => outcome === 'ok');
    const followed = streams.get(tenant) ?? [];
    const ended = endings.get(tenant) ?? [];
    const tellings = [...read, ...followed.flatMap(({ tellings }) => tellings)];
    const toldUs = findFirstTold(ended, tellings);
    const compare = (entry: Entry, held: Held) => {
      for (const [at, { seq, hash, what }] of ended.entries()) {
        if (seq > entry.answer!.seq!) break;
        if (endOf(entry) - toldUs[at]! > KEPT_US) continue;
        look.at();
        if (!held.has(hash))
          look.wrong(`${what} of ${tenant} ended by ${seq}, and is not told by ${entry.answer!.seq}`);
      }
    };
    for (const entry of read) compare(entry, heldBy(entry.answer));
    for (const stream of followed) for (const { entry, held } of replay(stream)) compare(entry, held);
  }
}

interface Ending {
  readonly seq: number;
  readonly hash: string;
  readonly what: string;
}

/** Rooms and credentials that ended, by tenant, in the order of the log. */
async function findEndings(facts: Facts): Promise<ReadonlyMap<string, readonly Ending[]>> {
  const all = [...(await facts.logs)].map(([tenant, events]) => {
    const ended = events.flatMap(({ seq, type, roomUid, subject }): Ending[] => {
      if (type === 'room_ended') return [{ seq, hash: hashOf('room', roomUid!), what: roomUid! }];
      if (type !== 'device_credential_revoked') return [];
      const { id } = subject.credential!;
      return [{ seq, hash: hashOf('credential', tenant, id), what: id }];
    });
    return [tenant, ended] as const;
  });
  return new Map(all);
}

/** When each ending was told first. */
function findFirstTold(endings: readonly Ending[], tellings: readonly Entry[]): readonly number[] {
  const times: number[] = [];
  for (const entry of tellings.toSorted((a, b) => endOf(a) - endOf(b)))
    while (times.length < endings.length && endings[times.length]!.seq <= entry.answer!.seq!)
      times.push(endOf(entry));
  return times;
}
