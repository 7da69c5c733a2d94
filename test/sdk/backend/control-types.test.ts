/** The types of the control plane in the SDK are those of the contract, with its comments. */
import { readFile } from 'node:fs/promises';
import type * as actor from '@boxoffice/contract/actor';
import type * as deviceCredential from '@boxoffice/contract/device_credential';
import type * as event from '@boxoffice/contract/event';
import type * as moderation from '@boxoffice/contract/moderation';
import type * as moderationService from '@boxoffice/contract/moderation_service';
import type * as participant from '@boxoffice/contract/participant';
import type * as participantService from '@boxoffice/contract/participant_service';
import type * as room from '@boxoffice/contract/room';
import type * as roomService from '@boxoffice/contract/room_service';
import type * as tokenService from '@boxoffice/contract/token_service';
import type * as watchdog from '@boxoffice/contract/watchdog';
import type * as watchdogService from '@boxoffice/contract/watchdog_service';
import { expect, test } from 'vitest';
import { makeControlTypes } from '../../../scripts/make-control-types.ts';
import type * as sdk from '../../../sdk/typescript/src/backend/control-types.ts';
import type { Input, Plain, Request } from '../../../sdk/typescript/src/backend/plain.ts';

/** Each can stand where the other can. */
type Same<One, Other> = [One, Other] extends [Other, One] ? true : false;

test('the types in the SDK are made from the contract', async () => {
  const file = new URL('../../../sdk/typescript/src/backend/control-types.ts', import.meta.url);
  expect(await readFile(file, 'utf8')).toBe(makeControlTypes());
});

test('they are the types that follow from the compiled contract, which the client converts to', () => {
  // The compiler decides: a type that differs makes its `true` an error.
  const same: [
    Same<Plain<room.Room>, sdk.Room>,
    Same<Plain<participant.Participant>, sdk.Participant>,
    Same<Plain<moderation.Ban>, sdk.Ban>,
    Same<Plain<moderation.ModerationEvent>, sdk.ModerationEvent>,
    Same<Plain<watchdog.Watchdog>, sdk.Watchdog>,
    Same<Plain<deviceCredential.DeviceCredential>, sdk.DeviceCredential>,
    Same<Plain<event.Event>, sdk.Event>,
    Same<Plain<tokenService.MintClientTokenResponse>, sdk.MintedToken>,
    Same<Input<watchdog.Watchdog>, sdk.WatchdogInput>,
    Same<Input<actor.Actor>, sdk.ActorInput>,
    Same<Request<roomService.CreateRoomRequest, 'room'>, sdk.CreateRoomRequest>,
    Same<Request<roomService.GetRoomRequest>, sdk.GetRoomRequest>,
    Same<Request<roomService.ListRoomsRequest>, sdk.ListRoomsRequest>,
    Same<Request<roomService.UpdateRoomPolicyRequest, 'room' | 'policy'>, sdk.UpdateRoomPolicyRequest>,
    Same<Request<roomService.EndRoomRequest, 'room'>, sdk.EndRoomRequest>,
    Same<Request<roomService.WatchEventsRequest>, sdk.WatchEventsRequest>,
    Same<Request<roomService.ListEventsRequest>, sdk.ListEventsRequest>,
    Same<Request<participantService.GetParticipantRequest, 'username'>, sdk.GetParticipantRequest>,
    Same<Request<participantService.ListParticipantsRequest>, sdk.ListParticipantsRequest>,
    Same<Request<participantService.WatchParticipantsRequest, 'room'>, sdk.WatchParticipantsRequest>,
    Same<Request<moderationService.KickParticipantRequest, 'room' | 'username'>, sdk.KickParticipantRequest>,
    Same<Request<moderationService.BanSubjectRequest>, sdk.BanSubjectRequest>,
    Same<Request<moderationService.UnbanSubjectRequest>, sdk.UnbanSubjectRequest>,
    Same<Request<moderationService.ListBansRequest>, sdk.ListBansRequest>,
    Same<Request<moderationService.ForceMuteRequest, 'room' | 'username' | 'tracks'>, sdk.ForceMuteRequest>,
    Same<
      Request<moderationService.ReleaseMuteRequest, 'room' | 'username' | 'tracks'>,
      sdk.ReleaseMuteRequest
    >,
    Same<
      Request<moderationService.RevokePublishRequest, 'room' | 'username' | 'tracks'>,
      sdk.RevokePublishRequest
    >,
    Same<
      Request<moderationService.RestorePublishRequest, 'room' | 'username' | 'tracks'>,
      sdk.RestorePublishRequest
    >,
    Same<Request<moderationService.CloseRoomRequest, 'room'>, sdk.CloseRoomRequest>,
    Same<Request<moderationService.ListModerationEventsRequest>, sdk.ListModerationEventsRequest>,
    Same<
      Request<tokenService.MintClientTokenRequest, 'room' | 'username' | 'deviceThumbprint'>,
      sdk.MintClientTokenRequest
    >,
    Same<
      Request<tokenService.CreateDeviceCredentialRequest, 'name' | 'publish'>,
      sdk.CreateDeviceCredentialRequest
    >,
    Same<Request<tokenService.ListDeviceCredentialsRequest>, sdk.ListDeviceCredentialsRequest>,
    Same<Request<tokenService.RotateDeviceCredentialRequest, 'id'>, sdk.RotateDeviceCredentialRequest>,
    Same<Request<tokenService.RevokeDeviceCredentialRequest, 'id'>, sdk.RevokeDeviceCredentialRequest>,
    Same<Request<watchdogService.GetWatchdogRequest, 'id'>, sdk.GetWatchdogRequest>,
    Same<Request<watchdogService.ListWatchdogsRequest>, sdk.ListWatchdogsRequest>,
    Same<Request<watchdogService.DeleteWatchdogRequest, 'id'>, sdk.DeleteWatchdogRequest>,
  ] = [
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
    true,
  ];
  expect(same).toHaveLength(38);
});
