import { X509Certificate } from 'node:crypto';
import { invalid } from '../../http/errors.ts';
import { elements, parseXml, type XmlElement } from '../../sign-in/saml/parse-xml.ts';

/** The part of a provider's metadata that a connection needs. */
export interface ProviderMetadata {
  readonly idp_entity_id: string;
  readonly sso_url: string;
  readonly slo_url: string | null;
  readonly slo_response_url: string | null;
  readonly certificates: readonly string[];
}

/** Metadata as a provider sent it. */
export interface ReadMetadata {
  readonly provider: ProviderMetadata;
  /** Earliest `validUntil` of the descriptor and the elements around it; null: none. */
  readonly validUntil: Date | null;
}

const md = 'urn:oasis:names:tc:SAML:2.0:metadata';
const ds = 'http://www.w3.org/2000/09/xmldsig#';
const redirect = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const certificatesMax = 10;

/**
 * Reads the metadata of a SAML identity provider. `field` names the source in errors, `now` is in milliseconds. Throws AB01, also for
 * metadata that has expired.
 */
export function readProviderMetadata(xml: string, field: string, now: number): ReadMetadata {
  // Entities are the only way in which a small document can become a large one, or name other files.
  if (/<!(DOCTYPE|ENTITY)/i.test(xml)) throw invalid(`${field}: must not contain a document type`);
  const descriptors = elements(parse(xml, field), md, 'IDPSSODescriptor');
  const [descriptor] = descriptors;
  if (!descriptor) throw invalid(`${field}: contains no IDPSSODescriptor. The metadata of an identity provider is expected`);
  if (descriptors.length > 1) throw invalid(`${field}: describes several identity providers. Send the metadata of one`);
  const entityId = descriptor.parentNode?.getAttribute('entityID') ?? '';
  if (entityId === '') throw invalid(`${field}: EntityDescriptor has no entityID`);
  const addressOf = (service: string, attribute: 'Location' | 'ResponseLocation') =>
    elements(descriptor, md, service)
      .find((one) => one.getAttribute('Binding') === redirect)
      ?.getAttribute(attribute) || null;
  const ssoUrl = addressOf('SingleSignOnService', 'Location');
  if (!ssoUrl) throw invalid(`${field}: has no SingleSignOnService with the binding HTTP-Redirect`);
  const keys = elements(descriptor, md, 'KeyDescriptor').filter((one) => one.getAttribute('use') !== 'encryption');
  const certificates = keys.flatMap((key) => elements(key, ds, 'X509Certificate').map((one) => one.textContent ?? ''));
  const validUntil = endOf(descriptor, field);
  if (validUntil && validUntil.getTime() <= now) {
    throw invalid(`${field}: the metadata expired at ${validUntil.toISOString()}. Get the current metadata from the provider`);
  }
  const provider = {
    idp_entity_id: entityId,
    sso_url: ssoUrl,
    slo_url: addressOf('SingleLogoutService', 'Location'),
    slo_response_url: addressOf('SingleLogoutService', 'ResponseLocation'),
    certificates: checkCertificates(certificates, `${field}: KeyDescriptor`),
  };
  return { provider, validUntil };
}

function endOf(descriptor: XmlElement, field: string): Date | null {
  const times: number[] = [];
  for (let element: XmlElement | null = descriptor; element?.namespaceURI === md; element = element.parentNode) {
    const sent = element.getAttribute('validUntil');
    if (!sent) continue;
    // SAML times are in UTC, also if they have no zone.
    const time = Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(sent) ? sent : `${sent}Z`);
    if (Number.isNaN(time)) throw invalid(`${field}: validUntil: a time such as 2027-01-31T12:00:00Z is expected`);
    times.push(time);
  }
  return times.length === 0 ? null : new Date(Math.min(...times));
}

/**
 * Returns certificates as PEM, each once. Throws AB01 if there is none: without a certificate nothing could be verified. Also throws
 * for keys that are too short. Validity times are not checked, because providers use certificates only as containers of keys.
 */
export function checkCertificates(sent: readonly string[], field: string): string[] {
  const all = new Set<string>();
  // Metadata may repeat a certificate a thousand times.
  for (const text of new Set(sent)) {
    if (all.size <= certificatesMax) all.add(toPem(text, field));
  }
  if (all.size === 0) throw invalid(`${field}: at least one certificate is required, because responses are verified with it`);
  if (all.size > certificatesMax) throw invalid(`${field}: at most ${certificatesMax} certificates`);
  return [...all];
}

function toPem(text: string, field: string): string {
  const body = text.replace(/-----(BEGIN|END) CERTIFICATE-----/g, '').replace(/\s/g, '');
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(Buffer.from(body, 'base64'));
  } catch {
    throw invalid(`${field}: not an X.509 certificate. PEM, or its base64 part, is expected`);
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
  const isStrong = (type === 'rsa' && (details?.modulusLength ?? 0) >= 2_048) || type === 'ec';
  if (!isStrong) throw invalid(`${field}: an RSA key of at least 2,048 bits or an EC key is expected`);
  return certificate.toString();
}

function parse(xml: string, field: string): XmlElement {
  const root = parseXml(xml);
  if (!root) throw invalid(`${field}: not well-formed XML`);
  return root;
}
