/** `ParticipantService`. */
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { invalidField } from '../../base/failure.ts';
import { readPage } from '../../base/lib/page.ts';
import { getParticipant } from '../../control/rooms/get-participant.ts';
import { listParticipants, type RosterRequest } from '../../control/rooms/list-participants.ts';
import { watchParticipants } from '../../control/streams/watch-participants.ts';
import { parseResumeToken, renderItem } from './events.ts';
import {
  parseActor,
  parseId,
  parsePageSize,
  parseRoomName,
  parseRoomReference,
  parseToken,
  parseUsername,
  renderToken,
} from './fields.ts';
import { type Methods, query, stream } from './methods.ts';
import { renderParticipant } from './render.ts';

const { method } = ParticipantService;

export const participantMethods = {
  getParticipant: query(method.getParticipant, async ({ deps, tenant }, request) => {
    const wanted = {
      room: parseRoomReference(request),
      username: parseUsername(request.username),
      actor: parseActor(request.actor),
    };
    return { participant: renderParticipant(await getParticipant(deps.db, tenant, wanted)) };
  }),
  listParticipants: query(method.listParticipants, async ({ deps, tenant }, request) => {
    const size = parsePageSize(request.pageSize);
    const filter = {
      room: parseRoomReference(request),
      after: parsePosition(request.pageToken),
      actor: parseActor(request.actor),
      includeLeft: request.includeLeft,
    };
    const read = async (limit: number) =>
      (await listParticipants(deps.db, tenant, { ...filter, limit })).participants;
    const { items, end } = await readPage(size, read);
    return {
      participants: items.map(renderParticipant),
      nextPageToken: end ? renderToken([end.roomUid, end.username]) : '',
    };
  }),
  watchParticipants: stream(method.watchParticipants, async ({ deps, caller, signal }, request, send) => {
    const actor = parseActor(request.actor);
    // A stream for an actor leaves out participants that are hidden from the actor.
    const scope = [request.tenant, request.room, 'participants', actor?.username ?? ''];
    const watching = {
      room: parseRoomName(request.room),
      after: parseResumeToken(request.resumeToken, scope),
      actor,
      signal,
    };
    await watchParticipants(deps, caller, watching, (item) => send(renderItem(item, scope)));
  }),
} satisfies Methods<typeof ParticipantService>;

/** The last participant of the previous page. */
function parsePosition(token: string): RosterRequest['after'] {
  const parts = parseToken(token);
  if (!parts) return undefined;
  const [uid = '', username = ''] = parts;
  if (parts.length !== 2) throw invalidField('page_token', 'must be one that an answer gave');
  return { roomUid: parseId(uid, 'rm', 'page_token'), username };
}
