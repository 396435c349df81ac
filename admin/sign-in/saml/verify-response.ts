import type { Profile, SAML } from '@node-saml/node-saml';
import { utcMs } from '../../../core/contract/values/time/utc-time.ts';
import type { SamlSettings } from '../../resources/sso-connections/saml-settings.ts';
import { SignInRefusal } from '../refusal.ts';
import { checkDocument } from './check-document.ts';
import { decryptAssertion } from './decrypt-assertion.ts';
import { children, parseXml } from './parse-xml.ts';
import { type Assertion, readAssertion } from './read-assertion.ts';

/** Expected values of a response. */
export interface Expected {
  readonly settings: SamlSettings;
  /** Address that received the response, and the name of this service at the provider. */
  readonly acsUrl: string;
  readonly entityId: string;
  /** Id of our request; null: the provider began the sign-in. */
  readonly requestId: string | null;
  /** PEM. Without one, encrypted assertions cannot be read. Two during a rotation. */
  readonly decryptionKeys: readonly string[];
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Verifies a SAML response and returns what its assertion states. node-saml verifies signatures. The checks of the text before, and of the
 * signed assertion after, are ours. Throws SignInRefusal.
 */
export async function verifyResponse(encoded: string, expected: Expected): Promise<Assertion> {
  const { isEncrypted } = checkDocument(encoded);
  const saml = await newSaml(expected);
  let profile: Profile | null;
  try {
    profile = isEncrypted
      ? await saml.validateEncrypted(encoded, expected.decryptionKeys)
      : (await saml.validatePostResponseAsync({ SAMLResponse: encoded })).profile;
  } catch (thrown) {
    if (thrown instanceof SignInRefusal) throw thrown;
    throw new SignInRefusal('invalid_response', `SAML: ${reasonOf(thrown)}`);
  }
  if (!profile?.getAssertion) throw new SignInRefusal('invalid_response', 'SAML: the response contains no assertion');
  const assertion = readAssertion(profile.getAssertion(), expected);
  checkEnvelope(Buffer.from(encoded, 'base64').toString('utf8'), expected);
  return assertion;
}

const protocol = 'urn:oasis:names:tc:SAML:2.0:protocol';
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/**
 * Checks the response around the assertion (SAML 2.0 bindings §3.5.5.2, core §3.2.2). Without a signature of the response, its sender may
 * have written anything here, and the assertion alone counts. Throws SignInRefusal.
 */
function checkEnvelope(xml: string, { acsUrl }: Expected): void {
  const root = parseXml(xml);
  const destination = root?.getAttribute('Destination') ?? '';
  if (destination !== '' && destination !== acsUrl) {
    const message = `SAML: the response was issued for another address (Destination). Expected ${acsUrl}`;
    throw new SignInRefusal('invalid_response', message);
  }
  const [status] = root ? children(root, protocol, 'Status') : [];
  const [code] = status ? children(status, protocol, 'StatusCode') : [];
  if (code?.getAttribute('Value') !== success)
    throw new SignInRefusal('invalid_response', 'SAML: the identity provider reported an error instead of an assertion');
}

interface Verifier extends SAML {
  /** Verifies the signature of a response, and decrypts and checks the assertion inside. */
  validateEncrypted(encoded: string, keys: readonly string[]): Promise<Profile>;
}

async function newSaml(expected: Expected): Promise<Verifier> {
  // Loaded at the first use: most control planes have no SAML connection.
  const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml');
  const { getVerifiedXml, parseDomFromString } = await import('@node-saml/node-saml/lib/xml.js');
  const { settings, acsUrl, entityId } = expected;

  class OwnVerifier extends SAML implements Verifier {
    /** SAML times are UTC (core §1.3.3). The library reads a time without a zone in the zone of this machine. */
    protected override checkTimestampsValidityError(nowMs: number, begin: string, end: string, maxMs?: number): Error | null {
      return super.checkTimestampsValidityError(nowMs, inUtc(begin), inUtc(end), maxMs);
    }

    protected override calcMaxAgeAssertionTime(maxAgeMs: number, end: string, issued: string): number {
      return super.calcMaxAgeAssertionTime(maxAgeMs, inUtc(end), inUtc(issued));
    }

    async validateEncrypted(encoded: string, keys: readonly string[]): Promise<Profile> {
      const xml = Buffer.from(encoded, 'base64').toString('utf8');
      const { documentElement } = await parseDomFromString(xml);
      // The signature inside the ciphertext cannot be checked beforehand, so the response around it must be signed.
      const verified = getVerifiedXml(xml, documentElement, [...settings.certificates]);
      if (verified === null) throw new Error('Invalid signature around the encrypted assertion');
      const assertion = await decryptAssertion(verified, keys);
      return (await this.processValidlySignedAssertionAsync(assertion, xml, null)).profile;
    }
  }

  return new OwnVerifier({
    idpCert: [...settings.certificates],
    issuer: entityId,
    audience: entityId,
    callbackUrl: acsUrl,
    wantAuthnResponseSigned: settings.want_response_signed,
    wantAssertionsSigned: settings.want_assertion_signed,
    acceptedClockSkewMs: settings.clock_skew_seconds * 1_000,
    // Our requests are rows of the database; see `readAssertion`.
    validateInResponseTo: ValidateInResponseTo.never,
  });
}

/** Returns the time with its zone. Absent and malformed times are returned as they are. */
function inUtc(time: string): string {
  const ms = utcMs(time ?? '');
  return Number.isNaN(ms) ? time : new Date(ms).toISOString();
}

/** Texts of node-saml in the words of this service. The library's own texts may repeat content, so no other is shown. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [
    /around the encrypted assertion/,
    'the response is not signed with a certificate of this connection. The response around an encrypted assertion must be signed',
  ],
  [/Invalid document signature/, 'the response is not signed with a certificate of this connection'],
  [/Invalid signature: ID|Referenced node/, 'a signature does not belong to the element that contains it'],
  [
    /Too many signatures|too many transforms|multiple assertions|Only 1 signed/,
    'the response contains more signatures than expected',
  ],
  [/Invalid signature|Cannot obtain assertion/, 'the assertion is not signed with a certificate of this connection'],
  [/audience|Audience/, 'the assertion is for another service (AudienceRestriction)'],
  [/expired|too old/, 'the assertion has expired. Check the clocks of both servers'],
  [/not yet valid/, 'the assertion is not valid yet. Check the clocks of both servers'],
  [/No decryption key|decrypt|EncryptedAssertion/i, 'the assertion could not be decrypted with the key of this connection'],
  [/provider returned/, 'the identity provider reported an error instead of an assertion'],
  [/Missing SAML assertion/, 'the response contains no assertion'],
];

function reasonOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : '';
  return reasons.find(([pattern]) => pattern.test(text))?.[1] ?? 'the response is not valid';
}
