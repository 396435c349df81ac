import type { ApiKeyDocument } from '../../../core/contract/documents.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { configs } from '../configs/entity.ts';
import { apiKeys } from './entity.ts';
import { keyStatus } from './to-reply.ts';

/** What gateways see of the key with this public id; null when there is none. */
export async function toApiKeyDocument(em: EntityManager, publicId: string): Promise<ApiKeyDocument | null> {
  const row = await em.findOne(apiKeys, { publicId });
  if (!row) return null;
  const config = row.defaultConfigId ? await em.findOne(configs, { id: row.defaultConfigId, status: 'active' }) : null;
  return {
    id: publicId,
    keyId: row.id,
    digest: row.digest,
    previousDigest: row.previousDigest ?? null,
    previousExpiresAt: row.previousExpiresAt?.toISOString() ?? null,
    type: row.type,
    organisationId: row.organisationId,
    workspaceId: row.workspaceId ?? null,
    userId: row.userId ?? null,
    status: keyStatus(row, Date.now()),
    scopes: row.scopes,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    defaults: {
      configSlug: config?.slug ?? null,
      metadata: row.defaultMetadata,
      allowConfigOverride: row.allowConfigOverride,
    },
  };
}
