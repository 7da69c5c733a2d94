/** Writes the types of the REST interface in Python: dataclasses for answers, and typed dictionaries for requests. */
import { wrap } from '../contract-comments.ts';
import type { EventModel } from './event-model.ts';
import type { Kind, Model, Struct } from './model.ts';
import { ANSWERS, REQUESTS, WORDS } from './names.ts';

const DOC_WIDTH = 108;

/** Types that are dictionaries in Python. */
const LEFT_OUT = ['Ceilings', 'TierCeilings', 'SecondsByTier'];

const TYPES: Readonly<Record<string, string>> = {
  'RateCard.ceiling_per_1000_participant_minutes': 'dict[Role, dict[Tier, Amount]]',
  'Session.seconds_by_tier': 'dict[Tier, int]',
  'SessionSums.seconds_by_tier': 'dict[Tier, int]',
  'BasicAuth.password': 'Secret | str',
  'WebhookHeader.value': 'Secret | str',
};

/** Changes without an idempotency key: an effect that ids make unique, or none. A signup is never repeated. */
const WITHOUT_KEYS = ['SignUp', 'ReportUsage', 'LookUpUsage', 'SimulateRoom'];

/** The name of a field, which may not be a word of the language. */
export function memberName(name: string): string {
  return name === 'from' ? 'from_' : name;
}

/** The docstring of a class or a field. */
export function docstring(text: string, indent = '    '): string {
  const [first = '', ...others] = wrap(`${text.replace(/\.$/, '')}.`, DOC_WIDTH - indent.length);
  if (others.length === 0) return `${indent}"""${first}"""\n`;
  return `${indent}"""${[first, ...others.map((line) => indent + line)].join('\n')}\n${indent}"""\n`;
}

export interface PythonField {
  readonly name: string;
  readonly doc: string;
  readonly type: string;
  readonly isOptional: boolean;
}

/** A class of answers. Optional fields are None if they are absent. */
export function dataclass(name: string, doc: string, fields: readonly PythonField[], base = ''): string {
  const lines = fields.map(
    (each) =>
      `\n    ${memberName(each.name)}: ${each.type}${each.isOptional ? ' | None = None' : ''}\n${docstring(each.doc)}`,
  );
  const head = `@dataclass(frozen=True, kw_only=True, slots=True)\nclass ${name}${base && `(${base})`}:\n`;
  return `${head}${docstring(doc)}${lines.join('')}`;
}

/** A class of requests: what may be given by keyword. */
export function request(name: string, doc: string, fields: readonly PythonField[], base: string): string {
  const lines = fields.map(
    (each) =>
      `\n    ${memberName(each.name)}: ${each.isOptional ? each.type : `Required[${each.type}]`}\n${docstring(each.doc)}`,
  );
  return `class ${name}(${base}, total=False):\n${docstring(doc)}${lines.join('')}`;
}

/** A name for some words. */
export function words(name: string, doc: string, values: readonly string[]): string {
  const lines = values.map((word) => `    "${word}",\n`).join('');
  return `${name}: TypeAlias = Literal[\n${lines}]\n${docstring(`${doc}. Expect words that are not listed here`, '')}`;
}

export function writePython({ structs }: Model): string[] {
  return [
    ...Object.entries(WORDS).map(([name, each]) => words(name, each.doc, Object.keys(each.words))),
    ...structs.filter(({ name }) => !LEFT_OUT.includes(name)).map(writeStruct),
  ];
}

/** The types of the data of events, and which type of event has which. */
export function writePythonEvents({ structs, types }: EventModel): string[] {
  const entries = types.map(([type, struct]) => `    "${type}": ${struct},\n`).join('');
  const used = [...new Set(types.map(([, struct]) => struct))];
  return [
    ...structs.map(writeStruct),
    `EventData: TypeAlias = Union[\n${used.map((each) => `    ${each},\n`).join('')}]\n${docstring('What an event is about', '')}`,
    `EVENT_DATA: Mapping[str, type[EventData]] = {\n${entries}}\n${docstring('By type of event, what its data is', '')}`,
  ];
}

function typeName(name: string): string {
  return ANSWERS[name]?.go ?? REQUESTS[name]?.go ?? name;
}

function writeStruct({ name, doc, fields, request: method }: Struct): string {
  const isRequest = method !== undefined;
  const all = fields.map((field) => ({
    name: field.name,
    doc: field.doc,
    type: TYPES[`${name}.${field.name}`] ?? typeOf(field.kind, isRequest),
    isOptional: field.isOptional,
  }));
  if (!isRequest) return dataclass(typeName(name), doc, all);
  return request(typeName(name), doc, all, baseOf(name, method));
}

/** A part of a request has no options of its own. */
function baseOf(name: string, method: string): string {
  if (REQUESTS[name]!.method === undefined) return 'TypedDict';
  return method === 'GET' || WITHOUT_KEYS.includes(name) ? 'CallOptions' : 'MutationOptions';
}

function typeOf(kind: Kind, isRequest: boolean): string {
  switch (kind.is) {
    case 'text':
    case 'event type':
    case 'page token':
      return 'str';
    case 'secret':
      return 'Secret';
    case 'time':
      return 'datetime';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'float';
    case 'object':
      return 'dict[str, Any]';
    case 'micros':
    case 'integer':
    case 'seconds':
    case 'page size':
      return 'int';
    case 'words':
      return kind.name;
    case 'struct':
      return typeName(kind.name);
    case 'list':
      return `${isRequest ? 'Sequence' : 'list'}[${typeOf(kind.of, isRequest)}]`;
  }
}
