import { hourMs } from '../../../core/contract/values/time/durations.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { AdminError } from '../../http/errors.ts';
import type { PublicCall } from '../../http/public-route.ts';
import { addJob } from '../../jobs/add-job.ts';
import type { JobHandler } from '../../jobs/job-runner.ts';
import { type Change, writeChange } from '../../publish/write-change.ts';
import { type SsoConnection, ssoConnections } from './entity.ts';
import { readMetadata } from './put-saml.ts';
import type { ProviderMetadata, ReadMetadata } from './saml-metadata.ts';
import { samlSettingsOf } from './saml-settings.ts';

export const refreshMetadataKind = 'refresh-saml-metadata';

const everyMs = hourMs;
const afterFailureMs = 300_000;
/** Refused responses cause at most one look in this time. */
const soonMs = 60_000;

/** Plans the next look at the metadata of a connection with `metadata_url`. */
export async function planRefresh({ tx }: Pick<Change, 'tx'>, row: SsoConnection): Promise<void> {
  if (!metadataUrlOf(row)) return;
  const runAt = new Date(Date.now() + nextLookMs(row.metadataValidUntil ?? null, Date.now()));
  await addJob(tx, { kind: refreshMetadataKind, key: row.id, organisationId: row.organisationId, runAt });
}

/** Milliseconds until the next look: an hour, or half of the time until the metadata expires. */
function nextLookMs(validUntil: Date | null, now: number): number {
  return validUntil === null ? everyMs : Math.max(soonMs, Math.min(everyMs, (validUntil.getTime() - now) / 2));
}

/** Plans a look at the metadata after a response was refused, without delaying the reply. */
export function refreshSoon(
  { services, afterwards }: Pick<PublicCall<never>, 'services' | 'afterwards'>,
  row: SsoConnection,
): void {
  if (!metadataUrlOf(row)) return;
  const { organisationId, id: key } = row;
  const checkedAt = row.metadataCheckedAt?.getTime() ?? 0;
  const runAt = new Date(Math.max(services.clock.now(), checkedAt + soonMs));
  afterwards(async () => {
    const em = services.database.emOf(organisationId);
    await em.transactional((tx) => addJob(tx, { kind: refreshMetadataKind, key, organisationId, runAt }));
    services.wakeJobs();
  });
}

/**
 * Reads the metadata of a connection again, every hour. New certificates and addresses replace the stored ones. If the host is away or
 * sends something else, nothing changes: sign-ins continue with the stored certificates, and the connection shows the reason.
 */
export function refreshMetadata(services: AdminServices): JobHandler {
  return async ({ key: id, organisationId, signal }) => {
    if (organisationId === null) return 'done';
    const em = services.database.emOf(organisationId);
    const row = await em.findOne(ssoConnections, { id, organisationId });
    const url = row && metadataUrlOf(row);
    if (!row || !url) return 'done';
    const outcome = await readAgain(services, row, url);
    const metadataError = 'error' in outcome ? outcome.error : null;
    if (metadataError !== null) services.log.warn({ connectionId: id, reason: metadataError }, 'SAML metadata was not refreshed');
    const read = 'metadata' in outcome ? outcome.metadata : null;
    if (read && differs(row, read.provider)) {
      const draft = draftOf(row, read.provider, url);
      await writeChange(em, services.auditKey, draft, signal, async (change) => {
        const current = await change.tx.findOneOrFail(ssoConnections, { id, organisationId });
        // An administrator may have entered another source meanwhile.
        if (metadataUrlOf(current) !== url) return;
        current.settings = { ...current.settings, ...read.provider };
        current.lastUpdatedAt = new Date(services.clock.now());
        change.about({ id });
      });
    }
    const now = services.clock.now();
    // The ORM would count the updates as changes of the connection. Some providers send another `validUntil` each time.
    await em.transactional(async (tx) => {
      await tx.execute(
        'update sso_connections set metadata_checked_at = ?, metadata_error = ? where id = ? and organisation_id = ?',
        [...[new Date(now), metadataError, id, organisationId]],
      );
      if (!read) return;
      await tx.execute(
        `update sso_connections set metadata_valid_until = ?
         where id = ? and organisation_id = ? and settings->>'metadata_url' = ?`,
        [read.validUntil, id, organisationId, url],
      );
    });
    return { againInMs: read ? nextLookMs(read.validUntil, now) : afterFailureMs };
  };
}

type Outcome = { readonly metadata: ReadMetadata } | { readonly error: string };

async function readAgain(services: AdminServices, row: SsoConnection, url: string): Promise<Outcome> {
  try {
    const metadata = await readMetadata(services, row.organisationId, { metadata_url: url });
    const { idp_entity_id: known } = samlSettingsOf(row);
    if (metadata?.provider.idp_entity_id === known) return { metadata };
    return {
      error: `saml.metadata_url: the entityID is no longer ${known}. Save the connection again if the provider was replaced`,
    };
  } catch (error) {
    if (error instanceof AdminError) return { error: error.message };
    throw error;
  }
}

function differs({ settings }: SsoConnection, metadata: ProviderMetadata): boolean {
  return Object.entries(metadata).some(([name, value]) => JSON.stringify(settings[name] ?? null) !== JSON.stringify(value));
}

function metadataUrlOf({ type, settings }: SsoConnection): string | null {
  return type === 'saml' ? samlSettingsOf({ settings }).metadata_url : null;
}

function draftOf({ id, organisationId }: SsoConnection, { certificates, ...addresses }: ProviderMetadata, url: string) {
  return {
    ...{ organisationId, workspaceId: null, method: 'PUT', uri: `/v1/admin/sso-connections/${id}`, requestId: '' },
    requestBody: { metadata_url: url, ...addresses, certificates: certificates.length },
    ...{ queryParams: {}, userId: null, userType: 'system' as const },
    ...{ resourceType: 'sso_connections', action: 'refresh_metadata', clientIp: '' },
  };
}
