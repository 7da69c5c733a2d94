/** Writes the types of the REST interface in Go. */
import { comment, gofmt, goName } from '../go-text.ts';
import type { EventModel } from './event-model.ts';
import type { Field, Kind, Model, Struct } from './model.ts';
import { ANSWERS, REQUESTS, WORD_NAMES, WORDS } from './names.ts';

/** Types that are maps in Go. */
const LEFT_OUT = ['Ceilings', 'TierCeilings', 'SecondsByTier'];

/** The type that is embedded for the members that it has too. */
const EMBEDDED: Readonly<Record<string, string>> = {
  AlertThreshold: 'SetAlertThreshold',
  FurtherRooms: 'UsageSums',
  RoomUsage: 'UsageSums',
  RotatedKey: 'CreatedKey',
  RotatedWebhookSecret: 'CreatedWebhook',
  Session: 'UsageSums',
  SessionSums: 'UsageSums',
  UsageRow: 'UsageSums',
};

const MEMBERS: Readonly<Record<string, string>> = { iss: 'Issuer' };

const TYPES: Readonly<Record<string, string>> = {
  'RateCard.ceiling_per_1000_participant_minutes': 'map[Role]map[Tier]Amount',
  'Session.seconds_by_tier': 'map[Tier]int64',
  'SessionSums.seconds_by_tier': 'map[Tier]int64',
  'PulledEvents.events': '[]*WebhookEvent',
  'BasicAuth.password': 'Secret',
  'WebhookHeader.value': 'Secret',
  // Both empty is a value.
  'ChangeWebhook.basic_auth': '*BasicAuth',
};

/** Only usage without a room has an empty one. */
const EMPTY_IS_A_VALUE = ['room'];

export function writeGo({ structs }: Model, head: string): string {
  const byName = new Map(structs.map((each) => [each.name, each]));
  const members = new Set(structs.flatMap(({ fields }) => fields.map(({ name }) => name)));
  const types = [
    ...Object.keys(WORDS).map(writeWords),
    ...structs
      .filter(({ name }) => !LEFT_OUT.includes(name))
      .map((struct) => writeStruct(struct, byName.get(EMBEDDED[struct.name] ?? ''), members)),
  ];
  return goFile(head, ['encoding/json', 'math/big', 'time'], types);
}

/** The types of the data of events, and which type of event has which. */
export function writeGoEvents({ structs, types }: EventModel, head: string): string {
  const members = new Set(structs.flatMap(({ fields }) => fields.map(({ name }) => name)));
  const cases = structs.flatMap(({ name }) => {
    const of = types.filter(([, struct]) => struct === name).map(([type]) => constantOf('Event', type));
    return of.length > 0 ? `case ${of.join(', ')}:\nreturn new(${typeName(name)})\n` : [];
  });
  const about = comment(
    'newEventData makes the type of the data of an event. Nil: the type of event is not known.',
  );
  const maker = `${about}func newEventData(event EventType) any {\nswitch event {\n${cases.join('')}}\nreturn nil\n}\n`;
  return goFile(head, ['time'], [...structs.map((struct) => writeStruct(struct, undefined, members)), maker]);
}

function goFile(head: string, imports: readonly string[], parts: readonly string[]): string {
  const imported = imports.map((each) => `"${each}"\n`).join('');
  return gofmt(`// ${head}\n\npackage boxoffice\n\nimport (\n${imported})\n\n${parts.join('\n')}`);
}

function typeName(name: string): string {
  return ANSWERS[name]?.go ?? REQUESTS[name]?.go ?? name;
}

function writeWords(name: string): string {
  const { doc, prefix, words } = WORDS[name]!;
  const constants = Object.entries(words).map(
    ([word, meaning]) => `${comment(`${meaning}.`)}${constantOf(prefix, word)} ${name} = "${word}"\n`,
  );
  const about = comment(`${name} is ${inSentence(doc)}. Expect words that are not listed here.`);
  return `${about}type ${name} string\n\n// Values of ${name}.\nconst (\n${constants.join('')})\n`;
}

function constantOf(prefix: string, word: string): string {
  return prefix + goName(WORD_NAMES[word] ?? word);
}

function writeStruct(struct: Struct, embedded: Struct | undefined, members: ReadonlySet<string>): string {
  const inside = embedded?.fields.map(({ name }) => name) ?? [];
  const lines = struct.fields.map((field) =>
    field.name === inside[0]
      ? `${typeName(embedded!.name)}\n`
      : inside.includes(field.name)
        ? ''
        : writeField(struct, field, members),
  );
  const name = typeName(struct.name);
  return `${comment(`${docOf(struct, name)}.`)}type ${name} struct {\n${lines.join('')}}\n`;
}

function docOf({ name, doc, request }: Struct, goName: string): string {
  const method = REQUESTS[name]?.method;
  if (request !== undefined && method) return `${goName} is the request of [${method}]: ${inSentence(doc)}`;
  const isPlural = /s$/.test(goName) && !/Status$/.test(goName);
  return `${goName} ${isPlural ? 'are' : 'is'} ${inSentence(doc)}`;
}

function inSentence(text: string): string {
  return text[0]!.toLowerCase() + text.slice(1).replaceAll('`', '');
}

function writeField(struct: Struct, field: Field, members: ReadonlySet<string>): string {
  const type =
    TYPES[`${struct.name}.${field.name}`] ?? `${isPointer(struct, field) ? '*' : ''}${typeOf(field)}`;
  const omitted = field.isOptional || type === 'time.Time' ? ',omitzero' : '';
  const name = MEMBERS[field.name] ?? goName(field.name);
  return `${comment(`${docOfField(struct, field, type, members)}.`)}${name} ${type} \`json:"${field.name}${omitted}"\`\n`;
}

function typeOf({ kind, from }: Pick<Field, 'kind' | 'from'>): string {
  switch (kind.is) {
    case 'text':
    case 'page token':
      return 'string';
    case 'secret':
      return 'Secret';
    case 'event type':
      return 'EventType';
    case 'time':
      return 'time.Time';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float64';
    case 'micros':
      return 'Micros';
    case 'object':
      return 'json.RawMessage';
    case 'integer':
      if (kind.size === 'huge') return '*big.Int';
      return kind.isUnsigned && kind.size === '64 bits' ? 'uint64' : 'int64';
    case 'seconds':
      return from === 'query' ? 'int32' : 'int64';
    case 'page size':
      return 'int32';
    case 'words':
      return kind.name;
    case 'struct':
      return typeName(kind.name);
    case 'list':
      return `[]${typeOf({ kind: kind.of, from })}`;
  }
}

/** Whether nil is what is absent. Elsewhere the zero value is, because it would say nothing else. */
function isPointer({ request }: Struct, { kind, name, from, isOptional, minimum }: Field): boolean {
  if (!isOptional) return false;
  if (kind.is === 'micros') return true;
  if (request === undefined) return kind.is === 'struct' || kind.is === 'number';
  switch (kind.is) {
    case 'integer':
      return minimum === 0;
    case 'seconds':
    case 'boolean':
      return from === 'body';
    case 'text':
      return from === 'query' ? EMPTY_IS_A_VALUE.includes(name) : request === 'PATCH';
    default:
      return false;
  }
}

/** Words in backquotes are members, constants of the member's type, or plain. */
function docOfField(struct: Struct, field: Field, type: string, members: ReadonlySet<string>): string {
  const own = struct.fields.map(({ name }) => name);
  const words = field.kind.is === 'words' ? WORDS[field.kind.name]! : undefined;
  const text = field.doc.replace(/`([^`]*)`/g, (_, word: string) => {
    if (words && word in words.words) return `[${constantOf(words.prefix, word)}]`;
    const isMember =
      own.includes(word) || word === 'next_page_token' || (word.includes('_') && members.has(word));
    return isMember ? (MEMBERS[word] ?? goName(word)) : word;
  });
  const absent = absentOf(type, field.kind);
  if (/\babsent: /i.test(text))
    return text.replace(/\bAbsent: /, `${absent}: `).replace(/\babsent: /, `${absent.toLowerCase()}: `);
  const isFilter = field.from === 'query' && /^Only /.test(text) && field.kind.is !== 'time';
  return isFilter ? `${text}. ${absent}: all` : text;
}

function absentOf(type: string, kind: Kind): string {
  if (type.startsWith('*') || type === 'json.RawMessage') return 'Nil';
  if (type.startsWith('[]')) return 'None';
  if (type === 'time.Time') return 'Zero';
  if (type === 'bool') return 'False';
  return kind.is === 'integer' || kind.is === 'seconds' ? '0' : 'Empty';
}
