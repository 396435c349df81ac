import { createSign, randomUUID } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import { encrypt } from 'xml-encryption';
import { newSamlKey } from '../../../admin/resources/sso-connections/saml-key.ts';

/** Content of a response. Everything has a valid default. */
export interface ResponseParts {
  readonly recipient: string;
  readonly audience: string;
  /** Null: absent, as in sign-ins that the provider begins. */
  readonly inResponseTo: string | null;
  readonly issuer?: string;
  readonly nameId?: string;
  readonly nameIdFormat?: string;
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  readonly assertionId?: string;
  readonly sessionIndex?: string;
  /** Seconds relative to now. */
  readonly validFrom?: number;
  readonly validUntil?: number;
  /** IssueInstant of the assertion. */
  readonly issued?: number;
  /** SessionNotOnOrAfter. Absent: no such attribute. */
  readonly sessionUntil?: number;
  readonly sign?: readonly ('assertion' | 'response')[];
  /** Certificate in PEM that the assertion is encrypted for. */
  readonly encryptFor?: string;
  /** How it is encrypted: as by Keycloak (RSA-OAEP of XML Encryption 1.1 with SHA-256), AD FS (CBC), or with GCM and SHA-1 (default). */
  readonly encryptLike?: 'keycloak' | 'adfs';
  /** Changes the XML before it is signed. */
  readonly before?: (xml: string) => string;
  /** Changes the assertion before it is encrypted. */
  readonly beforeEncryption?: (xml: string) => string;
  /** Signs with the key of another provider. */
  readonly key?: ProviderKey;
}

export interface ProviderKey {
  readonly key: string;
  readonly certificate: string;
}

/** Content of a logout message. */
export interface LogoutParts {
  readonly destination: string;
  readonly kind?: 'LogoutRequest' | 'LogoutResponse';
  readonly issuer?: string;
  readonly nameId?: string;
  readonly sessions?: readonly string[];
  readonly status?: string;
  /** Seconds relative to now. */
  readonly issued?: number;
}

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const formats = 'urn:oasis:names:tc:SAML:1.1:nameid-format';

/** A SAML identity provider: signs with xml-crypto, the library of node-saml's own test provider. */
export class FakeSamlProvider {
  readonly entityId = 'https://idp.example.com/metadata';
  readonly key: ProviderKey;

  private constructor(key: ProviderKey) {
    this.key = key;
  }

  static async create(): Promise<FakeSamlProvider> {
    return new FakeSamlProvider(await newSamlKey(Date.now()));
  }

  /** `validUntil`: seconds relative to now. */
  metadata(certificates: readonly string[] = [this.key.certificate], validUntil?: number): string {
    const keys = certificates.map((one) => {
      const body = one.replace(/-----[^-]+-----|\s/g, '');
      return `<KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${body}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></KeyDescriptor>`;
    });
    const end = validUntil === undefined ? '' : ` validUntil="${new Date(Date.now() + validUntil * 1_000).toISOString()}"`;
    return `<?xml version="1.0"?><!-- metadata may have comments --><EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${this.entityId}"${end}><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys.join('')}<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example.com/sso"/><SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example.com/slo"/></IDPSSODescriptor></EntityDescriptor>`;
  }

  /** Id of the request in the address that a sign-in leads to. */
  requestId(url: string): string {
    const sent = new URL(url).searchParams.get('SAMLRequest') ?? '';
    return /ID="([^"]+)"/.exec(inflateRawSync(Buffer.from(sent, 'base64')).toString('utf8'))?.[1] ?? '';
  }

  /** Returns the XML of a signed response. */
  async xml(parts: ResponseParts): Promise<string> {
    const { sign = ['assertion'], key = this.key, encryptFor } = parts;
    let xml = this.#unsigned(parts);
    if (parts.before) xml = parts.before(xml);
    if (sign.includes('assertion')) xml = signed(xml, 'Assertion', key);
    if (encryptFor !== undefined)
      xml = await encrypted((parts.beforeEncryption ?? ((same) => same))(xml), encryptFor, parts.encryptLike);
    if (sign.includes('response')) xml = signed(xml, 'Response', key);
    return xml;
  }

  async respond(parts: ResponseParts): Promise<string> {
    return Buffer.from(await this.xml(parts)).toString('base64');
  }

  /** Returns the XML of a logout message, unsigned. */
  logoutXml(parts: LogoutParts): string {
    const { kind = 'LogoutRequest', destination, issuer = this.entityId, nameId = 'ada@example.com', sessions = [] } = parts;
    const at = new Date(Date.now() + (parts.issued ?? 0) * 1_000).toISOString();
    const content =
      kind === 'LogoutRequest'
        ? `<saml:NameID>${nameId}</saml:NameID>${sessions.map((one) => `<samlp:SessionIndex>${one}</samlp:SessionIndex>`).join('')}`
        : `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${parts.status ?? 'Success'}"/></samlp:Status>`;
    return `<samlp:${kind} xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_logout-${randomUUID()}" Version="2.0" IssueInstant="${at}" Destination="${destination}"><saml:Issuer>${issuer}</saml:Issuer>${content}</samlp:${kind}>`;
  }

  /** Returns the query of a signed logout message with the redirect binding. */
  logoutQuery(
    parts: LogoutParts,
    { key = this.key, algorithm = rsaSha256 }: { key?: ProviderKey; algorithm?: string } = {},
  ): string {
    const name = parts.kind === 'LogoutResponse' ? 'SAMLResponse' : 'SAMLRequest';
    const message = deflateRawSync(Buffer.from(this.logoutXml(parts))).toString('base64');
    const query = `${name}=${encodeURIComponent(message)}&RelayState=at%20the+portal&SigAlg=${encodeURIComponent(algorithm)}`;
    const signature = createSign(algorithm.endsWith('sha1') ? 'sha1' : 'sha256')
      .update(query)
      .sign(key.key, 'base64');
    return `${query}&Signature=${encodeURIComponent(signature)}`;
  }

  /** Returns the text for a form, signed inside. */
  logoutForm(parts: LogoutParts, key: ProviderKey = this.key): string {
    return Buffer.from(signed(this.logoutXml(parts), parts.kind ?? 'LogoutRequest', key)).toString('base64');
  }

  #unsigned(parts: ResponseParts): string {
    const { recipient, audience, inResponseTo, issuer = this.entityId, attributes = { email: ['ada@example.com'] } } = parts;
    const { nameId = 'ada@example.com', nameIdFormat = `${formats}:emailAddress`, assertionId = `_${randomUUID()}` } = parts;
    const at = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
    const [from, until] = [at(parts.validFrom ?? -60), at(parts.validUntil ?? 300)];
    const sessionEnd = parts.sessionUntil === undefined ? '' : ` SessionNotOnOrAfter="${at(parts.sessionUntil)}"`;
    const replyTo = inResponseTo === null ? '' : ` InResponseTo="${inResponseTo}"`;
    const list = Object.entries(attributes).map(([name, values]) => {
      const texts = values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('');
      return `<saml:Attribute Name="${name}">${texts}</saml:Attribute>`;
    });
    return [
      `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_${randomUUID()}" Version="2.0" IssueInstant="${at(0)}" Destination="${recipient}"${replyTo}>`,
      `<saml:Issuer>${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>`,
      `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${assertionId}" Version="2.0" IssueInstant="${at(parts.issued ?? 0)}"><saml:Issuer>${issuer}</saml:Issuer>`,
      `<saml:Subject><saml:NameID Format="${nameIdFormat}">${nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${until}" Recipient="${recipient}"${replyTo}/></saml:SubjectConfirmation></saml:Subject>`,
      `<saml:Conditions NotBefore="${from}" NotOnOrAfter="${until}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>`,
      `<saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="${parts.sessionIndex ?? 's1'}"${sessionEnd}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`,
      `<saml:AttributeStatement>${list.join('')}</saml:AttributeStatement></saml:Assertion></samlp:Response>`,
    ].join('');
  }
}

function signed(xml: string, name: string, { key }: ProviderKey): string {
  const xpath = `//*[local-name(.)='${name}']`;
  const signer = new SignedXml({
    privateKey: key,
    signatureAlgorithm: rsaSha256,
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  const transforms = ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'];
  signer.addReference({ xpath, transforms, digestAlgorithm: 'http://www.w3.org/2001/04/xmlenc#sha256' });
  signer.computeSignature(xml, { location: { reference: `${xpath}/*[local-name(.)='Issuer']`, action: 'after' }, prefix: 'ds' });
  return signer.getSignedXml();
}

function encrypted(xml: string, certificate: string, like: ResponseParts['encryptLike']): Promise<string> {
  const assertion = /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
  const options = {
    rsa_pub: certificate,
    pem: certificate,
    encryptionAlgorithm:
      like === 'adfs' ? 'http://www.w3.org/2001/04/xmlenc#aes256-cbc' : 'http://www.w3.org/2009/xmlenc11#aes256-gcm',
    disallowEncryptionWithInsecureAlgorithm: false,
    warnInsecureAlgorithm: false,
    ...(like === 'keycloak'
      ? {
          keyEncryptionAlgorithm: 'http://www.w3.org/2009/xmlenc11#rsa-oaep',
          ...{ keyEncryptionDigest: 'sha256', keyEncryptionMgf: 'sha256' },
        }
      : { keyEncryptionAlgorithm: 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p' }),
  };
  return new Promise((resolve, reject) => {
    encrypt(assertion, options as never, (error: Error | null, result: string) => {
      if (error) return reject(error);
      resolve(xml.replace(assertion, () => `<saml:EncryptedAssertion>${result}</saml:EncryptedAssertion>`));
    });
  });
}
