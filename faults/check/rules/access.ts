/**
 * Rules of what ended: a key, a session, a room, a token. What began after the answer that ended it is refused.
 *
 * Only requests that began later count: a request that was under way at that time may go either way.
 */
import { erasuresOf, personOf } from '../erasures.ts';
import type { Facts } from '../facts.ts';
import { faultTimes, lasts } from '../faults.ts';
import { type Entry, endOf, roomIn } from '../journal.ts';
import { acceptsKey, refusesKey } from '../keys.ts';
import { neverPaid } from '../payers.ts';
import { withoutRepetitions } from '../repetitions.ts';
import type { Look, Rule } from '../rule.ts';

export const ACCESS_RULES: readonly Rule[] = [
  { name: 'a revoked key is refused', check: checkRevokedKeys },
  { name: 'a replaced key is refused once its overlap is over', check: checkRetiredKeys },
  { name: 'a key that works is not refused', check: checkWorkingKeys },
  { name: 'a session that ended is refused', check: checkSessions },
  { name: 'a room that ended admits no one', check: checkRooms },
  { name: 'a banned user is not admitted', check: checkBans },
  { name: 'a banned device is not admitted', check: checkDeviceBans },
  { name: 'a tenant that never paid is not admitted', check: checkNeverPaid },
  { name: 'a token from after a kick has a later epoch', check: checkEpochs },
  { name: 'a key is replaced once', check: checkReplacements },
  { name: 'a token says what was asked for', check: checkTokens },
  { name: 'a token is signed, and bound to the device that asked', check: checkBindings },
  { name: 'a tenant reaches nothing of another one', check: checkTrespasses },
];

const MICROS_OF_A_SECOND = 1_000_000;

const succeeded = ({ outcome }: Entry) => outcome === 'ok';
const isAnswered = ({ outcome }: Entry) => outcome !== 'unknown';
const mayHaveHappened = ({ outcome }: Entry) => outcome !== 'refused';

/** Everything that was asked with a key, usage too. */
function requestsByKey(facts: Facts): ReadonlyMap<string | undefined, readonly Entry[]> {
  const all = [...facts.journal.entries, ...facts.journal.reports.map(({ entry }) => entry)];
  return Map.groupBy(
    all.filter(({ args }) => args.key !== undefined),
    ({ args }) => args.key,
  );
}

/** Requests that were accepted though they began after `endedUs`. */
function acceptedAfter(
  requests: readonly Entry[] | undefined,
  endedUs: number,
  look: Look,
): readonly Entry[] {
  const later = (requests ?? []).filter(({ invokedUs }) => invokedUs > endedUs);
  look.at(later.length);
  return later.filter(acceptsKey);
}

const after = (entry: Entry, endedUs: number) => `${entry.op} began ${entry.invokedUs - endedUs} us after it`;

function checkRevokedKeys(facts: Facts, look: Look): void {
  const requests = requestsByKey(facts);
  for (const revoked of facts.of('key.revoke', 'credential.revoke').filter(succeeded)) {
    const { id, tenant } = revoked.args;
    for (const entry of acceptedAfter(requests.get(id), endOf(revoked), look))
      look.wrong(`${id} of ${tenant} was revoked; ${after(entry, endOf(revoked))}`);
  }
}

function checkRetiredKeys(facts: Facts, look: Look): void {
  const requests = requestsByKey(facts);
  const faults = faultTimes(facts);
  for (const rotated of facts.of('key.rotate').filter(succeeded)) {
    const { id, tenant, overlap_seconds = 86_400 } = rotated.args;
    const retiredUs = endOf(rotated) + overlap_seconds * MICROS_OF_A_SECOND;
    for (const entry of acceptedAfter(requests.get(id), retiredUs, look)) {
      const begins = [rotated.invokedUs, endOf(rotated)] as const;
      if (entry.invokedUs > retiredUs + lasts(faults, begins, [entry.invokedUs, endOf(entry)]))
        look.wrong(`${id} of ${tenant} had retired; ${after(entry, retiredUs)}`);
    }
  }
}

/** Keys that are known to be there, and that no request has tried to end. */
function checkWorkingKeys(facts: Facts, look: Look): void {
  const requests = requestsByKey(facts);
  const endings = facts
    .of('key.revoke', 'key.rotate', 'credential.revoke')
    .filter(mayHaveHappened)
    .map((entry) => [entry.args.id, entry.invokedUs] as const);
  const firstEnding = new Map<string | undefined, number>();
  for (const [id, at] of endings) firstEnding.set(id, Math.min(firstEnding.get(id) ?? at, at));
  for (const made of facts.of('key.create', 'key.rotate').filter(succeeded)) {
    const id = made.answer?.key?.id;
    const endsUs = firstEnding.get(id) ?? Number.POSITIVE_INFINITY;
    for (const entry of requests.get(id) ?? []) {
      if (entry.invokedUs < endOf(made) || endOf(entry) >= endsUs) continue;
      look.at();
      if (refusesKey(entry)) look.wrong(`${id} of ${made.args.tenant} works, and ${entry.op} was refused`);
    }
  }
}

function checkSessions(facts: Facts, look: Look): void {
  const uses = Map.groupBy(facts.of('session.use'), ({ args }) => args.session);
  const opened = Map.groupBy(facts.of('session.log_in'), ({ args }) => args.key);
  const endings = [
    ...facts.of('session.log_out').map((entry) => ({ session: entry.args.session, entry })),
    // A session that a key opened ends with the key.
    ...facts
      .of('key.revoke')
      .flatMap((entry) =>
        (opened.get(entry.args.id) ?? []).map(({ args }) => ({ session: args.session, entry })),
      ),
  ].filter(({ entry }) => succeeded(entry));
  for (const { session, entry: ended } of endings) {
    const later = (uses.get(session) ?? []).filter(({ invokedUs }) => invokedUs > endOf(ended));
    look.at(later.length);
    for (const entry of later.filter(succeeded))
      look.wrong(`${session} of ${ended.args.tenant} ended; ${after(entry, endOf(ended))}`);
  }
}

/** Names of rooms and of users belong to a tenant. */
const roomOf = ({ args }: Entry) => JSON.stringify([args.tenant, args.room]);
const userOf = ({ args }: Entry) => JSON.stringify([args.tenant, args.room, args.username]);
const admissionsOf = (facts: Facts) => facts.of('join', 'mint');

/** Whether one of the entries may have taken effect after `fromUs` and before `untilUs`. */
const mayBeBetween = (entries: readonly Entry[] | undefined, fromUs: number, untilUs: number) =>
  (entries ?? []).some(
    (entry) => mayHaveHappened(entry) && endOf(entry) >= fromUs && entry.invokedUs <= untilUs,
  );

/** An attempt without an answer explains nothing once its repetition was answered, and its effect may be from before that. */
const changesOf = (facts: Facts, ...ops: readonly string[]) => withoutRepetitions(facts.of(...ops));

function checkRooms(facts: Facts, look: Look): void {
  const created = Map.groupBy(changesOf(facts, 'room.create'), roomOf);
  const admissions = Map.groupBy(admissionsOf(facts).filter(isAnswered), roomOf);
  for (const ended of changesOf(facts, 'room.end').filter(succeeded)) {
    const { tenant, room } = ended.args;
    for (const entry of admissions.get(roomOf(ended)) ?? []) {
      if (entry.invokedUs <= endOf(ended)) continue;
      look.at();
      if (!succeeded(entry)) continue;
      const { uid } = roomIn(ended);
      const isSameRoom = uid !== undefined && entry.answer?.claims?.rid === uid;
      if (isSameRoom || !mayBeBetween(created.get(roomOf(ended)), ended.invokedUs, endOf(entry)))
        look.wrong(`${room} of ${tenant} ended; ${after(entry, endOf(ended))}`);
    }
  }
}

/** A user, or a device, is kept out. The ban holds for the name of the room, also when the room ends and is made again. */
function checkKeptOut(
  facts: Facts,
  look: Look,
  ban: string,
  whoOf: (entry: Entry) => string | undefined,
  liftsOf: (banned: Entry) => readonly Entry[] = () => [],
): void {
  const nameOf = (entry: Entry) => JSON.stringify([entry.args.tenant, entry.args.room, whoOf(entry)]);
  const admissions = Map.groupBy(admissionsOf(facts).filter(isAnswered), nameOf);
  const unbans = Map.groupBy(changesOf(facts, `un${ban}`), nameOf);
  for (const banned of changesOf(facts, ban).filter(succeeded)) {
    const { tenant, room } = banned.args;
    const lifts = [...(unbans.get(nameOf(banned)) ?? []), ...liftsOf(banned)];
    for (const entry of admissions.get(nameOf(banned)) ?? []) {
      if (entry.invokedUs <= endOf(banned)) continue;
      look.at();
      if (succeeded(entry) && !mayBeBetween(lifts, banned.invokedUs, endOf(entry)))
        look.wrong(`${whoOf(banned)} of ${tenant} is banned from ${room}; ${after(entry, endOf(banned))}`);
    }
  }
}

/** Erasing a person ends the bans of the name that are there until it is done. */
async function checkBans(facts: Facts, look: Look): Promise<void> {
  const erasures = await erasuresOf(facts);
  const usernameOf = ({ args }: Entry) => args.username;
  checkKeptOut(facts, look, 'ban', usernameOf, (banned) => erasures.get(personOf(banned)) ?? []);
}

/** It holds whatever name the device comes with, and an erasure does not end it. */
function checkDeviceBans(facts: Facts, look: Look): void {
  checkKeptOut(facts, look, 'ban.device', ({ args }) => args.device);
}

/** Specification 3.1 and 3.4, by answers alone. */
function checkNeverPaid(facts: Facts, look: Look): void {
  const free = neverPaid(facts);
  const reports = facts.journal.reports.map(({ tenant, entry }) => ({
    ...entry,
    args: { ...entry.args, tenant },
  }));
  for (const entry of [...admissionsOf(facts), ...facts.of('billing.read'), ...reports].filter(isAnswered)) {
    const { tenant } = entry.args;
    if (!free.has(tenant)) continue;
    const isEntry = entry.op === 'join' || entry.op === 'mint';
    look.at();
    if (isEntry ? succeeded(entry) : entry.answer?.admitted)
      look.wrong(`${tenant} never paid, and its ${entry.op} was admitted`);
  }
}

/** A ban gives no new epoch to who has left and whose tokens are void or over. */
function checkEpochs(facts: Facts, look: Look): void {
  const revoked = new Map(
    facts
      .of('credential.revoke')
      .filter(mayHaveHappened)
      .toReversed()
      .map((entry) => [entry.args.id, entry.invokedUs] as const),
  );
  const worksAt = (entry: Entry, us: number) => {
    const { key, iat = 0, exp = Number.POSITIVE_INFINITY } = entry.answer!.claims!;
    const endsUs = entry.invokedUs + (exp - iat) * MICROS_OF_A_SECOND;
    return us < Math.min(endsUs, revoked.get(key) ?? Number.POSITIVE_INFINITY);
  };
  const admissions = Map.groupBy(admissionsOf(facts).filter(succeeded), userOf);
  for (const kicked of changesOf(facts, 'kick', 'ban').filter(succeeded)) {
    const tokens = (admissions.get(userOf(kicked)) ?? []).filter(
      ({ answer }) => answer?.claims?.ep !== undefined,
    );
    const earlier = tokens.filter(
      (entry) => endOf(entry) < kicked.invokedUs && worksAt(entry, endOf(kicked)),
    );
    for (const { invokedUs, answer } of tokens) {
      if (invokedUs <= endOf(kicked)) continue;
      const { rid, ep } = answer!.claims!;
      const epochs = earlier.filter((entry) => entry.answer!.claims!.rid === rid).map(epochOf);
      look.at();
      if (epochs.some((epoch) => epoch >= ep!))
        look.wrong(
          `${kicked.args.username} of ${kicked.args.tenant} has the epoch ${ep} as before the ${kicked.op}`,
        );
    }
  }
}

const epochOf = ({ answer }: Entry) => answer!.claims!.ep!;

/** Only a key that was not replaced can be replaced. */
function checkReplacements(facts: Facts, look: Look): void {
  const rotated = withoutRepetitions(facts.of('key.rotate')).filter(succeeded);
  for (const [id, entries] of Map.groupBy(rotated, ({ args }) => args.id)) {
    look.at();
    if (entries.length > 1)
      look.wrong(`${id} of ${entries[0]!.args.tenant} was replaced ${entries.length} times`);
  }
}

/** Specification 5.5. */
const TOKEN_SECONDS_MAX = 900;

/** What no join gives, whatever its credential may do (specification 4.11). */
const OF_MODERATORS = /^(moderate|room|watchdog)\./;

/** Tokens are made together: each caller gets the one that it asked for. */
function checkTokens(facts: Facts, look: Look): void {
  for (const { op, args, answer } of admissionsOf(facts).filter(succeeded)) {
    const { tid, room, sub, key, role, cap, iat = 0, exp = Number.POSITIVE_INFINITY } = answer?.claims ?? {};
    const asked = [args.tenant, args.room, args.username, args.key].join(' ');
    const says = [tid, room, sub, key].join(' ');
    look.at();
    if (says !== asked) look.wrong(`a ${op} of ${asked} got a token of ${says}`);
    if (exp - iat > TOKEN_SECONDS_MAX) look.wrong(`a ${op} of ${asked} got a token for ${exp - iat} s`);
    if (args.role !== undefined && role !== args.role)
      look.wrong(`a ${op} of ${asked} got the role ${role}, and asked for ${args.role}`);
    const beyond = args.publish && cap?.filter((each) => isBeyond(each, args.publish!));
    if (beyond && beyond.length > 0) look.wrong(`a ${op} of ${asked} got ${beyond.join(' and ')}`);
  }
}

function isBeyond(capability: string, publish: readonly string[]): boolean {
  const [, track] = /^publish\.(.+)$/.exec(capability) ?? [];
  return OF_MODERATORS.test(capability) || (track !== undefined && !publish.includes(track));
}

/** Specification 5.5 and RFC 7800: another device has another thumbprint, and a second confirmation method could be weaker. */
function checkBindings(facts: Facts, look: Look): void {
  for (const { op, args, answer } of admissionsOf(facts).filter(succeeded)) {
    const { tenant, device, username } = args;
    if (device !== undefined) {
      const [bound, wanted] = [answer?.claims?.cnf, { jkt: device }].map((each) => JSON.stringify(each));
      look.at();
      if (bound !== wanted)
        look.wrong(`a ${op} of ${username} of ${tenant} is bound to ${bound}, and not ${wanted}`);
    }
    if (answer?.signed === undefined) continue;
    look.at();
    if (!answer.signed)
      look.wrong(`a ${op} of ${username} of ${tenant} is signed by no key that is published`);
  }
}

function checkTrespasses(facts: Facts, look: Look): void {
  for (const { outcome, args } of facts.of('trespass').filter(isAnswered)) {
    look.at();
    if (outcome === 'ok') look.wrong(`${args.tenant} could ${args.what} of ${args.other}`);
  }
}
