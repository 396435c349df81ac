import { SignInRefusal } from '../refusal.ts';
import { checkText } from './check-document.ts';
import { children, parseXml } from './parse-xml.ts';

const namespace = 'urn:oasis:names:tc:SAML:2.0:assertion';

/**
 * Returns the assertion that a verified response contains encrypted, as XML. The xml-encryption of node-saml cannot read keys encrypted
 * with RSA-OAEP of XML Encryption 1.1, which Keycloak sends by default. Tries each key. Throws SignInRefusal.
 */
export async function decryptAssertion(response: string, keys: readonly string[]): Promise<string> {
  const root = parseXml(response);
  const [encrypted] = root ? children(root, namespace, 'EncryptedAssertion') : [];
  if (!encrypted) throw refused('the response contains no encrypted assertion');
  for (const key of keys) {
    const assertion = await decryptWith(String(encrypted), key);
    if (assertion !== null) return assertion;
  }
  throw refused('the assertion could not be decrypted with the key of this connection');
}

/** Returns null for another key. A wrong key causes different errors of the crypto library, or text that is no assertion. */
async function decryptWith(encrypted: string, key: string): Promise<string | null> {
  const { decrypt } = await import('xml-encryption');
  // CBC modes are safe here: the signature of the response covers the ciphertext and was verified.
  const options = { key, disallowDecryptionWithInsecureAlgorithm: false, warnInsecureAlgorithm: false };
  const assertion = await new Promise<string | null>((resolve) => {
    decrypt(encrypted, options, (error, result) => resolve(error ? null : result));
  });
  if (assertion === null || !assertion.includes('Assertion')) return null;
  checkText(Buffer.from(assertion), ['Assertion']);
  return assertion;
}

function refused(message: string): SignInRefusal {
  return new SignInRefusal('invalid_response', `SAML: ${message}`);
}
