/** A field of a form that names rooms. */
import { ROOM_BEGINNING_PATTERN, ROOM_PATTERN_PATTERN } from '../../access/rights/room-names.ts';
import { invalidField } from '../../base/failure.ts';

/** Which of the two languages a field takes, and what it is called. */
const PATTERNS = {
  anywhere: { pattern: new RegExp(ROOM_PATTERN_PATTERN), what: 'in which * stands for any characters' },
  atEnd: { pattern: new RegExp(ROOM_BEGINNING_PATTERN), what: 'or beginnings of names before a *' },
} as const;

/** Names and patterns, separated by spaces or commas. Fails with `invalid_request` about the field `rooms`. */
export function parseRoomPatterns(
  text: string,
  max: number,
  star: keyof typeof PATTERNS = 'anywhere',
): readonly string[] {
  const rooms = text.split(/[\s,]+/).filter((each) => each !== '');
  if (rooms.length > max) throw invalidField('rooms', `must be at most ${max} names`);
  const { pattern, what } = PATTERNS[star];
  const wrong = rooms.find((each) => !pattern.test(each));
  if (wrong !== undefined) throw invalidField('rooms', `must be names of rooms, ${what}: ${wrong}`);
  return [...new Set(rooms)];
}
