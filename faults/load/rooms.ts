/** Back ends that run rooms over gRPC: few rooms and few users, so that what they do meets. */
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { Watchdog_Action } from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import type { Client } from './client.ts';
import { kind } from './kind.ts';

const ROLES = { host: 3, audience: 1, broadcast_audience: 1 };
const DEVICES = [
  'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  '-1_DS8bkOrZM7o65A7f83rSgtPI9k9bvrgdYyLCfWiU',
];

const WEIGHTS = {
  create: 2,
  get: 4,
  end: 1.5,
  mint: 8,
  kick: 2,
  ban: 0.8,
  unban: 0.8,
  'ban device': 0.4,
  'unban device': 1.2,
  list: 2,
  watchdog: 1.2,
};

interface Step {
  readonly action: keyof typeof WEIGHTS;
  readonly service: number;
  readonly room: string;
  readonly username: string;
  readonly device: string;
  readonly role: string;
  readonly seconds: number;
  readonly endsRoom: boolean;
}

export const rooms = kind<Step>({
  name: 'rooms',
  clients: 2,
  pauseSeconds: 0.35,
  draw: (random) => ({
    action: random.weighted(WEIGHTS),
    service: random.integer(0, 1),
    room: `r${random.integer(0, 3)}`,
    username: `u${random.integer(0, 7)}`,
    device: random.pick(DEVICES),
    role: random.weighted(ROLES),
    seconds: random.integer(2, 20),
    endsRoom: random.chance(0.7),
  }),
  open: async (client) => async (step) => {
    // The same in each repetition of this step.
    const idempotencyKey = client.newIdempotencyKey();
    await client.insist(step.service, (service) =>
      ACTIONS[step.action](client, step, service, idempotencyKey),
    );
  },
});

type Act = (
  client: Client,
  step: Step,
  service: number,
  idempotencyKey: string,
) => Promise<{ readonly outcome: 'ok' | 'refused' | 'unknown' }>;

const ACTIONS: Readonly<Record<Step['action'], Act>> = {
  create: (client, { room }, service, idempotencyKey) =>
    client.call('room.create', { room }, RoomService.method.createRoom, { room, idempotencyKey }, service),
  get: (client, { room }, service) =>
    client.call('room.get', { room }, RoomService.method.getRoom, { room }, service),
  end: (client, { room }, service, idempotencyKey) =>
    client.call('room.end', { room }, RoomService.method.endRoom, { room, idempotencyKey }, service),
  mint: (client, { room, username, device, role }, service) =>
    client.call(
      'mint',
      { room, username, device, role },
      TokenService.method.mintClientToken,
      { room, username, deviceThumbprint: device, role },
      service,
    ),
  kick: (client, { room, username }, service, idempotencyKey) =>
    client.call(
      'kick',
      { room, username },
      ModerationService.method.kickParticipant,
      { room, username, reason: 'a fault', idempotencyKey },
      service,
    ),
  ban: (client, { room, username }, service, idempotencyKey) =>
    client.call(
      'ban',
      { room, username },
      ModerationService.method.banSubject,
      { room, subject: { case: 'username', value: username }, idempotencyKey },
      service,
    ),
  unban: (client, { room, username }, service, idempotencyKey) =>
    client.call(
      'unban',
      { room, username },
      ModerationService.method.unbanSubject,
      { room, subject: { case: 'username', value: username }, idempotencyKey },
      service,
    ),
  'ban device': (client, { room, device }, service, idempotencyKey) =>
    client.call(
      'ban.device',
      { room, device },
      ModerationService.method.banSubject,
      { room, subject: { case: 'deviceThumbprint', value: device }, idempotencyKey },
      service,
    ),
  'unban device': (client, { room, device }, service, idempotencyKey) =>
    client.call(
      'unban.device',
      { room, device },
      ModerationService.method.unbanSubject,
      { room, subject: { case: 'deviceThumbprint', value: device }, idempotencyKey },
      service,
    ),
  list: (client, { room }, service) =>
    client.call('participants.list', { room }, ParticipantService.method.listParticipants, { room }, service),
  watchdog: (client, { room, seconds, endsRoom }, service, idempotencyKey) =>
    client.call(
      'watchdog.set',
      { room, seconds, action: endsRoom ? 'end_room' : 'notify' },
      WatchdogService.method.createWatchdog,
      {
        watchdog: {
          room,
          condition: { case: 'maxDuration', value: { seconds: BigInt(seconds) } },
          action: endsRoom ? Watchdog_Action.END_ROOM : Watchdog_Action.NOTIFY,
        },
        idempotencyKey,
      },
      service,
    ),
};
