import type { Profile, SAML } from '@node-saml/node-saml';
import type { SamlSettings } from '../../resources/sso-connections/saml-settings.ts';
import { SignInRefusal } from '../refusal.ts';
import { checkDocument } from './check-document.ts';
import { type Assertion, readAssertion } from './read-assertion.ts';

/** Expected values of a response. */
export interface Expected {
  readonly settings: SamlSettings;
  /** Address that received the response, and the name of this service at the provider. */
  readonly acsUrl: string;
  readonly entityId: string;
  /** Id of our request; null: the provider began the sign-in. */
  readonly requestId: string | null;
  /** PEM; null: encrypted assertions cannot be read. */
  readonly decryptionKey: string | null;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Verifies a SAML response and returns what its assertion states. node-saml verifies signatures and decrypts. The checks of the text
 * before, and of the signed assertion after, are ours. Throws SignInRefusal.
 */
export async function verifyResponse(encoded: string, expected: Expected): Promise<Assertion> {
  const { isEncrypted } = checkDocument(encoded);
  const saml = await newSaml(expected, isEncrypted);
  let profile: Profile | null;
  try {
    ({ profile } = await saml.validatePostResponseAsync({ SAMLResponse: encoded }));
  } catch (thrown) {
    throw new SignInRefusal('invalid_response', `SAML: ${reasonOf(thrown, isEncrypted)}`);
  }
  if (!profile?.getAssertion) throw new SignInRefusal('invalid_response', 'SAML: the response contains no assertion');
  return readAssertion(profile.getAssertion(), expected);
}

async function newSaml(expected: Expected, isEncrypted: boolean): Promise<SAML> {
  // Loaded at the first use: most control planes have no SAML connection.
  const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml');
  const { settings, acsUrl, entityId, decryptionKey } = expected;
  return new SAML({
    idpCert: [...settings.certificates],
    issuer: entityId,
    audience: entityId,
    callbackUrl: acsUrl,
    // The signature inside an encrypted assertion cannot be checked beforehand, so the response around it must be signed.
    wantAuthnResponseSigned: settings.want_response_signed || isEncrypted,
    wantAssertionsSigned: settings.want_assertion_signed && !isEncrypted,
    acceptedClockSkewMs: settings.clock_skew_seconds * 1_000,
    // Our requests are rows of the database; see `readAssertion`.
    validateInResponseTo: ValidateInResponseTo.never,
    ...(decryptionKey === null ? {} : { decryptionPvk: decryptionKey }),
  });
}

/** Texts of node-saml in the words of this service. The library's own texts may repeat content, so no other is shown. */
const reasons: readonly (readonly [RegExp, string])[] = [
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

function reasonOf(thrown: unknown, isEncrypted: boolean): string {
  const text = thrown instanceof Error ? thrown.message : '';
  const known = reasons.find(([pattern]) => pattern.test(text))?.[1];
  // A wrong key causes different errors of the crypto library.
  const other = isEncrypted
    ? 'the assertion could not be decrypted with the key of this connection'
    : 'the response is not valid';
  return known ?? other;
}
