import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCertificate } from '../../../src/base/lib/pem-files.ts';
import { makeCertificate } from '../../support/tls/make-certificate.ts';

const VARIABLES = { certificate: 'MY_CERT', key: 'MY_KEY' };
let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pem-'));
  const [own, other] = [makeCertificate({ name: 'a.test' }), makeCertificate({ name: 'b.test' })];
  await writeFile(file('cert.pem'), own.cert);
  await writeFile(file('key.pem'), own.key);
  await writeFile(file('other.pem'), other.key);
});
afterAll(() => rm(folder, { recursive: true }));

test('a certificate and its key are read', async () => {
  const files = { certificateFile: file('cert.pem'), keyFile: file('key.pem') };
  const { cert, key } = await readCertificate(files, VARIABLES);
  expect([String(cert), String(key)]).toEqual([
    expect.stringContaining('BEGIN CERTIFICATE'),
    expect.stringContaining('PRIVATE KEY'),
  ]);
});

test.each([
  ['absent.pem', 'key.pem', /^MY_CERT cannot be read: ENOENT/],
  ['cert.pem', 'absent.pem', /^MY_KEY cannot be read: ENOENT/],
  ['cert.pem', 'other.pem', /^MY_CERT and MY_KEY are no certificate and its key: /],
  ['key.pem', 'key.pem', /^MY_CERT and MY_KEY are no certificate and its key: /],
])('%s and %s stop the start', async (certificate, key, message) => {
  const files = { certificateFile: file(certificate), keyFile: file(key) };
  await expect(readCertificate(files, VARIABLES)).rejects.toThrow(message);
});
