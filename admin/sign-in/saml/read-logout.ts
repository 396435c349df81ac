import { verify } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { utcMs } from '../../../core/contract/values/time/utc-time.ts';
import type { SamlSettings } from '../../resources/sso-connections/saml-settings.ts';
import { SignInRefusal } from '../refusal.ts';
import { checkText, decodeBase64 } from './check-document.ts';
import { children, parseXml, type XmlElement } from './parse-xml.ts';

/** A logout request of a provider, after every check. */
export interface LogoutRequest {
  readonly id: string;
  readonly subject: string;
  /** Null: all sessions of the subject. */
  readonly sessions: readonly string[] | null;
  /** Milliseconds. */
  readonly issuedAt: number;
}

/** A message of the provider about a logout. `isSuccess`: whether the logout that we asked for has succeeded everywhere. */
export type LogoutMessage = { readonly request: LogoutRequest } | { readonly isSuccess: boolean };

export interface ExpectedLogout {
  readonly settings: Pick<SamlSettings, 'idp_entity_id' | 'certificates' | 'clock_skew_seconds'>;
  /** Address that received the message. */
  readonly logoutUrl: string;
  /** Milliseconds. */
  readonly now: number;
}

const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';
const assertion = 'urn:oasis:names:tc:SAML:2.0:assertion';
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const roots = ['LogoutRequest', 'LogoutResponse'] as const;
/** A message is used at once, so an older one is a replay. */
export const logoutAgeMsMax = 600_000;
const xmlBytesMax = 262_144;

/**
 * Reads a message of the redirect binding. The signature covers the address as it was sent, so `query` is its raw text. node-saml accepts
 * such messages without a signature, so it does not read them. Throws SignInRefusal.
 */
export function readRedirectedLogout(query: string, expected: ExpectedLogout): LogoutMessage {
  const sent = new Map<string, string>();
  for (const part of query.split('&')) {
    const [name = '', value = ''] = part.split(/=(.*)/s);
    if (sent.has(name)) throw refused(`${name.slice(0, 32)} occurs twice`);
    sent.set(name, value);
  }
  const kind = sent.has('SAMLRequest') ? 'SAMLRequest' : 'SAMLResponse';
  if (sent.has('SAMLRequest') && sent.has('SAMLResponse')) throw refused('there is a request and a response');
  const signed = [kind, 'RelayState', 'SigAlg'].filter((name) => sent.has(name)).map((name) => `${name}=${sent.get(name)}`);
  checkSignature(signed.join('&'), textOf(sent.get('SigAlg')), textOf(sent.get('Signature')), expected.settings.certificates);
  let bytes: Buffer;
  try {
    bytes = inflateRawSync(decodeBase64(textOf(sent.get(kind))), { maxOutputLength: xmlBytesMax });
  } catch (thrown) {
    throw thrown instanceof SignInRefusal ? thrown : refused('the message is not compressed as expected');
  }
  checkText(bytes, roots);
  return readMessage(bytes, expected);
}

/** Reads a message that a form contains, with its signature inside. Throws SignInRefusal. */
export async function readPostedLogout(encoded: string, expected: ExpectedLogout): Promise<LogoutMessage> {
  const bytes = decodeBase64(encoded);
  const names = checkText(bytes, roots);
  // With one signature, of the root, nothing in the document is outside of it.
  if (names.filter((name) => name === 'Signature').length !== 1) throw notSigned();
  const { getVerifiedXml, parseDomFromString } = await import('@node-saml/node-saml/lib/xml.js');
  const dom = await parseDomFromString(bytes.toString('utf8'));
  let verified: string | null = null;
  try {
    verified = getVerifiedXml(bytes.toString('utf8'), dom.documentElement, [...expected.settings.certificates]);
  } catch {}
  if (verified === null) throw notSigned();
  return readMessage(Buffer.from(verified), expected);
}

const algorithms: Readonly<Record<string, string>> = Object.fromEntries(
  ['rsa', 'ecdsa'].flatMap((key) =>
    ['256', '384', '512'].map((bits) => [`http://www.w3.org/2001/04/xmldsig-more#${key}-sha${bits}`, `sha${bits}`]),
  ),
);

function checkSignature(signed: string, algorithm: string, signature: string, certificates: readonly string[]): void {
  if (signature === '') throw notSigned();
  const digest = Object.hasOwn(algorithms, algorithm) ? algorithms[algorithm] : undefined;
  if (digest === undefined) throw refused(`SigAlg: ${algorithm.slice(0, 128)} is not accepted. Change the provider to SHA-256`);
  const bytes = Buffer.from(signature, 'base64');
  const isValid = certificates.some((key) => verify(digest, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, bytes));
  if (!isValid) throw notSigned();
}

function readMessage(bytes: Uint8Array, { settings, logoutUrl, now }: ExpectedLogout): LogoutMessage {
  const root = parseXml(Buffer.from(bytes).toString('utf8'));
  if (!root || root.namespaceURI !== protocol) throw refused('the message is not well-formed XML of SAML 2.0');
  const [issuer = null, ...others] = children(root, assertion, 'Issuer');
  if (others.length > 0 || contentOf(issuer) !== settings.idp_entity_id)
    throw refused('the issuer is another identity provider than that of this connection');
  if (root.getAttribute('Destination') !== logoutUrl)
    throw refused(`the message was issued for another address (Destination). Expected ${logoutUrl}`);
  const issuedAt = utcMs(root.getAttribute('IssueInstant') ?? '');
  const skewMs = settings.clock_skew_seconds * 1_000;
  const until = utcMs(root.getAttribute('NotOnOrAfter') ?? '');
  if (!(issuedAt <= now + skewMs && issuedAt > now - logoutAgeMsMax) || until + skewMs <= now)
    throw refused('the message has expired, or was issued in the future. Check the clocks of both servers');
  if (root.localName === 'LogoutResponse') return { isSuccess: isSuccess(root) };
  const id = root.getAttribute('ID') ?? '';
  const [nameId, ...more] = children(root, assertion, 'NameID');
  if (!nameId || more.length > 0 || id === '') throw refused('NameID is missing, encrypted or occurs twice');
  const sessions = children(root, protocol, 'SessionIndex').map(contentOf);
  return { request: { id, subject: contentOf(nameId), sessions: sessions.length === 0 ? null : sessions, issuedAt } };
}

function isSuccess(response: XmlElement): boolean {
  const [status] = children(response, protocol, 'Status');
  const [code] = status ? children(status, protocol, 'StatusCode') : [];
  return code?.getAttribute('Value') === success;
}

function contentOf(element: XmlElement | null): string {
  return (element?.textContent ?? '').trim();
}

function textOf(value: string | undefined): string {
  try {
    return decodeURIComponent((value ?? '').replaceAll('+', '%20'));
  } catch {
    throw refused('the address is not encoded as expected');
  }
}

function notSigned(): SignInRefusal {
  return refused('the message is not signed with a certificate of this connection');
}

function refused(message: string): SignInRefusal {
  return new SignInRefusal('invalid_response', `SAML logout: ${message}`);
}
