/** `ParticipantService`. */
import { Failure } from '../../failure.ts';
import { ParticipantService } from '../../gen/boxoffice/control/v1/participant_service_pb.ts';
import { type Methods, query } from './methods.ts';

const { method } = ParticipantService;

export const participantMethods = {
  getParticipant: query(method.getParticipant, async () => {
    throw new Failure('method_not_allowed');
  }),
  listParticipants: query(method.listParticipants, async () => {
    throw new Failure('method_not_allowed');
  }),
  watchParticipants: query(method.watchParticipants as never, async () => {
    throw new Failure('method_not_allowed');
  }),
} satisfies Methods<typeof ParticipantService>;
