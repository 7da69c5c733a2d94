/** A field of a form that names rooms. */
import { ROOM_PATTERN_PATTERN } from '../../access/rights/room-names.ts';
import { invalidField } from '../../base/failure.ts';

const PATTERN = new RegExp(ROOM_PATTERN_PATTERN);

/** Names and patterns, separated by spaces or commas. Fails with `invalid_request` about the field `rooms`. */
export function parseRoomPatterns(text: string, max: number): readonly string[] {
  const rooms = [...new Set(text.split(/[\s,]+/).filter((each) => each !== ''))];
  if (rooms.length > max) throw invalidField('rooms', `must be at most ${max} names`);
  const wrong = rooms.find((each) => !PATTERN.test(each));
  if (wrong !== undefined)
    throw invalidField('rooms', `must be names of rooms, in which * stands for any characters: ${wrong}`);
  return rooms;
}
