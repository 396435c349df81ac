import { unmarkedTextOf } from '../../../core/contract/values/text/utf8.ts';
import { SignInRefusal } from '../refusal.ts';
import { messageElementsMax, scanXml } from './scan-xml.ts';

/** Maximum size of a response. Those of real providers have 5 to 40 KB; it bounds the work for hostile ones. */
const bytesMax = 262_144;

const dsig = 'http://www.w3.org/2000/09/xmldsig#';
const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const enc = 'http://www.w3.org/2001/04/xmlenc#';
const enc11 = 'http://www.w3.org/2009/xmlenc11#';

/**
 * Algorithms that may occur. Without SHA-1 signatures, without HMAC (whose key would be the public certificate), and without
 * transforms that choose other bytes than those that are read: XPath, XSLT, and canonicalisation that keeps comments.
 */
const algorithms: ReadonlySet<string> = new Set([
  `${dsig}enveloped-signature`,
  exclusive,
  ...['rsa-sha256', 'rsa-sha384', 'rsa-sha512', 'ecdsa-sha256', 'ecdsa-sha384', 'ecdsa-sha512'].map((one) => more + one),
  `${enc}sha256`,
  `${enc}sha512`,
  `${more}sha384`,
  ...['aes128-cbc', 'aes256-cbc', 'rsa-oaep-mgf1p'].map((one) => enc + one),
  ...['aes128-gcm', 'aes256-gcm', 'rsa-oaep', 'mgf1sha1', 'mgf1sha256'].map((one) => enc11 + one),
]);

/** A response that passed the checks of its text. */
export interface CheckedDocument {
  readonly isEncrypted: boolean;
}

/**
 * Checks the text of a response before a parser reads it. Attacks on XML signatures need a document whose parts two readers see
 * differently, so this accepts only documents in which nothing can be seen differently: one assertion, unique ids, no document type, no
 * comments, no CDATA, known algorithms. Throws SignInRefusal with a reason for administrators.
 */
export function checkDocument(encoded: string): CheckedDocument {
  const names = checkText(decodeBase64(encoded), ['Response']);
  const count = (name: string) => names.filter((one) => one === name).length;
  if (count('Response') !== 1) throw refused('the document contains several responses');
  const encrypted = count('EncryptedAssertion');
  if (count('Assertion') + encrypted > 1) throw refused('the response contains several assertions');
  return { isEncrypted: encrypted === 1 };
}

/** Returns the bytes of a message that a form or an address contains. Throws SignInRefusal. */
export function decodeBase64(encoded: string): Buffer {
  if (encoded.length > bytesMax * 1.4) throw refused(`the message is larger than ${bytesMax} bytes`);
  // Removes white space first. A pattern that can match white space in several ways takes quadratic time.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded.replace(/\s+/g, ''))) throw refused('the message is not base64');
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.byteLength > bytesMax) throw refused(`the message is larger than ${bytesMax} bytes`);
  return bytes;
}

/** Checks the text of any message. Returns the local names of its elements, in order. Throws SignInRefusal. */
export function checkText(bytes: Uint8Array, roots: readonly string[]): readonly string[] {
  const xml = decode(bytes);
  if (/<!/.test(xml)) throw refused('the message contains a document type, a comment or CDATA. None of them may occur');
  if (/<\?(?!xml\s)/.test(xml) || xml.indexOf('<?', 1) !== -1) throw refused('the message contains a processing instruction');
  const names = scanXml(xml, messageElementsMax);
  if ('reason' in names) throw refused(`the document contains ${names.reason}`);
  if (!roots.includes(names[0] ?? '')) throw refused(`the document is not a SAML message. Expected ${roots.join(' or ')}`);
  if (names.includes('Object')) throw refused('a signature contains an Object element');
  checkIds(xml);
  checkAlgorithms(xml);
  return names;
}

/** Signatures name the signed element by its id, in any of these spellings. */
function checkIds(xml: string): void {
  const ids = [...xml.matchAll(/\s(?:[^\s"'<>/=:]+:)?id\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map(
    ([, first, second]) => first ?? second ?? '',
  );
  if (ids.some((id) => !/^[\w.-]{1,256}$/.test(id))) throw refused('an ID contains characters that do not belong there');
  if (new Set(ids).size !== ids.length) throw refused('two elements have the same ID');
}

/** SHA-1 inside the padding of an encrypted key, where collisions do not matter. Many providers cannot change it. */
const oaepDigest =
  /<(?:[\w.-]+:)?EncryptionMethod\s+Algorithm="[^"<>#]*#rsa-oaep[^"<>]*"\s*>\s*<(?:[\w.-]+:)?DigestMethod(?:\s+xmlns(?::\w+)?="[^"<>]*")?\s+Algorithm="http:\/\/www\.w3\.org\/2000\/09\/xmldsig#sha1"\s*\/?>/g;

function checkAlgorithms(xml: string): void {
  for (const [, first, second] of xml.replaceAll(oaepDigest, '').matchAll(/Algorithm\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    const name = first ?? second ?? '';
    if (/sha1$/.test(name) && !algorithms.has(name)) throw refused('the message uses SHA-1. Change the provider to SHA-256');
    if (algorithms.has(name)) continue;
    const next = name.startsWith(enc) || name.startsWith(enc11) ? '. Change the provider to AES and RSA-OAEP' : '';
    throw refused(`the algorithm ${name.slice(0, 128)} is not accepted${next}`);
  }
}

function decode(bytes: Uint8Array): string {
  const text = unmarkedTextOf(bytes);
  if (text === null) throw refused('the message is not UTF-8');
  return text;
}

function refused(message: string): SignInRefusal {
  return new SignInRefusal('invalid_response', `SAML: ${message}`);
}
