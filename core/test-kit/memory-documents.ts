import { randomUUID } from 'node:crypto';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import type { ApiKeyDocument, ConfigDocument, DocumentKind, ProviderDocument } from '../contract/protocol/documents.ts';
import { digestSecret, newApiKey } from '../contract/values/credentials/api-key.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

export const organisationId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0001';
export const workspaceId = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0002';

export interface MemoryDocuments {
  /** Documents by `<kind> <id>`. */
  readonly documents: Map<string, unknown>;
  readonly reader: DocumentReader;
  /** The API key of the workspace. */
  readonly key: string;
  addConfig(slug: string, config: JsonObject): ConfigDocument;
}

/** The documents of one workspace with one API key. `providers` are stored providers by slug. */
export function newMemoryDocuments(
  pepper: Uint8Array,
  providers: Readonly<Record<string, string>>,
  keyFields: Partial<ApiKeyDocument> = {},
): MemoryDocuments {
  const key = newApiKey('ws');
  const keyDocument: ApiKeyDocument = {
    id: key.id,
    keyId: randomUUID(),
    digest: digestSecret(pepper, key.secret),
    type: 'workspace-service',
    organisationId,
    workspaceId,
    userId: null,
    status: 'active',
    scopes: ['completions.write'],
    expiresAt: null,
    defaults: { configSlug: null, metadata: {}, allowConfigOverride: true },
    ...keyFields,
  };
  const workspace = { id: workspaceId, slug: 'ws-main', organisationId, defaultConfigSlug: null, metadata: {} };
  const documents = new Map<string, unknown>([
    [`api-key ${key.id}`, keyDocument],
    [`workspace ${workspaceId}`, workspace],
  ]);
  for (const [slug, provider] of Object.entries(providers)) {
    documents.set(`provider ${workspaceId}/${slug}`, providerDocument(slug, provider));
  }
  return {
    documents,
    reader: { get: (kind: DocumentKind, id: string) => (documents.get(`${kind} ${id}`) ?? null) as never },
    key: key.text,
    addConfig(slug, config) {
      const document: ConfigDocument = { id: randomUUID(), slug, versionId: randomUUID(), organisationId, workspaceId, config };
      documents.set(`config ${workspaceId}/${slug}`, document);
      return document;
    },
  };
}

/** Returns an active stored provider without restrictions. */
export function providerDocument(slug: string, provider: string): ProviderDocument {
  return {
    id: randomUUID(),
    slug,
    organisationId,
    workspaceId,
    integrationId: randomUUID(),
    provider,
    status: 'active',
    expiresAt: null,
    settings: {},
    customHeaders: {},
    secrets: null,
  };
}
