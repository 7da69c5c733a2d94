/** The examples of docs/control-plane-calls.md: a test compares them. */
import { Boxoffice, BoxofficeError, type Event } from '../src/backend/index.ts';

/** What an application does with events. */
export interface Application {
  forgetEverything(): void;
  handle(event: Event): Promise<void>;
  save(resumeToken: string): Promise<void>;
  topUp(): void;
}

export function connect(apiKey: string): Boxoffice {
  const boxoffice = new Boxoffice({
    url: 'https://boxoffice.example',
    controlUrl: 'https://control.example:443',
    apiKey,
  });
  return boxoffice;
}

export async function openRoom(boxoffice: Boxoffice): Promise<void> {
  await boxoffice.rooms.create({ room: 'lobby', policy: { maxParticipants: 50 } });
  await boxoffice.rooms.updatePolicy({ room: 'lobby', policy: { locked: true } });
}

export async function mint(boxoffice: Boxoffice, deviceThumbprint: string): Promise<string> {
  const { token } = await boxoffice.tokens.mint({
    room: 'lobby',
    username: 'Ann',
    deviceThumbprint,
    role: 'host',
  });
  return token;
}

export async function listParticipants(boxoffice: Boxoffice): Promise<string[]> {
  const names: string[] = [];
  for await (const { username } of boxoffice.participants.list({ room: 'lobby' })) {
    names.push(username);
  }
  return names;
}

export async function moderate(boxoffice: Boxoffice, deviceThumbprint: string): Promise<void> {
  await boxoffice.moderation.kick({
    room: 'lobby',
    username: 'bob',
    reason: 'noise',
    actor: { username: 'ann', deviceThumbprint },
  });
  await boxoffice.moderation.ban({ room: 'lobby', username: 'bob', ttlSeconds: 3600 });
}

export async function follow(
  boxoffice: Boxoffice,
  application: Application,
  resumeToken: string,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of boxoffice.rooms.watch({ resumeToken }, { signal })) {
    if (event.type === 'reset') application.forgetEverything();
    await application.handle(event);
    if (event.resumeToken) await application.save(event.resumeToken);
  }
}

export async function watch(boxoffice: Boxoffice): Promise<void> {
  await boxoffice.watchdogs.create({ room: 'lobby', emptyForSeconds: 600, action: 'end_room' });
}

export async function react(boxoffice: Boxoffice, application: Application): Promise<void> {
  try {
    await boxoffice.rooms.end({ room: 'lobby' });
  } catch (error) {
    if (!(error instanceof BoxofficeError)) throw error;
    if (error.kind === 'Closed') return; // It has ended already.
    if (error.reason === 'NO_CREDIT') application.topUp();
    else throw error;
  }
}
