/** Makes certificates for servers of tests: a minimal X.509 version 3, signed with ECDSA. */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

export interface CertificateOptions {
  readonly name: string;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Signs; without it, the certificate signs itself. */
  readonly issuer?: Authority;
}

export interface Authority extends Certificate {
  readonly name: string;
  readonly privateKey: KeyObject;
}

const HOUR_MS = 3_600_000;
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));

/** A certificate for `name`, and the key that it is for. It may sign others. */
export function makeCertificate(options: CertificateOptions): Authority {
  const { name, issuer } = options;
  const now = Date.now();
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const content = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguishedName(issuer?.name ?? name),
    sequence(
      time(options.notBefore ?? new Date(now - HOUR_MS)),
      time(options.notAfter ?? new Date(now + HOUR_MS)),
    ),
    distinguishedName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(subjectAltName(name), basicConstraints())),
  );
  const signature = sign('sha256', content, issuer?.privateKey ?? privateKey);
  const der = sequence(content, ECDSA_WITH_SHA256, tlv(0x03, Buffer.from([0]), signature));
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    name,
    privateKey,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function subjectAltName(name: string): Buffer {
  return sequence(oid('551d11'), tlv(0x04, sequence(tlv(0x82, Buffer.from(name)))));
}

function basicConstraints(): Buffer {
  return sequence(
    oid('551d13'),
    tlv(0x01, Buffer.from([0xff])),
    tlv(0x04, sequence(tlv(0x01, Buffer.from([0xff])))),
  );
}

function distinguishedName(name: string): Buffer {
  return sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(name)))));
}

function time(at: Date): Buffer {
  return tlv(0x18, Buffer.from(at.toISOString().replace(/[-:T]|\.\d+/g, '')));
}

function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes);
}

function oid(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, 'hex'));
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, ...parts);
}

/** Tag, length and value of DER. */
function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), value]);
}
