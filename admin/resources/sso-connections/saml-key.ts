import { randomBytes, webcrypto } from 'node:crypto';
import { dayMs } from '../../../core/contract/values/time/durations.ts';

const algorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2_048,
};
const lifeMs = 10 * 365 * dayMs;

/** Both in PEM. */
export interface SamlKey {
  readonly key: string;
  readonly certificate: string;
}

/** Returns a new key for signed requests and encrypted assertions, with a certificate as its container. */
export async function newSamlKey(now: number): Promise<SamlKey> {
  // The certificate library needs this polyfill before it is loaded.
  await import('reflect-metadata');
  const { cryptoProvider, X509CertificateGenerator } = await import('@peculiar/x509');
  cryptoProvider.set(webcrypto as never);
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: randomBytes(16).toString('hex'),
    name: 'CN=svc-gateway',
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + lifeMs),
    signingAlgorithm: algorithm,
    keys,
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  const lines = der.toString('base64').replace(/(.{64})/g, '$1\n');
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${lines.trimEnd()}\n-----END PRIVATE KEY-----\n`,
    certificate: certificate.toString('pem'),
  };
}
