import { SignInRefusal } from '../refusal.ts';
import { checkText } from './check-document.ts';
import { children, parseXml } from './parse-xml.ts';

const namespace = 'urn:oasis:names:tc:SAML:2.0:assertion';

/**
 * Returns the assertion that a verified response contains encrypted, as XML. The xml-encryption of node-saml cannot read keys encrypted
 * with RSA-OAEP of XML Encryption 1.1, which Keycloak sends by default. Throws SignInRefusal.
 */
export async function decryptAssertion(response: string, key: string): Promise<string> {
  const { decrypt } = await import('xml-encryption');
  const root = parseXml(response);
  const [encrypted] = root ? children(root, namespace, 'EncryptedAssertion') : [];
  if (!encrypted) throw refused('the response contains no encrypted assertion');
  // CBC modes are safe here: the signature of the response covers the ciphertext and was verified.
  const options = { key, disallowDecryptionWithInsecureAlgorithm: false, warnInsecureAlgorithm: false };
  const assertion = await new Promise<string>((resolve, reject) => {
    decrypt(String(encrypted), options, (error, result) => (error ? reject(error) : resolve(result)));
  }).catch(() => {
    // A wrong key causes different errors of the crypto library.
    throw refused('the assertion could not be decrypted with the key of this connection');
  });
  checkText(Buffer.from(assertion), ['Assertion']);
  return assertion;
}

function refused(message: string): SignInRefusal {
  return new SignInRefusal('invalid_response', `SAML: ${message}`);
}
