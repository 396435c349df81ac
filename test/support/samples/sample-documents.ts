import type { ApiKeyDocument, ConfigDocument } from '../../../core/contract/protocol/documents.ts';

/** An active workspace key. */
export function sampleKey(id: string, changes: Partial<ApiKeyDocument> = {}): ApiKeyDocument {
  return {
    id,
    keyId: '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f00aa',
    digest: 'A'.repeat(43),
    type: 'workspace-service',
    organisationId: 'organisation-1',
    workspaceId: 'workspace-1',
    userId: null,
    status: 'active',
    scopes: ['completions.write'],
    expiresAt: null,
    defaults: { configSlug: null, metadata: {}, allowConfigOverride: true },
    ...changes,
  };
}

/** A saved config, identified by its version. */
export function sampleConfig(slug: string, versionId: string, config: ConfigDocument['config'] = {}): ConfigDocument {
  return { id: `id of ${slug}`, slug, versionId, organisationId: 'organisation-1', workspaceId: 'workspace-1', config };
}
