import { outboundCallMs } from '../../../core/contract/protocol/control-plane-calls/outbound-call.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { invalid } from '../../http/errors.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { createGatewayFetch, OutboundError } from '../../http/gateways/gateway-fetch.ts';
import type { SsoConnection } from './entity.ts';
import { newSamlKey, type SamlKey } from './saml-key.ts';
import { checkCertificates, type ReadMetadata, readProviderMetadata } from './saml-metadata.ts';
import type { SamlChange } from './saml-schema.ts';
import type { SamlSettings } from './saml-settings.ts';
import { connectionSecrets } from './secrets.ts';

const defaults = {
  metadata_url: null,
  slo_url: null,
  slo_response_url: null,
  sign_requests: true,
  want_assertion_signed: true,
  want_response_signed: false,
  allow_idp_initiated: false,
  clock_skew_seconds: 30,
  email_attribute: null,
  first_name_attribute: null,
  last_name_attribute: null,
  group_attribute: null,
} as const;

/**
 * Maximum milliseconds of a request that may read metadata at a URL: the time of the host, and that of other requests. With the usual limit,
 * a host that does not respond would be reported as a slow database.
 */
export const metadataDeadlineMs = outboundCallMs + 3_000;

/** Parts of a SAML connection that are prepared before the transaction: metadata of the provider, and the key of a new connection. */
export interface PreparedSaml {
  readonly metadata: ReadMetadata | null;
  readonly key: SamlKey | null;
}

/** Prepares a new or changed connection. Throws AB01. */
export async function prepareSaml(
  services: Pick<AdminServices, 'settings' | 'log' | 'clock'>,
  organisationId: string,
  sent: { readonly type?: string | undefined; readonly saml?: SamlChange | undefined },
  isNew: boolean,
): Promise<PreparedSaml> {
  const metadata = await readMetadata(services, organisationId, sent.saml);
  return { metadata, key: isNew && sent.type === 'saml' ? await newSamlKey(services.clock.now()) : null };
}

/** Reads the metadata that a request names or contains; null if there is none. Before the transaction, because it may call the provider. */
export async function readMetadata(
  services: Pick<AdminServices, 'settings' | 'log' | 'clock'>,
  organisationId: string,
  sent: SamlChange | undefined,
): Promise<ReadMetadata | null> {
  const url = sent?.metadata_url ?? undefined;
  if (url !== undefined && sent?.metadata_xml !== undefined)
    throw invalid('saml.metadata_xml: send either metadata_url or metadata_xml');
  const now = services.clock.now();
  if (sent?.metadata_xml !== undefined) return readProviderMetadata(sent.metadata_xml, 'saml.metadata_xml', now);
  if (url === undefined) return null;
  checkHost(services.settings, url, 'saml.metadata_url');
  const reply = await createGatewayFetch(services, organisationId)(url, { method: 'GET', headers: {}, body: null }).catch(
    (error) => {
      throw error instanceof OutboundError ? invalid(`saml.metadata_url: ${error.message}`) : error;
    },
  );
  if (!reply.ok) throw invalid(`saml.metadata_url: the host replied with status ${reply.status}`);
  const metadata = readProviderMetadata(await reply.text(), 'saml.metadata_url', now);
  for (const field of addressFields) checkAddress(metadata.provider[field], field);
  return metadata;
}

/** Writes the settings of a SAML connection. Throws AB01 if the result could not verify responses. */
export async function putSaml(
  tx: EntityManager,
  { vault }: Pick<AdminServices, 'vault'>,
  row: SsoConnection,
  sent: SamlChange,
  { metadata, key }: PreparedSaml,
): Promise<void> {
  const { metadata_xml: _, certificates, ...fields } = sent;
  const entered = certificates === undefined ? {} : { certificates: checkCertificates(certificates, 'saml.certificates') };
  const before = row.settings as Partial<SamlSettings>;
  // The stored address for replies belongs to the stored `slo_url`.
  const hasNewLogout = fields.slo_url !== undefined && fields.slo_url !== before.slo_url;
  const after = {
    ...defaults,
    ...before,
    ...(hasNewLogout ? { slo_response_url: null } : {}),
    ...fields,
    ...entered,
    ...metadata?.provider,
  } as Partial<SamlSettings>;
  for (const field of ['idp_entity_id', 'sso_url'] as const) {
    if (!after[field]) throw invalid(`saml.${field}: required without metadata_url and metadata_xml`);
  }
  for (const field of addressFields) checkAddress(after[field], field);
  // Without a certificate nothing could be verified, and a connection that verifies nothing admits everyone.
  if (!after.certificates?.length) throw invalid('saml.certificates: at least one certificate is required');
  if (!after.want_assertion_signed && !after.want_response_signed) {
    throw invalid('saml.want_assertion_signed: the assertion or the response must be signed');
  }
  if (key !== null) await connectionSecrets.put(tx, vault, row, { saml_key: key.key });
  if (metadata) row.metadataValidUntil = metadata.validUntil;
  // Certificates that an administrator enters have no end.
  else if (certificates !== undefined) row.metadataValidUntil = null;
  row.settings = { ...after, ...(key === null ? {} : { own_certificate: key.certificate }) };
}

/** Browsers are sent to these addresses. */
const addressFields = ['sso_url', 'slo_url', 'slo_response_url'] as const;

/** Throws AB01 for a scheme other than http and https. */
function checkAddress(address: string | null | undefined, field: (typeof addressFields)[number]): void {
  if (address && !/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
    throw invalid(`saml.${field}: an http or https URL is expected`);
}
