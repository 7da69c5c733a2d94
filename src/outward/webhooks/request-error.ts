/** What a tenant is told about a webhook that got no answer. */
import { codeOf } from '../../base/lib/error-code.ts';

/** A request that failed for a reason that the tenant may see. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
}

const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'HPE_INVALID_EOF_STATE']);
const UNREACHABLE = new Set([
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EHOSTDOWN',
  'ENETDOWN',
]);

const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not valid yet',
  CERT_REVOKED: 'revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its issuer is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'its issuer is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its issuer is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its issuer is not trusted, or an intermediate certificate is missing',
  ERR_TLS_CERT_ALTNAME_INVALID: 'issued for another name',
  CERT_SIGNATURE_FAILURE: 'its signature is wrong',
};

/**
 * The error in plain words. The text of the error itself is never passed on: it may name addresses and paths
 * of this machine.
 *
 * @param isConnected whether the connection stood, so that the receiver may have the request
 */
export function describeError(error: unknown, host: string, isConnected: boolean): string {
  if (error instanceof RequestError) return error.message;
  const code = codeOf(error) ?? '';
  const fault = CERTIFICATE_FAULTS[code];
  if (fault !== undefined) return `the certificate is not valid: ${fault}`;
  if (code === 'ECONNREFUSED') return `${host} refused the connection`;
  if (UNREACHABLE.has(code) && !isConnected) return `${host} cannot be reached`;
  if (code === 'HPE_HEADER_OVERFLOW') return 'the headers of the answer are too large';
  if (CLOSED.has(code)) {
    return isConnected
      ? 'the connection closed before an answer: the receiver may have the request'
      : 'the connection closed before the request was sent';
  }
  if (code === 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED') return `${host} wants a client certificate`;
  if (code.startsWith('HPE_')) return 'the answer is not HTTP';
  if (code === 'EPROTO' || /^ERR_(SSL|TLS)_/.test(code))
    return `no TLS connection to ${host} could be agreed on`;
  return isConnected
    ? 'the connection failed before an answer: the receiver may have the request'
    : `the connection to ${host} failed`;
}
