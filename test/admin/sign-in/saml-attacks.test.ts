import { beforeAll, describe, expect, it } from 'vitest';
import { newSamlKey } from '../../../admin/resources/sso-connections/saml-key.ts';
import type { SamlSettings } from '../../../admin/resources/sso-connections/saml-settings.ts';
import { SignInRefusal } from '../../../admin/sign-in/refusal.ts';
import { type Expected, verifyResponse } from '../../../admin/sign-in/saml/verify-response.ts';
import { FakeSamlProvider, type ProviderKey, type ResponseParts } from '../../support/fakes/fake-saml-provider.ts';

const acsUrl = 'https://gateway.example.com/v2/auth/saml/callback/one';
const entityId = 'https://gateway.example.com/v2/auth/saml/metadata/one';
const valid: ResponseParts = { recipient: acsUrl, audience: entityId, inResponseTo: '_request' };

let provider: FakeSamlProvider;
let other: ProviderKey;
let own: ProviderKey;
beforeAll(async () => {
  provider = await FakeSamlProvider.create();
  [other, own] = [await newSamlKey(Date.now()), await newSamlKey(Date.now())];
});

function expected(changes: Partial<SamlSettings> = {}, requestId: string | null = '_request'): Expected {
  const settings: SamlSettings = {
    ...{
      idp_entity_id: provider.entityId,
      sso_url: 'https://idp.example.com/sso',
      slo_url: null,
      certificates: [provider.key.certificate],
    },
    ...{ metadata_url: null, sign_requests: true, want_assertion_signed: true, want_response_signed: false },
    ...{ allow_idp_initiated: false, clock_skew_seconds: 30, email_attribute: null, first_name_attribute: null },
    ...{ last_name_attribute: null, group_attribute: null, own_certificate: own.certificate, ...changes },
  };
  return { settings, acsUrl, entityId, requestId, decryptionKeys: [own.key], now: Date.now() };
}

/** Verifies the XML; returns the subject, or the reason of the refusal. */
async function outcome(xml: string, wanted = expected()): Promise<string> {
  try {
    return `accepted ${(await verifyResponse(Buffer.from(xml).toString('base64'), wanted)).subject}`;
  } catch (thrown) {
    if (!(thrown instanceof SignInRefusal)) throw thrown;
    return thrown.message;
  }
}

const assertionOf = (xml: string) => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
const signatureOf = (xml: string) => /<ds:Signature[\s\S]*?<\/ds:Signature>/.exec(xml)?.[0] ?? '';
/** The assertion of the attacker: another subject, another id, no signature. */
const evilOf = (xml: string) =>
  assertionOf(xml)
    .replace(signatureOf(xml), '')
    .replaceAll('ada@example.com', 'owner@example.com')
    .replace(/ ID="[^"]+"/, ' ID="_evil"');
const put = (xml: string, from: string, to: string) => xml.replace(from, () => to);

describe('SAML responses', () => {
  it.each<[string, Partial<ResponseParts>, Partial<SamlSettings>]>([
    ['a signed assertion', {}, {}],
    ['a signed response', { sign: ['response'] }, { want_assertion_signed: false, want_response_signed: true }],
    ['both signed', { sign: ['assertion', 'response'] }, { want_response_signed: true }],
    ['an end that has passed within the clock skew', { validUntil: -10 }, {}],
    ['an issue time in the future within the clock skew', { issued: 20 }, {}],
    ['an end of the session within the clock skew', { sessionUntil: -10 }, {}],
  ])('with %s are accepted', async (_, parts, settings) => {
    expect(await outcome(await provider.xml({ ...valid, ...parts }), expected(settings))).toBe('accepted ada@example.com');
  });

  it('with an encrypted assertion are accepted if the response is signed', async () => {
    const parts = { ...valid, encryptFor: own.certificate };
    expect(await outcome(await provider.xml({ ...parts, sign: ['assertion', 'response'] }))).toBe('accepted ada@example.com');
    expect(await outcome(await provider.xml(parts))).toMatch(/response around an encrypted assertion must be signed/);
    for (const encryptLike of ['keycloak', 'adfs'] as const) {
      const like = { ...parts, encryptLike, sign: ['assertion', 'response'] as const };
      expect(await outcome(await provider.xml(like))).toBe('accepted ada@example.com');
    }
    const commented = (xml: string) => put(xml, 'ada@example.com<', 'ada@example.com<!-- -->.evil.net<');
    const hidden = { ...parts, beforeEncryption: commented, sign: ['response'] as const };
    expect(await outcome(await provider.xml(hidden))).toMatch(/a comment/);
    const otherAudience = { ...parts, audience: 'https://other.example.com', sign: ['response'] as const };
    expect(await outcome(await provider.xml(otherAudience))).toMatch(/for another service/);
    const foreign = { ...valid, encryptFor: other.certificate, sign: ['response'] as const };
    expect(await outcome(await provider.xml(foreign))).toMatch(/could not be decrypted/);
  });

  it('are read in UTC if their times have no zone', async () => {
    const before = (xml: string) => xml.replace(/(NotBefore|NotOnOrAfter)="([^"]+)Z"/g, '$1="$2"');
    const zone = process.env.TZ;
    try {
      for (const TZ of ['Asia/Tokyo', 'America/New_York']) {
        process.env.TZ = TZ;
        expect(await outcome(await provider.xml({ ...valid, before })), TZ).toBe('accepted ada@example.com');
        const late = await provider.xml({ ...valid, validFrom: -600, validUntil: -60, before });
        expect(await outcome(late), TZ).toMatch(/has expired/);
      }
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  it('are accepted with each of several certificates', async () => {
    const certificates = [other.certificate, provider.key.certificate];
    expect(await outcome(await provider.xml(valid), expected({ certificates }))).toBe('accepted ada@example.com');
    expect(await outcome(await provider.xml({ ...valid, key: other }), expected({ certificates }))).toBe(
      'accepted ada@example.com',
    );
  });
});

/** Each moves the signed element so that a signature stays valid while another assertion is read. */
const wrappings: Readonly<Record<string, (xml: string, signedPart: 'assertion' | 'response') => string>> = {
  'XSW1: the signed response inside the signature of another response': (xml) =>
    put(
      evilResponse(xml),
      '</saml:Issuer>',
      `</saml:Issuer>${put(signatureOf(xml), '</ds:Signature>', `<ds:Object>${xml}</ds:Object></ds:Signature>`)}`,
    ),
  'XSW2: the signed response beside the signature in another response': (xml) =>
    put(evilResponse(xml), '</saml:Issuer>', `</saml:Issuer>${signatureOf(xml)}${xml}`),
  'XSW3: another assertion before the signed one': (xml) => put(xml, assertionOf(xml), evilOf(xml) + assertionOf(xml)),
  'XSW4: the signed assertion inside another one': (xml) =>
    put(xml, assertionOf(xml), put(evilOf(xml), '</saml:Assertion>', `${assertionOf(xml)}</saml:Assertion>`)),
  'XSW5: the signature moved to another assertion, the signed one at the end': (xml) => {
    const bare = put(assertionOf(xml), signatureOf(xml), '');
    return put(xml, assertionOf(xml), `${put(evilOf(xml), '</saml:Issuer>', `</saml:Issuer>${signatureOf(xml)}`)}${bare}`);
  },
  'XSW6: the signed assertion inside the signature of another one': (xml) => {
    const bare = put(assertionOf(xml), signatureOf(xml), '');
    const signature = put(signatureOf(xml), '</ds:Signature>', `${bare}</ds:Signature>`);
    return put(xml, assertionOf(xml), put(evilOf(xml), '</saml:Issuer>', `</saml:Issuer>${signature}`));
  },
  'XSW7: another assertion in an extension': (xml) =>
    put(xml, '<samlp:Status>', `<samlp:Extensions>${evilOf(xml)}</samlp:Extensions><samlp:Status>`),
  'another assertion whose prefix is not ASCII': (xml) => {
    const evil = evilOf(xml)
      .replaceAll('saml:', 'ñ:')
      .replace('<ñ:Assertion', '<ñ:Assertion xmlns:ñ="urn:oasis:names:tc:SAML:2.0:assertion"');
    return put(xml, assertionOf(xml), evil + assertionOf(xml));
  },
  'another element whose Id has the same value and a prefix that is not ASCII': (xml) => {
    const id = / ID="([^"]+)"/.exec(assertionOf(xml))?.[1] ?? '';
    return put(xml, '<samlp:Status>', `<x xmlns:ñ="urn:x" ñ:ID="${id}"/><samlp:Status>`);
  },
  'XSW8: the signed assertion in an Object of the signature': (xml) => {
    const bare = put(assertionOf(xml), signatureOf(xml), '');
    const signature = put(signatureOf(xml), '</ds:Signature>', `<ds:Object>${bare}</ds:Object></ds:Signature>`);
    return put(xml, assertionOf(xml), put(evilOf(xml), '</saml:Issuer>', `</saml:Issuer>${signature}`));
  },
  'another assertion with the same id': (xml) => {
    const id = / ID="([^"]+)"/.exec(assertionOf(xml))?.[1] ?? '';
    return put(xml, '<samlp:Status>', `<x ID="${id}">${evilOf(xml).replace(/saml:Assertion/g, 'Evil')}</x><samlp:Status>`);
  },
  'another element whose Id in other spelling is the same': (xml) => {
    const id = / ID="([^"]+)"/.exec(assertionOf(xml))?.[1] ?? '';
    return put(xml, '<samlp:Status>', `<x Id="${id}"/><samlp:Status>`);
  },
};

const evilResponse = (xml: string) =>
  put(xml, assertionOf(xml), evilOf(xml))
    .replace(signatureOf(xml), '')
    .replace(/ ID="[^"]+"/, ' ID="_evil-response"');

describe('signature wrapping', () => {
  for (const [name, wrap] of Object.entries(wrappings)) {
    it(name, async () => {
      const part = /XSW[12]:/.test(name) ? 'response' : 'assertion';
      const xml = await provider.xml({ ...valid, sign: [part] });
      const settings = { want_assertion_signed: part === 'assertion', want_response_signed: part === 'response' };
      expect(await outcome(xml, expected(settings))).toBe('accepted ada@example.com');
      const attack = wrap(xml, part);
      expect(attack).not.toBe(xml);
      expect(await outcome(attack, expected(settings))).toMatch(
        /^SAML: (the document contains several responses|the response contains several assertions|a signature contains an Object|two elements have the same ID)/,
      );
    });
  }
});

describe('forged responses', () => {
  it.each<[string, (xml: string) => string, RegExp]>([
    [
      'a comment in the subject',
      (xml) => put(xml, 'ada@example.com<', 'ada@example.com<!-- x -->.evil.net<'),
      /a document type, a comment or CDATA/,
    ],
    [
      'CDATA in the subject',
      (xml) => put(xml, 'ada@example.com<', '<![CDATA[ada@example.com]]><'),
      /a document type, a comment or CDATA/,
    ],
    [
      'a processing instruction in the subject',
      (xml) => put(xml, 'ada@example.com<', 'ada@example.com<?x?><'),
      /a processing instruction/,
    ],
    [
      'an external entity',
      (xml) => `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${put(xml, 'ada@example.com<', '&x;<')}`,
      /a document type, a comment or CDATA/,
    ],
    ['a comment in the digest', (xml) => xml.replace(/<ds:DigestValue>/, '<ds:DigestValue><!--x-->'), /a comment/],
    [
      'an element whose name is not an XML name',
      (xml) => put(xml, assertionOf(xml), `<\u200b:Assertion/>${assertionOf(xml)}`),
      /a name that is not accepted/,
    ],
    [
      'a second SignedInfo',
      (xml) => xml.replace(/(<ds:SignedInfo>[\s\S]*<\/ds:SignedInfo>)/, '$1$1'),
      /more signatures than expected|not (signed|valid)/,
    ],
    [
      'an Object in a valid signature',
      (xml) => put(xml, '</ds:Signature>', '<ds:Object><x/></ds:Object></ds:Signature>'),
      /a signature contains an Object/,
    ],
    ['a removed signature', (xml) => put(xml, signatureOf(xml), ''), /the assertion is not signed/],
    ['an empty signature', (xml) => xml.replace(/<ds:SignatureValue>[^<]+/, '<ds:SignatureValue>'), /not signed/],
    ['a changed subject', (xml) => put(xml, '>ada@example.com<', '>owner@example.com<'), /the assertion is not signed/],
    ['a changed attribute', (xml) => put(xml, 'Name="email"', 'Name="groups"'), /the assertion is not signed/],
    ['SHA-1 signatures', (xml) => xml.replaceAll(/http:[^"]*rsa-sha256/g, 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'), /SHA-1/],
    [
      'SHA-1 digests',
      (xml) => xml.replaceAll('http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2000/09/xmldsig#sha1'),
      /SHA-1/,
    ],
    [
      'HMAC with the certificate as key',
      (xml) => xml.replaceAll(/xmldsig-more#rsa-sha256/g, 'xmldsig-more#hmac-sha256'),
      /is not accepted/,
    ],
    [
      '3DES',
      (xml) => put(xml, '<samlp:Status>', '<x Algorithm="http://www.w3.org/2001/04/xmlenc#tripledes-cbc"/><samlp:Status>'),
      /tripledes-cbc is not accepted\. Change the provider to AES and RSA-OAEP$/,
    ],
    [
      'an XPath transform',
      (xml) =>
        xml.replace('http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/TR/1999/REC-xpath-19991116'),
      /is not accepted/,
    ],
    ['another root', (xml) => xml.replaceAll('samlp:Response', 'samlp:LogoutResponse'), /not a SAML message/],
    ['no assertion', (xml) => put(xml, assertionOf(xml), ''), /no assertion/],
    [
      'an oversized text',
      (xml) => put(xml, '<samlp:Status>', `<x>${'a'.repeat(262_144)}</x><samlp:Status>`),
      /larger than 262144 bytes/,
    ],
    ['a text that is no XML', () => 'hello', /text outside of the root element/],
    // The XML libraries need minutes for each of these.
    ['80,000 elements that are not closed', () => `<samlp:Response>${'<a>'.repeat(80_000)}`, /nested deeper than 64/],
    ['120,000 opening brackets', () => `<samlp:Response>${'< '.repeat(120_000)}`, /a name that is not accepted/],
    ['40,000 elements', (xml) => put(xml, '<samlp:Status>', `${'<a/>'.repeat(40_000)}<samlp:Status>`), /more than 1500 elements/],
    [
      'many attributes in all',
      (xml) => put(xml, '<samlp:Status>', `${`<a${' b="c"'.repeat(90)}/>`.repeat(70)}<samlp:Status>`),
      /more than 6000 attributes/,
    ],
    ['a zero byte', (xml) => put(xml, 'ada@example.com<', 'ada@example.com&#0;<'), /a character that XML does not allow/],
    ['half a surrogate pair', (xml) => put(xml, 'ada@example.com<', '&#xD800;<'), /a character that XML does not allow/],
    ['an unknown entity', (xml) => put(xml, 'ada@example.com<', '&nbsp;<'), /an entity or a character/],
    ['two roots', (xml) => `${xml}<samlp:Response/>`, /several root elements/],
    [
      'an attribute without a space before it',
      (xml) => put(xml, '<samlp:Status>', '<x a="1"ID="y"/><samlp:Status>'),
      /not accepted/,
    ],
  ])('with %s are rejected', async (_, forge, reason) => {
    const xml = await provider.xml(valid);
    const attack = forge(xml);
    expect(attack).not.toBe(xml);
    expect(await outcome(attack)).toMatch(reason);
  });

  it.each<[string, Partial<ResponseParts>, Partial<SamlSettings>, RegExp]>([
    ['no signature', { sign: [] }, {}, /the assertion is not signed/],
    ['only the response signed, when the assertion must be', { sign: ['response'] }, {}, /the assertion is not signed/],
    ['only the assertion signed, when the response must be', {}, { want_response_signed: true }, /the response is not signed/],
    ['another audience', { audience: 'https://other.example.com' }, {}, /for another service/],
    ['another recipient', { recipient: 'https://other.example.com/acs' }, {}, /another address \(Recipient\)/],
    [
      'another destination',
      { before: (xml) => xml.replace(/Destination="[^"]*"/, 'Destination="https://other.example.com/acs"') },
      {},
      /another address \(Destination\)/,
    ],
    ['an error as its status', { before: (xml) => xml.replace('status:Success', 'status:Requester') }, {}, /reported an error/],
    ['an end in the past', { validFrom: -600, validUntil: -60 }, {}, /has expired/],
    ['a begin in the future', { validFrom: 120 }, {}, /not valid yet/],
    ['an issue time in the future', { issued: 60 }, {}, /issued in the future \(IssueInstant\)/],
    ['no issue time', { before: (xml) => xml.replaceAll(/ IssueInstant="[^"]*"/g, '') }, {}, /^SAML: /],
    ['a session that has ended', { sessionUntil: -60 }, {}, /session at the identity provider has ended/],
    [
      'an end of the session that is no time',
      { sessionUntil: 300, before: (xml) => xml.replace(/SessionNotOnOrAfter="[^"]*"/, 'SessionNotOnOrAfter="soon"') },
      {},
      /session at the identity provider has ended/,
    ],
    ['a validity of more than a day', { validUntil: 90_000 }, {}, /more than a day/],
    ['another issuer', { issuer: 'https://evil.example.com' }, {}, /another identity provider/],
    ['a reply to another request', { inResponseTo: '_other' }, {}, /another request/],
    ['no reply to a request', { inResponseTo: null }, {}, /another request/],
    ['a transient subject', { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' }, {}, /transient/],
    ['an empty subject', { nameId: ' ' }, {}, /NameID is empty/],
    [
      'two subjects',
      { before: (xml) => xml.replace(/(<saml:NameID[\s\S]*?<\/saml:NameID>)/, '$1$1') },
      {},
      /Subject.NameID is missing, occurs twice/,
    ],
    [
      'no audience',
      { before: (xml) => xml.replace(/<saml:AudienceRestriction>[\s\S]*<\/saml:AudienceRestriction>/, '') },
      {},
      /another service/,
    ],
    ['no conditions', { before: (xml) => xml.replace(/<saml:Conditions[\s\S]*<\/saml:Conditions>/, '') }, {}, /^SAML: /],
    [
      'a begin of its confirmation',
      {
        before: (xml) =>
          put(xml, '<saml:SubjectConfirmationData', '<saml:SubjectConfirmationData NotBefore="2020-01-01T00:00:00Z"'),
      },
      {},
      /has a begin \(NotBefore\)/,
    ],
    ['another confirmation', { before: (xml) => xml.replace('cm:bearer', 'cm:sender-vouches') }, {}, /no bearer confirmation/],
  ])('with %s are rejected', async (_, parts, settings, reason) => {
    expect(await outcome(await provider.xml({ ...valid, ...parts }), expected(settings))).toMatch(reason);
  });

  it('signed with another key are rejected, even if they contain its certificate', async () => {
    const xml = await provider.xml({ ...valid, key: other });
    expect(await outcome(xml)).toMatch(/the assertion is not signed/);
    const body = other.certificate.replace(/-----[^-]+-----|\s/g, '');
    const info = `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${body}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></ds:Signature>`;
    expect(await outcome(put(xml, '</ds:Signature>', info))).toMatch(/the assertion is not signed/);
  });

  it('with InResponseTo are rejected in a sign-in that the provider began', async () => {
    expect(await outcome(await provider.xml(valid), expected({}, null))).toMatch(/another sign-in/);
    for (const inResponseTo of [null, '']) {
      expect(await outcome(await provider.xml({ ...valid, inResponseTo }), expected({}, null))).toBe('accepted ada@example.com');
      expect(await outcome(await provider.xml({ ...valid, inResponseTo }))).toMatch(/another request/);
    }
  });
});
