import type { TemplatedApp } from 'uWebSockets.js';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Uws } from './load-uws.ts';

/** The files of TLS_CERT and TLS_KEY. Both are null without TLS. */
export interface TlsFiles {
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
}

/** Creates an app with the certificate that is in the files now. Throws an error that names the setting and the invalid file. */
export function openApp(uws: Uws, { tlsCert, tlsKey }: TlsFiles): TemplatedApp {
  if (tlsCert === null || tlsKey === null) return uws.App();
  checkPair(tlsCert, tlsKey);
  try {
    return uws.SSLApp({ cert_file_name: tlsCert, key_file_name: tlsKey });
  } catch (error) {
    throw new Error(`TLS_CERT, TLS_KEY: the server cannot use ${tlsCert} with ${tlsKey}`, { cause: error });
  }
}

/** The addon reports the same error for every problem with the files. */
function checkPair(tlsCert: string, tlsKey: string): void {
  const certificate = read('TLS_CERT', tlsCert, 'PEM certificate', (pem) => new X509Certificate(pem));
  const key = read('TLS_KEY', tlsKey, 'PEM private key without a passphrase', (pem) => createPrivateKey(pem));
  if (!certificate.checkPrivateKey(key)) {
    throw new Error(`TLS_CERT, TLS_KEY: the key in ${tlsKey} does not belong to the certificate in ${tlsCert}`);
  }
}

function read<Parsed>(setting: string, path: string, expected: string, parse: (pem: Buffer) => Parsed): Parsed {
  try {
    return parse(readFileSync(path));
  } catch (error) {
    throw new Error(`${setting}: ${path} cannot be read as a ${expected}`, { cause: error });
  }
}
