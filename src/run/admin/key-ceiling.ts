/** `admin key-ceiling`: the maximum that tokens minted with an API key may carry. */
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { isKeyId } from '../../access/keys/api-key.ts';
import { changeCeiling } from '../../access/keys/change-ceiling.ts';
import { CAPABILITIES } from '../../access/rights/capabilities.ts';
import {
  CEILING_ROOMS_MAX,
  DEFAULT_CEILING,
  type KeyCeiling,
  RANK_MAX,
} from '../../access/rights/key-ceiling.ts';
import { ROOM_PATTERN_PATTERN } from '../../access/rights/room-names.ts';
import { TOKEN_SECONDS_MAX } from '../../access/rights/token-lifetime.ts';
import { ROLES } from '../../money/pricing/role.ts';
import { type JsonOption, wholeNumber, withJson } from './arguments.ts';
import { withDatabase } from './database.ts';
import { operator } from './operator.ts';
import { printFields, printJson } from './output.ts';

const ALL = '*';

interface CeilingOptions extends JsonOption {
  readonly capabilities?: readonly string[];
  readonly roles?: readonly string[];
  readonly rooms?: readonly string[];
  readonly rank?: number;
  readonly lifetime?: number;
  readonly reset?: boolean;
}

export function keyCeilingCommand(program: Command): void {
  withJson(
    program
      .command('key-ceiling')
      .description('what tokens that are minted with an API key may carry at most; with options, change it'),
  )
    .addArgument(new Argument('<key id>', 'the key, as 16 hex digits').argParser(parseKeyId))
    .option('--capabilities <list>', 'separated by commas', parseCapabilities)
    .option('--roles <list>', `of ${ROLES.join(', ')}`, parseRoles)
    .option('--rooms <list>', 'names of rooms, in which * stands for any characters', parseRooms)
    .option('--rank <n>', `0 to ${RANK_MAX}`, wholeNumber(0, RANK_MAX))
    .option('--lifetime <s>', `seconds, 1 to ${TOKEN_SECONDS_MAX}`, wholeNumber(1, TOKEN_SECONDS_MAX))
    .option('--reset', 'first, back to what every key begins with')
    .addHelpText(
      'after',
      `\nA list that is just '${ALL}' stands for all there are. What is not given stays. A key that is made with this` +
        '\none, or replaces it, begins with its ceiling; those that exist already keep their own.',
    )
    .action(async (keyId: string, options: CeilingOptions) => {
      await withDatabase(async ({ db }) => {
        const ceiling = await changeCeiling(db, operator(), keyId, changeOf(options));
        if (options.json) printJson(ceilingJson(keyId, ceiling));
        else printCeiling(keyId, ceiling);
      });
    });
}

function changeOf({
  capabilities,
  roles,
  rooms,
  rank,
  lifetime,
  reset,
}: CeilingOptions): Partial<KeyCeiling> {
  return {
    ...(reset && DEFAULT_CEILING),
    ...(capabilities && { capabilities: unlessAll(capabilities) }),
    ...(roles && { roles: unlessAll(roles) }),
    ...(rooms && { rooms: unlessAll(rooms) }),
    ...(rank !== undefined && { rank }),
    ...(lifetime !== undefined && { lifetimeSeconds: lifetime }),
  };
}

function unlessAll(list: readonly string[]): readonly string[] | null {
  return list.length === 1 && list[0] === ALL ? null : list;
}

function ceilingJson(id: string, { capabilities, roles, rooms, rank, lifetimeSeconds }: KeyCeiling) {
  return { id, capabilities, roles, rooms, rank, lifetime_seconds: lifetimeSeconds };
}

function printCeiling(id: string, { capabilities, roles, rooms, rank, lifetimeSeconds }: KeyCeiling): void {
  printFields({
    key: id,
    capabilities: describe(capabilities),
    roles: describe(roles),
    rooms: describe(rooms),
    rank,
    lifetime: `${lifetimeSeconds} s`,
  });
}

function describe(list: readonly string[] | null): string {
  return list === null ? 'all' : list.join(', ');
}

function parseKeyId(text: string): string {
  if (!isKeyId(text)) throw new InvalidArgumentError('It must be 16 hex digits.');
  return text;
}

function parseCapabilities(text: string): string[] {
  return parseWords(text, CAPABILITIES);
}

function parseRoles(text: string): string[] {
  return parseWords(text, ROLES);
}

function parseWords(text: string, words: readonly string[]): string[] {
  const list = parseList(text);
  const unknown = text === ALL ? undefined : list.find((word) => !words.includes(word));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`'${unknown}' is not one of ${words.join(', ')}.`);
  return list;
}

function parseRooms(text: string): string[] {
  const list = parseList(text);
  const wrong = list.find((pattern) => !new RegExp(ROOM_PATTERN_PATTERN).test(pattern));
  if (wrong !== undefined) throw new InvalidArgumentError(`'${wrong}' is no name or pattern of rooms.`);
  if (list.length > CEILING_ROOMS_MAX) {
    throw new InvalidArgumentError(`It must be ${CEILING_ROOMS_MAX} names and patterns at most.`);
  }
  return list;
}

function parseList(text: string): string[] {
  return [...new Set(text.split(','))];
}
