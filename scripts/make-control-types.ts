/**
 * Makes the types of the control plane for the SDK out of the contract, with its comments.
 *
 *     node scripts/make-control-types.ts    sdk/typescript/src/backend/control-types.ts
 *
 * The types equal those that `plain.ts` derives from the compiled contract, which a test holds. Derived types lose
 * the comments of their fields, and editors show them as expressions.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import {
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromBinary,
  ScalarType,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { readComment, wrap } from './contract-comments.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const TYPES_URL = new URL('../sdk/typescript/src/backend/control-types.ts', import.meta.url);
const PACKAGE = 'boxoffice.control.v1.';

/** Messages in answers, and their names in the SDK. The messages inside of them follow. */
const ANSWERS: Readonly<Record<string, string>> = {
  Room: 'Room',
  Participant: 'Participant',
  Ban: 'Ban',
  ModerationEvent: 'ModerationEvent',
  Watchdog: 'Watchdog',
  DeviceCredential: 'DeviceCredential',
  Event: 'Event',
  MintClientTokenResponse: 'MintedToken',
};

/** Requests, and the fields that must be given. */
const REQUESTS: Readonly<Record<string, readonly string[]>> = {
  CreateRoomRequest: ['room'],
  GetRoomRequest: [],
  ListRoomsRequest: [],
  UpdateRoomPolicyRequest: ['room', 'policy'],
  EndRoomRequest: ['room'],
  WatchEventsRequest: [],
  ListEventsRequest: [],
  GetParticipantRequest: ['username'],
  ListParticipantsRequest: [],
  WatchParticipantsRequest: ['room'],
  KickParticipantRequest: ['room', 'username'],
  BanSubjectRequest: [],
  UnbanSubjectRequest: [],
  ListBansRequest: [],
  ForceMuteRequest: ['room', 'username', 'tracks'],
  ReleaseMuteRequest: ['room', 'username', 'tracks'],
  RevokePublishRequest: ['room', 'username', 'tracks'],
  RestorePublishRequest: ['room', 'username', 'tracks'],
  CloseRoomRequest: ['room'],
  ListModerationEventsRequest: [],
  MintClientTokenRequest: ['room', 'username', 'deviceThumbprint'],
  CreateDeviceCredentialRequest: ['name', 'publish'],
  ListDeviceCredentialsRequest: [],
  RotateDeviceCredentialRequest: ['id'],
  RevokeDeviceCredentialRequest: ['id'],
  GetWatchdogRequest: ['id'],
  ListWatchdogsRequest: [],
  DeleteWatchdogRequest: ['id'],
};

/** Messages in requests whose fields methods of the SDK take one by one. */
const INPUTS = ['Watchdog', 'Actor'];

/** What the client fills in. */
const FILLED_IN = ['tenant', 'idempotencyKey', 'updateMask'];

const SCALARS: { readonly [Type in ScalarType]?: string } = {
  [ScalarType.STRING]: 'string',
  [ScalarType.BOOL]: 'boolean',
  [ScalarType.INT32]: 'number',
  [ScalarType.INT64]: 'bigint',
  [ScalarType.UINT64]: 'bigint',
};

/** The text of `control-types.ts`. */
export function makeControlTypes(): string {
  const image = execFileSync('buf', ['build', 'proto', '-o', '-'], { cwd: ROOT, maxBuffer: 2 ** 26 });
  const text = new Writer(createFileRegistry(fromBinary(FileDescriptorSetSchema, image))).write();
  const options = ['format', '--stdin-file-path=control-types.ts'];
  return execFileSync('biome', options, { cwd: ROOT, input: text, encoding: 'utf8' });
}

class Writer {
  readonly #registry: ReturnType<typeof createFileRegistry>;
  readonly #written = new Map<string, string>();
  /** Names of fields in the contract, and here. */
  readonly #renamed = new Map<string, string>();

  constructor(registry: ReturnType<typeof createFileRegistry>) {
    this.#registry = registry;
    for (const desc of registry) {
      if (desc.kind !== 'message') continue;
      for (const field of desc.fields) this.#renamed.set(field.name, nameOf(field));
    }
  }

  write(): string {
    for (const name of Object.keys(ANSWERS)) this.#answer(this.#get(name));
    for (const name of INPUTS) this.#input(this.#get(name));
    for (const [name, required] of Object.entries(REQUESTS)) this.#request(this.#get(name), required);
    const head =
      '/** Messages of the control plane. Made by scripts/make-control-types.ts; not to be edited. */\n';
    return [head, ...this.#written.values()].join('\n');
  }

  #get(name: string): DescMessage {
    const message = this.#registry.getMessage(PACKAGE + name);
    if (!message) throw new Error(`the contract has no ${name}`);
    return message;
  }

  #answer(message: DescMessage): string {
    const name = ANSWERS[message.name] ?? message.name;
    this.#interface(name, message, message.fields, (field) => {
      const optional = field.oneof || field.fieldKind === 'message' || isOptional(field) ? '?' : '';
      return `${nameOf(field)}${optional}: ${this.#type(field, (each) => this.#answer(each), true)}`;
    });
    return name;
  }

  #input(message: DescMessage): string {
    const name = `${message.name}Input`;
    this.#interface(name, message, message.fields, (field) => this.#given(field, false));
    return name;
  }

  #request(message: DescMessage, required: readonly string[]): void {
    const fields = message.fields.filter((field) => !FILLED_IN.includes(field.localName));
    this.#interface(message.name, message, fields, (field) =>
      this.#given(field, required.includes(nameOf(field))),
    );
  }

  #given(field: DescField, isRequired: boolean): string {
    const type = this.#type(field, (each) => this.#input(each), false);
    const readonlyType = field.fieldKind === 'list' ? `readonly ${type}` : type;
    return `readonly ${nameOf(field)}${isRequired ? '' : '?'}: ${readonlyType}${isRequired ? '' : ' | undefined'}`;
  }

  #interface(
    name: string,
    message: DescMessage,
    fields: readonly DescField[],
    render: (field: DescField) => string,
  ): void {
    if (this.#written.has(name)) return;
    this.#written.set(name, '');
    const lines = fields.map((field) => `${this.#comment(field, '  ')}  ${render(field)};\n`);
    const doc = this.#comment(message, '');
    if (fields.length === 0) {
      this.#written.set(name, `${doc}export type ${name} = object;\n`);
      return;
    }
    this.#written.set(name, `${doc}export interface ${name} {\n${lines.join('')}}\n`);
  }

  #type(field: DescField, nested: (message: DescMessage) => string, isAnswer: boolean): string {
    const item = this.#itemType(field, nested, isAnswer);
    if (field.fieldKind !== 'list') return item;
    return item.includes('|') ? `(${item})[]` : `${item}[]`;
  }

  #itemType(field: DescField, nested: (message: DescMessage) => string, isAnswer: boolean): string {
    if (field.enum) return [...wordsOf(field.enum), ...(isAnswer ? ["'unknown'"] : [])].join(' | ');
    if (!field.message) {
      const scalar = SCALARS[field.scalar!];
      if (!scalar) throw new Error(`there is no type for ${field}`);
      return scalar;
    }
    switch (field.message.typeName) {
      case 'google.protobuf.Timestamp':
        return 'Date';
      case 'google.protobuf.Duration':
        return 'number';
      default:
        return nested(field.message);
    }
  }

  #comment(desc: DescMessage | DescField, indent: string): string {
    const text = readComment(desc)
      .replace(/`([a-z]\w*_\w+)`/g, (all, name) =>
        this.#renamed.has(name) ? `\`${this.#renamed.get(name)}\`` : all,
      )
      .replaceAll('*/', '* /');
    if (text === '') throw new Error(`${desc} has no comment`);
    const line = `${indent}/** ${text} */\n`;
    if (line.length <= 110) return line;
    const lines = wrap(text, 106 - indent.length).map((each) => `${indent} * ${each}\n`);
    return `${indent}/**\n${lines.join('')}${indent} */\n`;
  }
}

/** As `plain.ts` names it. */
function nameOf(field: DescField): string {
  return field.message?.typeName === 'google.protobuf.Duration'
    ? `${field.localName}Seconds`
    : field.localName;
}

function isOptional(field: DescField): boolean {
  return field.proto.proto3Optional;
}

function wordsOf(desc: DescEnum): string[] {
  return desc.values
    .filter(({ number }) => number !== 0)
    .map(({ localName }) => `'${localName.toLowerCase()}'`);
}

if (import.meta.main) writeFileSync(TYPES_URL, makeControlTypes());
