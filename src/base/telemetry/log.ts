/** JSON logs on stdout. What must not be read there is cut out here, once, for everybody. */
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino';

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

/** Of a token the header that every one of ours begins with, and its claims. */
const TOKEN_START = 'eyJhbGciOiJFUzI1NiIs[\\w-]{1,400}\\.[\\w-]{1,4000}\\.';

/** Keys of ours and of the provider, pages of checkouts and signatures of tokens, wherever they stand in a text. */
const SECRET_TEXT = new RegExp(
  `((?:sk|rk|cs)_(?:test|live)_|whsec_|[A-Za-z0-9]{1,20}_[0-9a-f]{16}_|${TOKEN_START})[A-Za-z0-9_-]{8,}`,
  'g',
);

/** Lines go to stdout unless `destination` takes them. */
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
    // Whatever field or message a secret has got into, it does not get out.
    hooks: { streamWrite: hideSecrets },
  };
  return destination ? pino(options, destination) : pino(options);
}

function quote(name: string): string {
  return `["${name}"]`;
}

/**
 * Of an error only what is needed to find its cause. The provider's client hangs requests and
 * headers on its errors, and the database the values of rows.
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

/** A text with every secret that it holds cut short. */
export function hideSecrets(text: string): string {
  return text.replace(SECRET_TEXT, '$1[redacted]');
}
