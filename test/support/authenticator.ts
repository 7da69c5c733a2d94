/**
 * An authenticator in software, as a browser with one answers. A test can make it lie about whatever a server verifies.
 *
 * Source of the formats: W3C, "Web Authentication", sections 6.1 and 6.5.
 */
import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto';

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256' | 'ES384';

/** What an answer says otherwise than it should. */
export interface Lie {
  readonly origin?: string;
  readonly party?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly crossOrigin?: boolean;
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  readonly counter?: number;
  /** The id of the credential, outside of what is signed. */
  readonly id?: string;
  /** The handle of the person; empty: it says none. */
  readonly handle?: string;
  /** Changes a bit of what was signed. */
  readonly isForged?: boolean;
  /** Says of what make the authenticator is, which was not asked for. */
  readonly attestation?: { readonly format: string; readonly certificate?: Buffer };
}

// biome-ignore lint/suspicious/noExplicitAny: options are JSON of the service
type Options = any;

export class Authenticator {
  readonly algorithm: Algorithm;
  /** Log-ins so far; `undefined`: it counts nothing, and says 0. */
  counter: number | undefined;
  readonly #origin: string;
  readonly #id = randomBytes(32);
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject };
  #handle = '';

  constructor(origin: string, algorithm: Algorithm = 'ES256', { isCounting = true } = {}) {
    this.algorithm = algorithm;
    this.counter = isCounting ? 0 : undefined;
    this.#origin = origin;
    this.#keys = makeKeys(algorithm);
  }

  get id(): string {
    return this.#id.toString('base64url');
  }

  /** The handle of the person, as the service gave it. */
  get handle(): string {
    return this.#handle;
  }

  /** The JSON of `navigator.credentials.create()`. */
  make(options: Options, lie: Lie = {}): string {
    this.#handle = options.user.id;
    const clientData = this.#clientData('webauthn.create', options, lie);
    const attested = Buffer.concat([
      Buffer.alloc(16),
      Buffer.from([0, this.#id.length]),
      this.#id,
      cbor(coseKeyOf(this.algorithm, this.#keys.publicKey)),
    ]);
    const data = Buffer.concat([this.#head(options.rp.id, lie, 0x40), attested]);
    const { format = 'none', certificate } = lie.attestation ?? {};
    const statement = new Map<string, unknown>();
    if (format !== 'none') statement.set('alg', -7).set('sig', this.#sign(data, clientData));
    if (certificate) statement.set('x5c', [certificate]);
    const attestation = new Map<string, unknown>([
      ['fmt', format],
      ['attStmt', statement],
      ['authData', data],
    ]);
    return this.#answer(lie, {
      clientDataJSON: clientData.toString('base64url'),
      attestationObject: cbor(attestation).toString('base64url'),
      transports: ['internal'],
    });
  }

  /** The JSON of `navigator.credentials.get()`. */
  sign(options: Options, lie: Lie = {}): string {
    if (this.counter !== undefined) this.counter += 1;
    const clientData = this.#clientData('webauthn.get', options, lie);
    const data = this.#head(options.rpId, lie);
    const signature = this.#sign(data, clientData);
    if (lie.isForged) signature[signature.length - 1]! ^= 1;
    return this.#answer(lie, {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
      ...(lie.handle !== '' && { userHandle: lie.handle ?? this.#handle }),
    });
  }

  #answer({ id = this.id }: Lie, response: object): string {
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });
  }

  #clientData(type: string, { challenge }: Options, lie: Lie): Buffer {
    const said = { type, challenge, origin: this.#origin, crossOrigin: false };
    const { type: otherType, challenge: other, origin, crossOrigin } = lie;
    return Buffer.from(
      JSON.stringify({
        ...said,
        ...(otherType && { type: otherType }),
        ...(other && { challenge: other }),
        ...(origin && { origin }),
        ...(crossOrigin !== undefined && { crossOrigin }),
      }),
    );
  }

  #head(party: string, lie: Lie, more = 0): Buffer {
    const flags = (lie.isPresent === false ? 0 : 1) | (lie.isVerified === false ? 0 : 4) | more;
    const rest = Buffer.alloc(5);
    rest[0] = flags;
    rest.writeUInt32BE(lie.counter ?? this.counter ?? 0, 1);
    return Buffer.concat([hash('sha256', lie.party ?? party, 'buffer'), rest]);
  }

  #sign(data: Buffer, clientData: Buffer): Buffer {
    const signed = Buffer.concat([data, hash('sha256', clientData, 'buffer')]);
    const digest = { ES256: 'sha256', RS256: 'sha256', ES384: 'sha384', EdDSA: null }[this.algorithm];
    return sign(digest, signed, this.#keys.privateKey);
  }
}

function makeKeys(algorithm: Algorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  switch (algorithm) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'ES384':
      return generateKeyPairSync('ec', { namedCurve: 'P-384' });
    case 'EdDSA':
      return generateKeyPairSync('ed25519');
    case 'RS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
  }
}

/** Source: RFC 9053, section 7; RFC 8230, section 4. */
function coseKeyOf(algorithm: Algorithm, key: KeyObject): Map<number, unknown> {
  const jwk = key.export({ format: 'jwk' });
  const bytes = (name: 'x' | 'y' | 'n' | 'e') => Buffer.from(jwk[name]!, 'base64url');
  switch (algorithm) {
    case 'ES256':
    case 'ES384':
      return new Map<number, unknown>([
        [1, 2],
        [3, algorithm === 'ES256' ? -7 : -35],
        [-1, algorithm === 'ES256' ? 1 : 2],
        [-2, bytes('x')],
        [-3, bytes('y')],
      ]);
    case 'EdDSA':
      return new Map<number, unknown>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, bytes('x')],
      ]);
    case 'RS256':
      return new Map<number, unknown>([
        [1, 3],
        [3, -257],
        [-1, bytes('n')],
        [-2, bytes('e')],
      ]);
  }
}

/** As much of CBOR as an authenticator needs. Source: RFC 8949, section 3. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  if (value instanceof Map) {
    const pairs = [...value].flatMap(([name, each]) => [cbor(name), cbor(each)]);
    return Buffer.concat([head(5, value.size), ...pairs]);
  }
  throw new Error(`no CBOR for ${String(value)}`);
}

function head(major: number, size: number): Buffer {
  if (size < 24) return Buffer.from([(major << 5) | size]);
  if (size < 256) return Buffer.from([(major << 5) | 24, size]);
  return Buffer.from([(major << 5) | 25, size >> 8, size & 255]);
}
