/** What a browser answers when it was asked to make a passkey, or to sign with one. */

/** As far as it is read before it is verified. */
interface Answered {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
  readonly clientExtensionResults: Record<string, never>;
}

interface ReadClientData {
  /** In base64url, as it was offered. */
  readonly challenge: string;
  readonly credential: Buffer;
}

export interface NewPasskeyAnswer extends ReadClientData {
  readonly response: Answered & {
    readonly response: { readonly clientDataJSON: string; readonly attestationObject: string };
  };
  readonly transports: readonly string[];
}

export interface SignedAnswer extends ReadClientData {
  readonly response: Answered & {
    readonly response: {
      readonly clientDataJSON: string;
      readonly authenticatorData: string;
      readonly signature: string;
    };
  };
  /** Whose passkey it is, as the authenticator remembers; `undefined` if it does not say. */
  readonly handle: Buffer | undefined;
}

/** A browser that makes a passkey sends a few kB, most of which is the attestation. */
const TEXT_LENGTH_MAX = 32 * 1024;
const CREDENTIAL_BYTES_MAX = 1023;
const TRANSPORTS_MAX = 10;

/** `undefined`: it is no such answer. */
export function parseNewPasskey(text: string): NewPasskeyAnswer | undefined {
  const read = readAnswer(text, ['attestationObject']);
  if (!read) return undefined;
  const { found, texts, ...answer } = read;
  const { clientDataJSON, attestationObject } = texts;
  const transports = Array.isArray(found.transports) ? found.transports : [];
  return {
    ...answer,
    response: {
      ...answer.response,
      response: { clientDataJSON: clientDataJSON!, attestationObject: attestationObject! },
    },
    transports: transports
      .filter((each): each is string => typeof each === 'string' && /^[a-z-]{1,20}$/.test(each))
      .slice(0, TRANSPORTS_MAX),
  };
}

/** `undefined`: it is no such answer. */
export function parseSigned(text: string): SignedAnswer | undefined {
  const read = readAnswer(text, ['authenticatorData', 'signature']);
  if (!read) return undefined;
  const { found, texts, ...answer } = read;
  const { clientDataJSON, authenticatorData, signature } = texts;
  if (found.userHandle !== undefined && found.userHandle !== null && !isBase64Url(found.userHandle))
    return undefined;
  return {
    ...answer,
    response: {
      ...answer.response,
      response: {
        clientDataJSON: clientDataJSON!,
        authenticatorData: authenticatorData!,
        signature: signature!,
      },
    },
    handle: isBase64Url(found.userHandle) ? Buffer.from(found.userHandle, 'base64url') : undefined,
  };
}

function readAnswer(text: string, names: readonly string[]) {
  const whole = text.length <= TEXT_LENGTH_MAX ? objectOf(text) : undefined;
  const found = whole?.response;
  if (!whole || !isObject(found)) return undefined;
  const { id, rawId, type } = whole;
  if (!isBase64Url(id) || id !== rawId || type !== 'public-key') return undefined;
  const credential = Buffer.from(id, 'base64url');
  if (credential.length === 0 || credential.length > CREDENTIAL_BYTES_MAX) return undefined;
  const texts: Record<string, string> = {};
  for (const name of ['clientDataJSON', ...names]) {
    const value = found[name];
    if (!isBase64Url(value)) return undefined;
    texts[name] = value;
  }
  const clientData = objectOf(Buffer.from(texts.clientDataJSON!, 'base64url').toString());
  // A page of another site may show ours in a frame nowhere, so no passkey is asked for there.
  if (typeof clientData?.challenge !== 'string' || clientData.crossOrigin === true) return undefined;
  const response = { id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} };
  return { response, challenge: clientData.challenge, credential, found, texts };
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBase64Url(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]*$/.test(value);
}
