/** Writes the types of the REST interface in Rust. */
import { execFileSync } from 'node:child_process';
import { wrap } from '../contract-comments.ts';
import { pathWith } from '../toolchains.ts';
import type { EventModel } from './event-model.ts';
import type { Field, Kind, Model, Struct } from './model.ts';
import { REQUESTS, WORD_NAMES, WORDS } from './names.ts';

const COMMENT_WIDTH = 105;

/** Names of members that are words of the language, or no names. */
const MEMBERS: Readonly<Record<string, string>> = {
  type: 'event_type',
  '2k': 'two_k',
  '2k_plus': 'two_k_plus',
};

/** Names of variants that are no names, or that of words which the crate does not know. */
const VARIANTS: Readonly<Record<string, string>> = {
  '2k': 'TwoK',
  '2k_plus': 'TwoKPlus',
  unknown: 'NeverAccepted',
};

const TYPES: Readonly<Record<string, string>> = {
  'Delivery.status': 'u16',
  'DeadLetter.status': 'u16',
  // Empty like that of a webhook.
  'CreateWebhook.description': 'String',
  'BasicAuth.password': 'Secret',
  'WebhookHeader.value': 'Secret',
};

export function writeRust(model: Model, head: string): string {
  const structs = model.structs.filter(({ name }) => !REQUESTS[name]?.isGoOnly);
  const withFloats = findFloats(structs);
  const parts = [
    '//! Types of the REST interface.\n',
    'use std::time::{Duration, SystemTime};\n\nuse serde::{Deserialize, Serialize};\nuse serde_json::{Map, Value};\n',
    'use crate::money::{Amount, Micros};\nuse crate::plain;\nuse crate::secret::Secret;\nuse crate::words::text_words;\n',
    ...Object.keys(WORDS).map((name) => writeWords(name, model.answeredWords.has(name))),
    ...structs.map((struct) => writeStruct(struct, withFloats.has(struct.name))),
  ];
  return rustfmt(`// ${head}\n\n${parts.join('\n')}`);
}

/** The types of the data of events, and an enum of them. */
export function writeRustEvents({ structs, types }: EventModel, head: string): string {
  const withFloats = findFloats(structs);
  const used = (text: string) => structs.some((each) => JSON.stringify(each).includes(text));
  const words = Object.keys(WORDS).filter((name) => used(`{"is":"words","name":"${name}"}`));
  const parts = [
    '//! What events are about.\n',
    'use std::time::SystemTime;\n\nuse serde::{Deserialize, Serialize};\nuse serde_json::{Map, Value};\n',
    `use crate::generated::rest::{${['ApiKey', ...words].toSorted().join(', ')}};\nuse crate::money::Amount;\nuse crate::plain;\n`,
    ...structs.map((struct) => writeStruct(struct, withFloats.has(struct.name))),
    writeDataOfEvents(types),
  ];
  return rustfmt(`// ${head}\n\n${parts.join('\n')}`);
}

function writeDataOfEvents(types: EventModel['types']): string {
  const structs = [...new Set(types.map(([, struct]) => struct))];
  const variantOf = (struct: string) => struct.replace(/Data$/, '');
  const variants = structs.map((struct) => {
    const of = types.filter(([, each]) => each === struct).map(([type]) => `\`${type}\``);
    return `${docs(`The data of ${inWords(of)}`)}${variantOf(struct)}(${struct}),\n`;
  });
  const arms = structs.map((struct) => {
    const of = types.filter(([, each]) => each === struct).map(([type]) => `"${type}"`);
    return `${of.join(' | ')} => serde_json::from_value(data).map(Self::${variantOf(struct)}),\n`;
  });
  return [
    docs('What an event is about, by its type'),
    '#[derive(Clone, Debug, PartialEq)]\n#[non_exhaustive]\n',
    `pub enum EventData {\n${variants.join('')}`,
    `${docs('The data of a type that is newer than this crate')}Unknown(Map<String, Value>),\n}\n\n`,
    'impl EventData {\n',
    'pub(crate) fn read(event_type: &str, data: &Map<String, Value>) -> serde_json::Result<Self> {\n',
    'let data = Value::Object(data.clone());\n',
    `match event_type {\n${arms.join('')}_ => serde_json::from_value(data).map(Self::Unknown),\n}\n}\n}\n`,
  ].join('');
}

function inWords(list: readonly string[]): string {
  return list.length > 1 ? `${list.slice(0, -1).join(', ')} and ${list.at(-1)}` : list.join('');
}

function rustfmt(text: string): string {
  const env = { ...process.env, PATH: pathWith('cargo') };
  const options = { input: text, encoding: 'utf8', maxBuffer: 2 ** 26, env } as const;
  return execFileSync('rustfmt', ['--edition', '2024'], options);
}

function docs(text: string): string {
  return wrap(`${text}.`, COMMENT_WIDTH)
    .map((line) => `/// ${line}\n`)
    .join('');
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function writeWords(name: string, isAnswered: boolean): string {
  const { doc, words } = WORDS[name]!;
  const variants = Object.entries(words).map(([word, meaning]) => {
    const variant = VARIANTS[word] ?? pascal(WORD_NAMES[word] ?? word);
    return `${docs(meaning)}${variant} => "${word}",\n`;
  });
  const fallback = `impl Default for ${name} {\nfn default() -> Self {\nSelf::Unknown(String::new())\n}\n}\n`;
  // Macros are not formatted.
  const indented = variants.join('').replace(/^/gm, '        ').trimEnd();
  return `text_words! {\n    /// ${doc}.\n    pub enum ${name} {\n${indented}\n    }\n}\n\n${isAnswered ? fallback : ''}`;
}

/** Types that hold floating-point numbers, which are not always equal to themselves. */
function findFloats(structs: readonly Struct[]): ReadonlySet<string> {
  const found = new Set<string>();
  const hasFloat = (kind: Kind): boolean =>
    kind.is === 'number' ||
    (kind.is === 'list' && hasFloat(kind.of)) ||
    (kind.is === 'struct' && found.has(kind.name));
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { name, fields } of structs) if (fields.some(({ kind }) => hasFloat(kind))) found.add(name);
  }
  return found;
}

/** A member with what Rust makes of it. */
interface Member {
  readonly name: string;
  readonly type: string;
  readonly isOption: boolean;
  readonly field: Field;
}

function writeStruct(struct: Struct, hasFloats: boolean): string {
  const { name, doc, fields, request } = struct;
  const given = REQUESTS[name];
  const members = fields.map((field) => memberOf(struct, field));
  const derived = [
    'Clone',
    'Debug',
    'PartialEq',
    ...(hasFloats ? [] : ['Eq']),
    ...(given?.default ? [] : ['Default']),
  ];
  const lines = members.map(
    (member) => `${docs(member.field.doc)}${attribute(struct, member)}pub ${member.name}: ${full(member)},\n`,
  );
  return [
    docs(doc),
    `#[derive(${derived.join(', ')}, Serialize, Deserialize)]\n`,
    given?.default === 'none' ? '' : '#[serde(default)]\n',
    '#[non_exhaustive]\n',
    request === undefined ? '' : '#[must_use]\n',
    `pub struct ${name} {\n${lines.join('')}}\n`,
    given?.new ? `\n${writeBuilder(name, members)}` : '',
  ].join('');
}

function memberOf({ name: owner, request }: Struct, field: Field): Member {
  const { name, kind, isOptional } = field;
  const own = TYPES[`${owner}.${name}`];
  return {
    name: MEMBERS[name] ?? (kind.is === 'seconds' ? name.replace(/_seconds$/, '') : name),
    type: own ?? typeOf(kind),
    isOption: own === 'String' ? false : isOption(kind, isOptional, request),
    field,
  };
}

/** A list, a text or a switch says by its empty or usual value that it is absent, unless a change leaves out what stays. */
function isOption(kind: Kind, isOptional: boolean, request: string | undefined): boolean {
  switch (kind.is) {
    case 'time':
    case 'seconds':
      return true;
    case 'page size':
    case 'page token':
      return false;
    case 'boolean':
    case 'list':
      return isOptional && request === 'PATCH';
    default:
      return isOptional;
  }
}

function full({ type, isOption }: Member): string {
  return isOption ? `Option<${type}>` : type;
}

function typeOf(kind: Kind): string {
  switch (kind.is) {
    case 'text':
    case 'event type':
    case 'page token':
      return 'String';
    case 'secret':
      return 'Secret';
    case 'time':
      return 'SystemTime';
    case 'boolean':
      return 'bool';
    case 'number':
      return 'f64';
    case 'micros':
      return 'Micros';
    case 'object':
      return 'Map<String, Value>';
    case 'integer':
      if (kind.size === 'huge') return 'u128';
      return kind.isUnsigned ? 'u64' : 'i64';
    case 'seconds':
      return 'Duration';
    case 'page size':
      return 'i32';
    case 'words':
    case 'struct':
      return kind.name;
    case 'list':
      return `Vec<${typeOf(kind.of)}>`;
  }
}

function attribute(
  { name: owner, fields, request }: Struct,
  { name, type, isOption, field }: Member,
): string {
  const { kind, from, isOptional } = field;
  const given = REQUESTS[owner];
  const isBody = fields.some((each) => each.from === 'body');
  const isDefaulted = given?.default === 'none' && !given.new!.includes(name);
  const parts = [
    name !== field.name && `rename = "${field.name}"`,
    kind.is === 'time' && 'with = "plain::optional_time"',
    kind.is === 'seconds' && 'with = "plain::optional_whole_seconds"',
    isDefaulted && 'default',
    from === 'path' && isBody && 'skip_serializing',
    isOption && 'skip_serializing_if = "Option::is_none"',
    request === 'POST' &&
      isOptional &&
      /^(?:Vec|String)\b/.test(full({ name, type, isOption, field })) &&
      `skip_serializing_if = "${type.replace(/<.*/, '')}::is_empty"`,
  ].filter(Boolean);
  return parts.length > 0 ? `#[serde(${parts.join(', ')})]\n` : '';
}

function emptyOf({ type, isOption }: Member): string {
  if (isOption) return 'None';
  if (type === 'String') return 'String::new()';
  if (type === 'Secret') return 'Secret::default()';
  return type.startsWith('Vec<') ? 'Vec::new()' : '0';
}

function writeBuilder(name: string, members: readonly Member[]): string {
  const [doc, ...taken] = REQUESTS[name]!.new!;
  const first = taken.map((each) => members.find((member) => member.name === each)!);
  const others = members.filter((each) => !first.includes(each));
  const values = first.map((each) =>
    IS_TEXT.test(each.type) ? `${each.name}: ${each.name}.into(),\n` : `${each.name},\n`,
  );
  const rest =
    REQUESTS[name]!.default === 'none'
      ? others.map((each) => `${each.name}: ${emptyOf(each)},\n`).join('')
      : others.length > 0
        ? '..Self::default()\n'
        : '';
  const made = first.length > 0 ? `Self {\n${values.join('')}${rest}}` : 'Self::default()';
  const parameters = first.map((each) => `${each.name}: ${taking(each)[0]}`).join(', ');
  return [
    `impl ${name} {\n`,
    `${docs(doc)}pub fn new(${parameters}) -> Self {\n${made}\n}\n`,
    ...others.map(writeSetter),
    '}\n',
  ].join('');
}

function writeSetter(member: Member): string {
  const { name, isOption, field } = member;
  const [type, convert] = taking(member);
  // A number is called by its unit.
  const parameter = field.kind.is === 'integer' && type === 'i64' ? name.split('_').at(-1)! : name;
  const value = parameter + convert;
  const set = `self.${name} = ${isOption ? `Some(${value})` : value};`;
  const doc = field.doc.replace(/(?:\. Absent|; absent|; empty: the first page).*$/, '');
  return `\n${docs(doc)}pub fn ${name}(mut self, ${parameter}: ${type}) -> Self {\n${set}\nself\n}\n`;
}

const IS_TEXT = /^(?:String|Secret)$/;

/** What a function takes for a member, and how that becomes its value. */
function taking({ type }: Member): readonly [type: string, convert: string] {
  if (IS_TEXT.test(type)) return [`impl Into<${type}>`, '.into()'];
  if (type === 'Vec<String>') {
    return ['impl IntoIterator<Item = impl Into<String>>', '.into_iter().map(Into::into).collect()'];
  }
  const [, item] = /^Vec<(.*)>$/.exec(type) ?? [];
  return item ? [`impl IntoIterator<Item = ${item}>`, '.into_iter().collect()'] : [type, ''];
}
