/**
 * Skeletons: two names that look alike have the same one.
 *
 * Source: UTS #39, section 4, internalSkeleton. Its bidiSkeleton first puts characters in display order,
 * which matters only for mixed directions; usernames may not mix letters of both.
 */
import { PROTOTYPES } from './confusables.ts';
import { DEFAULT_IGNORABLE } from './tables.ts';

/** For comparison only: a skeleton is not a username and is never shown. */
export function skeleton(name: string): string {
  return Array.from(name.normalize('NFD'))
    .filter((character) => !DEFAULT_IGNORABLE.has(character.codePointAt(0)))
    .map((character) => PROTOTYPES.get(character) ?? character)
    .join('')
    .normalize('NFD');
}
