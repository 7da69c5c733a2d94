/** `TokenService`. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Failure, invalidField } from '../../failure.ts';
import type { MintClientTokenRequest } from '../../gen/boxoffice/control/v1/token_service_pb.ts';
import { TokenService } from '../../gen/boxoffice/control/v1/token_service_pb.ts';
import { RANK_MAX } from '../../keys/key-ceiling.ts';
import { type MintRequest, mintClientToken } from '../../tokens/mint-client-token.ts';
import { TOKEN_SECONDS_MAX } from '../../tokens/participant-token.ts';
import {
  parseCapabilities,
  parseClientAddress,
  parseDurationMs,
  parseRole,
  parseRoomName,
  parseThumbprint,
  parseUsername,
} from './fields.ts';
import { type Methods, query } from './methods.ts';

const { method } = TokenService;

export const tokenMethods = {
  mintClientToken: query(method.mintClientToken, async ({ deps, caller }, request) => {
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
  }),
  createDeviceCredential: query(method.createDeviceCredential, async () => {
    throw new Failure('method_not_allowed');
  }),
  listDeviceCredentials: query(method.listDeviceCredentials, async () => {
    throw new Failure('method_not_allowed');
  }),
  rotateDeviceCredential: query(method.rotateDeviceCredential, async () => {
    throw new Failure('method_not_allowed');
  }),
  revokeDeviceCredential: query(method.revokeDeviceCredential, async () => {
    throw new Failure('method_not_allowed');
  }),
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
  };
}

function parseRank(rank: number | undefined): number | undefined {
  if (rank !== undefined && (rank < 0 || rank > RANK_MAX))
    throw invalidField('rank', `must be 0 to ${RANK_MAX}`);
  return rank;
}

/** Tokens count in whole seconds. */
function parseLifetime({ lifetime }: MintClientTokenRequest): number | undefined {
  const ms = parseDurationMs(lifetime, 'lifetime', { min: 1_000, max: TOKEN_SECONDS_MAX * 1000 });
  if (ms !== undefined && ms % 1000 !== 0) throw invalidField('lifetime', 'must be in whole seconds');
  return ms === undefined ? undefined : ms / 1000;
}
