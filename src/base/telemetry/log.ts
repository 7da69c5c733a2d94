/** JSON logs on stdout. All redaction of secrets happens here. */
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { stdoutLog } from './log-output.ts';

const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'stripe-signature',
  'api_key',
  'credential',
  'token',
  'secret',
  'password',
  'checkout_url',
  'portal_url',
];

/** The header that all our tokens start with, and the claims. */
const TOKEN_START = 'eyJhbGciOiJFUzI1NiIs[\\w-]{1,400}\\.[\\w-]{1,4000}\\.';

/** Our keys and the provider's, checkout pages and token signatures, anywhere in a text. */
const SECRET_TEXT = new RegExp(
  `((?:sk|rk|cs)_(?:test|live)_|whsec_|[A-Za-z0-9]{1,20}_[0-9a-f]{16}_|${TOKEN_START})[A-Za-z0-9_-]{8,}`,
  'g',
);

/** Writes to `destination`, or else to stdout. */
export function makeLog(level: string, destination?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: SECRET_FIELDS.flatMap((name) => [quote(name), `*${quote(name)}`, `*.*${quote(name)}`]),
      censor: '[redacted]',
    },
    serializers: { err: describeError },
    // Catches secrets in any other field or message.
    hooks: { streamWrite: hideSecrets },
  };
  return pino(options, destination ?? stdoutLog());
}

function quote(name: string): string {
  return `["${name}"]`;
}

/**
 * Keeps only the fields of an error that help to find its cause. The provider's client attaches
 * requests and headers to its errors, and the database driver attaches row values.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { code, constraint, statusCode, requestId, cause } = error as Error & Record<string, unknown>;
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    code,
    constraint,
    statusCode,
    providerRequestId: requestId,
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}

/** Redacts every secret in a text. */
export function hideSecrets(text: string): string {
  return text.replace(SECRET_TEXT, '$1[redacted]');
}
