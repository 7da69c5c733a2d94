import { createPublicKey, verify } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { signWebhook } from '../../../src/outward/webhooks/signature.ts';
import { describeSecret, newSecret } from '../../../src/outward/webhooks/webhook-secret.ts';

const message = {
  id: 'evt_0123456789abcdef',
  at: new Date(),
  body: '{"type":"balance_low","name":"Zoë 🎈"}',
};

/** Verifies with the official library, which knows `v1` alone. */
const verifyWithSecret = (secret: string, headers: Readonly<Record<string, string>>, body = message.body) =>
  new Webhook(secret).verify(body, { ...headers });

/** Verifies `v1a` as the standard says it: Ed25519 over id, timestamp and body. */
function verifyWithPublicKey(
  publicKey: string,
  headers: Readonly<Record<string, string>>,
  body = message.body,
) {
  const x = Buffer.from(publicKey.replace(/^whpk_/, ''), 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const content = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  return headers['webhook-signature']!.split(' ')
    .filter((each) => each.startsWith('v1a,'))
    .some((each) => verify(null, content, key, Buffer.from(each.slice(4), 'base64')));
}

describe('a secret', () => {
  test('has the forms of the standard', () => {
    const { secret, publicKey, keys } = newSecret();
    expect(Buffer.from(/^whsec_([A-Za-z0-9+/]{43}=)$/.exec(secret)![1]!, 'base64')).toHaveLength(32);
    expect(Buffer.from(/^whpk_([A-Za-z0-9+/]{43}=)$/.exec(publicKey)![1]!, 'base64')).toHaveLength(32);
    expect(describeSecret(keys)).toEqual({ secret, publicKey, keys });
  });

  test('is another one each time', () => {
    expect(new Set(Array.from({ length: 50 }, () => newSecret().secret)).size).toBe(50);
  });

  test('has the public key of RFC 8032, section 7.1, for its seed', () => {
    const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';
    const keys = Buffer.concat([Buffer.alloc(32), Buffer.from(seed, 'hex')]);
    const publicKey = Buffer.from(describeSecret(keys).publicKey.slice(5), 'base64').toString('hex');
    expect(publicKey).toBe('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
  });

  test.each([0, 32, 63, 65])('cannot be read from %i bytes', (length) => {
    expect(() => describeSecret(new Uint8Array(length))).toThrow('keys of a webhook');
  });
});

describe('a signature', () => {
  const own = newSecret();
  const old = newSecret();
  const stranger = newSecret();
  const headers = signWebhook(message, [own.keys]);

  test('is what the standard computes from its own example of a key', () => {
    const keys = Buffer.concat([Buffer.alloc(32, 7), Buffer.alloc(32, 9)]);
    const signed = signWebhook({ id: 'msg_1', at: new Date(1_674_087_231_999), body: '{}' }, [keys]);
    expect(signed['webhook-timestamp']).toBe('1674087231');
    const expected = new Webhook(Buffer.alloc(32, 7), { format: 'raw' }).sign(
      'msg_1',
      new Date(1_674_087_231_000),
      '{}',
    );
    expect(signed['webhook-signature']!.split(' ')).toEqual([expected, expect.stringMatching(/^v1a,.{88}$/)]);
  });

  test('verifies with the secret and with the public key', () => {
    expect(verifyWithSecret(own.secret, headers)).toEqual(JSON.parse(message.body));
    expect(verifyWithPublicKey(own.publicKey, headers)).toBe(true);
  });

  test('does not verify with other keys', () => {
    expect(() => verifyWithSecret(stranger.secret, headers)).toThrow();
    expect(verifyWithPublicKey(stranger.publicKey, headers)).toBe(false);
  });

  test.each([
    ['id', { ...headers, 'webhook-id': 'evt_other' }, message.body],
    [
      'time',
      { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 1) },
      message.body,
    ],
    ['body', headers, message.body.replace('low', 'ok')],
  ])('does not verify another %s', (_what, changed, body) => {
    expect(() => verifyWithSecret(own.secret, changed, body)).toThrow();
    expect(verifyWithPublicKey(own.publicKey, changed, body)).toBe(false);
  });

  test('comes from both keys while a secret is rotated, the newest first', () => {
    const both = signWebhook(message, [own.keys, old.keys]);
    const signatures = both['webhook-signature']!.split(' ');
    expect(signatures.map((each) => each.split(',')[0])).toEqual(['v1', 'v1a', 'v1', 'v1a']);
    expect(signatures.slice(0, 2)).toEqual(headers['webhook-signature']!.split(' '));
    for (const { secret, publicKey } of [own, old]) {
      expect(verifyWithSecret(secret, both)).toBeDefined();
      expect(verifyWithPublicKey(publicKey, both)).toBe(true);
    }
    expect(() => verifyWithSecret(stranger.secret, both)).toThrow();
  });

  test.each(['', 'evt.1', 'evt 1', 'evt_1\r\nx: y'])('is refused for the id %j', (id) => {
    expect(() => signWebhook({ ...message, id }, [own.keys])).toThrow('id of a webhook');
  });
});
