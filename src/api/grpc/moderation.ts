/** `ModerationService`. */
import { Failure } from '../../failure.ts';
import { ModerationService } from '../../gen/boxoffice/control/v1/moderation_service_pb.ts';
import { type Methods, query } from './methods.ts';

const { method } = ModerationService;

export const moderationMethods = {
  kickParticipant: query(method.kickParticipant, async () => {
    throw new Failure('method_not_allowed');
  }),
  banSubject: query(method.banSubject, async () => {
    throw new Failure('method_not_allowed');
  }),
  unbanSubject: query(method.unbanSubject, async () => {
    throw new Failure('method_not_allowed');
  }),
  listBans: query(method.listBans, async () => {
    throw new Failure('method_not_allowed');
  }),
  forceMute: query(method.forceMute, async () => {
    throw new Failure('method_not_allowed');
  }),
  releaseMute: query(method.releaseMute, async () => {
    throw new Failure('method_not_allowed');
  }),
  revokePublish: query(method.revokePublish, async () => {
    throw new Failure('method_not_allowed');
  }),
  restorePublish: query(method.restorePublish, async () => {
    throw new Failure('method_not_allowed');
  }),
  closeRoom: query(method.closeRoom, async () => {
    throw new Failure('method_not_allowed');
  }),
  listModerationEvents: query(method.listModerationEvents, async () => {
    throw new Failure('method_not_allowed');
  }),
} satisfies Methods<typeof ModerationService>;
