/** `TokenService`. */
import {
  type CreateDeviceCredentialRequest,
  type MintClientTokenRequest,
  TokenService,
} from '@boxoffice/contract/token_service';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createCredential } from '../../access/devices/create-credential.ts';
import { type DeviceGrant, ROOM_PATTERNS_MAX } from '../../access/devices/device-credential.ts';
import { listCredentials } from '../../access/devices/list-credentials.ts';
import { revokeCredential } from '../../access/devices/revoke-credential.ts';
import { rotateCredential } from '../../access/devices/rotate-credential.ts';
import { isKeyId, KEY_NAME_LENGTH_MAX } from '../../access/keys/api-key.ts';
import { OVERLAP_SECONDS_DEFAULT, OVERLAP_SECONDS_MAX } from '../../access/keys/rotation-overlap.ts';
import { RANK_MAX } from '../../access/rights/key-ceiling.ts';
import { TOKEN_SECONDS_MAX } from '../../access/rights/token-lifetime.ts';
import { type Failure, invalidField } from '../../base/failure.ts';
import { type MintRequest, mintClientToken } from '../../control/admission/mint-client-token.ts';
import { parseCustomer } from '../../control/budgets/budget.ts';
import {
  parseCapabilities,
  parseClientAddress,
  parseOptionalRoomName,
  parsePageSize,
  parseRole,
  parseRoomName,
  parseRoomPattern,
  parseSeconds,
  parseText,
  parseThumbprint,
  parseTime,
  parseToken,
  parseTracks,
  parseUsername,
  renderToken,
} from './fields.ts';
import { command, type Methods, query } from './methods.ts';
import { renderDeviceCredential } from './render.ts';

const { method } = TokenService;

export const tokenMethods = {
  mintClientToken: query(
    method.mintClientToken,
    async ({ deps, caller }, request) => {
      const wanted = parseMint(request);
      const minted = await mintClientToken(deps, caller, wanted);
      return {
        token: minted.token,
        expireTime: timestampFromDate(minted.expiresAt),
        room: wanted.room,
        username: wanted.username,
        keyId: minted.kid,
        deviceThumbprint: wanted.thumbprint,
        roomUid: minted.roomUid,
        withheldCapabilities: [...minted.withheld],
      };
    },
    { isGathered: true },
  ),
  createDeviceCredential: command(
    method.createDeviceCredential,
    (request) => parseGrant(request),
    async (tx, { caller }, grant) => {
      const created = await createCredential(tx, caller, grant);
      if (!created) throw invalidField('expire_time', 'must be in the future');
      return {
        deviceCredential: renderDeviceCredential(created.credential),
        credential: created.plaintext,
      };
    },
  ),
  listDeviceCredentials: query(method.listDeviceCredentials, async ({ deps, tenant }, request) => {
    const size = parsePageSize(request.pageSize);
    const after = parseLastCredential(request.pageToken);
    const page = await listCredentials(deps.db, tenant, after, size);
    if (!page) throw noSuchPage();
    return {
      deviceCredentials: page.credentials.map(renderDeviceCredential),
      nextPageToken: page.end === undefined ? '' : renderToken([page.end]),
    };
  }),
  rotateDeviceCredential: command(
    method.rotateDeviceCredential,
    (request) => ({
      id: parseCredentialId(request.id),
      overlapSeconds:
        parseSeconds(request.overlap, 'overlap', { min: 0, max: OVERLAP_SECONDS_MAX }) ??
        OVERLAP_SECONDS_DEFAULT,
    }),
    async (tx, { caller }, { id, overlapSeconds }) => {
      const rotated = await rotateCredential(tx, caller, id, overlapSeconds);
      return {
        deviceCredential: renderDeviceCredential(rotated.credential),
        credential: rotated.plaintext,
        oldCredentialRetireTime: timestampFromDate(rotated.oldCredentialRetires),
      };
    },
  ),
  revokeDeviceCredential: command(
    method.revokeDeviceCredential,
    (request) => parseCredentialId(request.id),
    async (tx, { caller }, id) => ({
      deviceCredential: renderDeviceCredential(await revokeCredential(tx, caller, id)),
    }),
  ),
} satisfies Methods<typeof TokenService>;

function parseMint(request: MintClientTokenRequest): MintRequest {
  return {
    room: parseRoomName(request.room),
    username: parseUsername(request.username),
    thumbprint: parseThumbprint(request.deviceThumbprint),
    role: parseRole(request.role),
    capabilities: parseCapabilities(request.capabilities, 'capabilities'),
    rank: parseRank(request.rank),
    lifetimeSeconds: parseLifetime(request),
    ageVerified: request.ageVerified,
    address: parseClientAddress(request.clientAddress),
    customer: parseCustomer(request.customer),
  };
}

function parseRank(rank: number | undefined): number | undefined {
  if (rank !== undefined && (rank < 0 || rank > RANK_MAX))
    throw invalidField('rank', `must be 0 to ${RANK_MAX}`);
  return rank;
}

function parseLifetime({ lifetime }: MintClientTokenRequest): number | undefined {
  return parseSeconds(lifetime, 'lifetime', { min: 1, max: TOKEN_SECONDS_MAX });
}

function parseGrant(request: CreateDeviceCredentialRequest): DeviceGrant {
  const { rooms } = request;
  if (request.name === '') throw invalidField('name', 'is required');
  if (rooms.length > ROOM_PATTERNS_MAX)
    throw invalidField('rooms', `must not be more than ${ROOM_PATTERNS_MAX}`);
  return {
    name: parseText(request.name, 'name', KEY_NAME_LENGTH_MAX),
    publish: parseTracks(request.publish, 'publish'),
    rooms: rooms.length === 0 ? null : rooms.map((room, at) => parseRoomPattern(room, `rooms[${at}]`)),
    defaultRoom: parseOptionalRoomName(request.defaultRoom, 'default_room') ?? null,
    expiresAt: parseTime(request.expireTime, 'expire_time') ?? null,
  };
}

function parseCredentialId(id: string): string {
  if (id === '') throw invalidField('id', 'is required');
  if (!isKeyId(id)) throw invalidField('id', 'must be 16 hex characters');
  return id;
}

/** The last credential of the previous page. */
function parseLastCredential(token: string): string | undefined {
  const parts = parseToken(token);
  if (parts && (parts.length !== 1 || !isKeyId(parts[0]!))) throw noSuchPage();
  return parts?.[0];
}

function noSuchPage(): Failure {
  return invalidField('page_token', 'must be one that an answer gave');
}
