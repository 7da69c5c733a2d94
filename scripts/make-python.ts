/**
 * Makes what the SDK for Python has of the contract, of the REST interface and of the schemas of events, and its client
 * without `async` out of the one with it.
 *
 *     node scripts/make-python.ts       sdk/python/src/boxoffice/types.py
 *                                       sdk/python/src/boxoffice/_contract.binpb
 *                                       sdk/python/src/boxoffice/_sync
 *
 * It runs `buf`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import {
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { readComment } from './contract-comments.ts';
import { describeRest } from './describe-rest.ts';
import { SERVICES } from './error-table.ts';
import { ENUMS } from './make-go-types.ts';
import { makeEventModel } from './rest-structs/event-model.ts';
import { makeModel } from './rest-structs/model.ts';
import {
  dataclass,
  type PythonField,
  request,
  words,
  writePython,
  writePythonEvents,
} from './rest-structs/python.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const FOLDER = 'sdk/python/src/boxoffice';
const PACKAGE = 'boxoffice.control.v1.';

/** Answers that are a type of the SDK as they are. Others hold one thing, or a page. */
const ANSWERS: Readonly<Record<string, string>> = {
  MintClientTokenResponse: 'MintedToken',
  KickParticipantResponse: 'Moderated',
  BanSubjectResponse: 'Banned',
  CloseRoomResponse: 'ClosedRoom',
  CreateDeviceCredentialResponse: 'CreatedCredential',
  RotateDeviceCredentialResponse: 'RotatedCredential',
  ListEventsResponse: 'ListedEvents',
};

/** Other names than in the contract, which has them inside of another message. */
const NAMES: Readonly<Record<string, string>> = { 'Participant.Device': 'Device', ...ANSWERS };

/** Requests with a message inside whose fields stand beside the others, and those that they take. */
const TIMINGS = [
  ...['max_duration', 'unused_for', 'empty_for', 'host_absent_for', 'alone_for'],
  ...['participant_max_duration', 'unadmitted_for', 'warn_before', 'action'],
];
const FLAT: Readonly<Record<string, readonly string[]>> = {
  CreateWatchdog: ['room', ...TIMINGS],
  UpdateWatchdog: ['id', ...TIMINGS],
};

/** What a request is nothing without. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  CreateRoom: ['room'],
  UpdateRoomPolicy: ['room', 'policy'],
  EndRoom: ['room'],
  GetParticipant: ['username'],
  WatchParticipants: ['room'],
  KickParticipant: ['room', 'username'],
  ForceMute: ['room', 'username', 'tracks'],
  ReleaseMute: ['room', 'username', 'tracks'],
  RevokePublish: ['room', 'username', 'tracks'],
  RestorePublish: ['room', 'username', 'tracks'],
  CloseRoom: ['room'],
  MintClientToken: ['room', 'username', 'device_thumbprint'],
  CreateDeviceCredential: ['name', 'publish'],
  RotateDeviceCredential: ['id'],
  RevokeDeviceCredential: ['id'],
  GetWatchdog: ['id'],
  DeleteWatchdog: ['id'],
  CreateWatchdog: ['room', 'action'],
  UpdateWatchdog: ['id'],
};

/** What the client fills in. */
const FILLED_IN = ['tenant', 'idempotency_key', 'update_mask'];
const SECRETS = ['token', 'credential'];
const WORDS: Readonly<Record<string, string>> = { role: 'Role', tier: 'Tier' };
const SCALARS = ['', 'float', 'float', 'int', 'int', 'int', 'int', 'int', 'bool', 'str'];

const HEAD = `# Made by scripts/make-python.ts from proto/boxoffice/control/v1, src/doors/rest and src/outward/events. Not to be edited.
"""What requests take, and what answers have.

Requests are keywords of methods. Answers are dataclasses: what is absent in them is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias, Union

from typing_extensions import Required, TypedDict

from boxoffice.secret import Secret


class CallOptions(TypedDict, total=False):
    """Options of every call."""

    timeout: float
    """Seconds that the call may take, with all its attempts. Default: that of the client."""

    attempt_timeout: float
    """Seconds that each attempt may take. Default: that of the client."""


class MutationOptions(CallOptions, total=False):
    """Options of calls that change something."""

    idempotency_key: str
    """1 to 128 visible ASCII characters; REST takes up to 255. Within 24 hours, the same key returns the first answer
    without a second effect. Default: a random key for each call, the same for all its attempts.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """An amount of money."""

    micros: int
    """Millionths of a US dollar."""

    display: str
    """The same for people, such as \`-$0.000009\`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Nothing:
    """An answer that has nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ResentEvents:
    """What was given up and is sent again."""

    webhook: Webhook
    """The webhook, with how many events are put aside now."""

    resent: int
    """How many events that were given up are sent again."""

    more: bool
    """Others stay given up, because no more events may be put aside. Ask again later."""
`;

/** What each file holds, by its path in the repository. */
export async function makePython(): Promise<Record<string, string | Uint8Array>> {
  const build = (...args: string[]) =>
    execFileSync('buf', ['build', 'proto', ...args, '-o', '-'], { cwd: ROOT, maxBuffer: 2 ** 26 });
  const parts = [
    HEAD,
    ...writePython(makeModel(await describeRest())),
    ...writeControl(createFileRegistry(fromBinary(FileDescriptorSetSchema, build()))),
    ...writePythonEvents(makeEventModel()),
  ];
  const sync = ['calls', 'client', 'control', 'reporter', 'rest', 'services'].map((name) => {
    const text = readFileSync(new URL(`../${FOLDER}/_async/${name}.py`, import.meta.url), 'utf8');
    return [`${FOLDER}/_sync/${name}.py`, withoutAsync(text)] as const;
  });
  return {
    [`${FOLDER}/types.py`]: parts.join('\n\n'),
    [`${FOLDER}/_contract.binpb`]: build('--as-file-descriptor-set', '--exclude-source-info'),
    ...Object.fromEntries(sync),
  };
}

/** Words of the client that waits for nothing else, and of the one that waits. */
function withoutAsync(text: string): string {
  const made = text
    .replace(/\basync (?=def|for|with)/g, '')
    .replace(/\bawait /g, '')
    .replace(/\bAsyncGenerator\[(\w+), None\]/g, 'Generator[$1, None, None]')
    .replace(/\bAsync(?=[A-Z])/g, '')
    .replace(/\bAwaitable\[(\w+(?:\[\w+\])?)\]/g, '$1')
    .replace(/\bAwaitable, /g, '')
    .replace(/__a(?=enter__|exit__|iter__)/g, '__')
    .replaceAll('_async', '_sync');
  return `# Made by scripts/make-python.ts from _async. Not to be edited.\n${made}`;
}

type Registry = ReturnType<typeof createFileRegistry>;

/** Types of the control plane. */
function writeControl(registry: Registry): string[] {
  const get = (name: string) => {
    const message = registry.getMessage(PACKAGE + name);
    if (!message) throw new Error(`the contract has no ${name}`);
    return message;
  };
  const enums = Object.entries(ENUMS).map(([name, [type, , doc]]) => {
    const desc = registry.getEnum(PACKAGE + name);
    if (!desc) throw new Error(`the contract has no ${name}`);
    return words(type, doc[0]!.toUpperCase() + doc.slice(1), wordsOf(desc));
  });
  const answers = reachable(['Room', 'Participant', 'Watchdog', 'Event', ...Object.keys(ANSWERS)].map(get));
  const requests = SERVICES.filter(({ name }) => name !== 'BudgetService').flatMap(({ methods }) =>
    methods.map(({ input }) => get(input.name)),
  );
  return [
    ...enums,
    ...answers.map((desc) => dataclass(nameOf(desc), readComment(desc), desc.fields.map(answered))),
    dataclass(
      'WatchedEvent',
      'An event, and where to go on after it',
      [
        {
          name: 'resume_token',
          doc: 'Store it to go on after this event. Empty inside of a snapshot, which cannot be resumed',
          type: 'str',
          isOptional: false,
        },
      ],
      'Event',
    ),
    ...['Actor', 'RoomPolicy'].map((name) => {
      const desc = get(name);
      const fields = desc.fields.map((field) => ({ ...given(field), isOptional: true }));
      return request(name === 'Actor' ? name : `${name}Input`, readComment(desc), fields, 'TypedDict');
    }),
    ...requests.map((desc) => writeRequest(desc, get('Watchdog'))),
  ];
}

function writeRequest(desc: DescMessage, watchdog: DescMessage): string {
  const name = desc.name.replace(/Request$/, '');
  const inner = watchdog.fields.filter((field) => FLAT[name]?.includes(field.name));
  const outer = desc.fields.filter((field) => !FILLED_IN.includes(field.name) && field.name !== 'watchdog');
  const fields = [...inner, ...outer].map((field) => ({
    ...given(field),
    isOptional: !REQUIRED[name]?.includes(field.name),
  }));
  const isChange = desc.fields.some((field) => field.name === 'idempotency_key');
  return request(name, readComment(desc), fields, isChange ? 'MutationOptions' : 'CallOptions');
}

/** Messages, and those that they hold, which come first. */
function reachable(messages: readonly DescMessage[]): DescMessage[] {
  const found = new Set<DescMessage>();
  const visit = (desc: DescMessage) => {
    if (found.has(desc) || !desc.typeName.startsWith(PACKAGE)) return;
    for (const { message } of desc.fields) if (message) visit(message);
    found.add(desc);
  };
  for (const each of messages) visit(each);
  return [...found];
}

/** The REST interface has other keys, with other members. */
function nameOf(desc: DescMessage): string {
  const name = desc.typeName.slice(PACKAGE.length);
  return NAMES[name] ?? name;
}

function wordsOf(desc: DescEnum): string[] {
  const shared = desc.values[0]!.name.replace(/UNSPECIFIED$/, '');
  return desc.values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => name.slice(shared.length).toLowerCase());
}

function answered(desc: DescField): PythonField {
  const type = desc.fieldKind === 'list' ? `list[${itemOf(desc, false)}]` : itemOf(desc, false);
  // What a method answers is there; what it did may have been done before, so that there is no event.
  const isThere = desc.parent.name in ANSWERS && desc.name !== 'event';
  const isOptional = desc.fieldKind !== 'list' && desc.presence !== 2 && !isThere;
  return { name: desc.name, doc: readComment(desc), type, isOptional };
}

function given(desc: DescField): Omit<PythonField, 'isOptional'> {
  const type = desc.fieldKind === 'list' ? `Sequence[${itemOf(desc, true)}]` : itemOf(desc, true);
  return { name: desc.name, doc: readComment(desc), type };
}

function itemOf(desc: DescField, isRequest: boolean): string {
  if (desc.enum) return ENUMS[desc.enum.typeName.slice(PACKAGE.length)]![0];
  if (WORDS[desc.name]) return WORDS[desc.name]!;
  switch (desc.message?.typeName) {
    case undefined:
      return SECRETS.includes(desc.name) ? 'Secret' : scalarOf(desc);
    case 'google.protobuf.Timestamp':
      return 'datetime';
    case 'google.protobuf.Duration':
      return 'timedelta';
    case `${PACKAGE}RoomPolicy`:
      return isRequest ? 'RoomPolicyInput' : 'RoomPolicy';
    default:
      return nameOf(desc.message!);
  }
}

/** Scalars have the numbers of the types of descriptors. */
function scalarOf({ scalar, name }: DescField): string {
  const type = scalar === 13 ? 'int' : SCALARS[scalar ?? 0];
  if (!type) throw new Error(`there is no type for ${name}`);
  return type;
}

if (import.meta.main) {
  for (const [path, content] of Object.entries(await makePython())) {
    writeFileSync(new URL(`../${path}`, import.meta.url), content);
  }
}
