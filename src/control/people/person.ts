/**
 * A person whose name is to be forgotten, and what is left of the texts that tell of the person.
 *
 * Free text is forgotten as a whole: what remains of a reason after a name was cut out may still tell who it was.
 */
import { prepareUsername } from '../../access/usernames/username.ts';
import { invalidField } from '../../base/failure.ts';
import { RECORD_TEXT_MAX } from '../../money/ledger/posting.ts';
import { ERASED } from '../../money/records/usage-record.ts';
import type { Subject } from '../bans/ban.ts';

export interface Person {
  /** As the tenant wrote it. */
  readonly name: string;
  /** The name, and the username that it becomes, if it becomes one. */
  readonly names: readonly string[];
}

/** The part of an act of moderation, or of a ban, that names people. */
export interface Act {
  readonly subject: Subject | null;
  readonly reason: string;
  readonly actor: string | null;
}

/** Fails with `invalid_request` unless a usage record may have the name. */
export function parsePersonName(text: string): string {
  if (text === '' || [...text].length > RECORD_TEXT_MAX) {
    throw invalidField('participant', `must be 1 to ${RECORD_TEXT_MAX} characters`);
  }
  // Another spelling of it would become the same username.
  if ((prepareUsername(text) ?? text) === ERASED)
    throw invalidField('participant', 'must be a name: this is what stands for erased ones');
  return text;
}

export function personNamed(name: string): Person {
  return { name, names: [...new Set([name, prepareUsername(name) ?? name])] };
}

/** The act without the person; the same object if it does not name the person. */
export function forgetInAct<A extends Act>(person: Person, act: A): A {
  const isAbout = act.subject?.kind === 'user' && isName(person, act.subject.value);
  const isBy = isName(person, act.actor);
  const isTold = act.reason !== '' && act.reason !== ERASED && (isAbout || mentions(person, act.reason));
  if (!isAbout && !isBy && !isTold) return act;
  return {
    ...act,
    ...(isAbout && { subject: { ...act.subject, value: ERASED } }),
    ...(isBy && { actor: ERASED }),
    ...(isTold && { reason: ERASED }),
  };
}

/** The subject of an event without the person; the same object if it does not name the person. */
export function forgetInSubject(person: Person, subject: object): object {
  if ('username' in subject) {
    return isName(person, subject.username) ? { ...subject, username: ERASED } : subject;
  }
  return 'actor' in subject ? forgetInAct(person, subject as Act) : subject;
}

function isName({ names }: Person, value: unknown): boolean {
  return names.some((name) => name === value);
}

/** Whether a text contains the name as a word, in upper or lower case. */
function mentions({ names }: Person, text: string): boolean {
  const either = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${either})(?![\\p{L}\\p{N}])`, 'iu').test(text);
}
