import {
  type ApiKeyKind,
  type ApiKeyType,
  digestSecret,
  newApiKey,
  parseApiKey,
} from '../../core/contract/values/credentials/api-key.ts';
import { scopesByType } from '../access/scopes.ts';
import { newId } from '../db/new-id.ts';
import type { Tenant } from '../db/tenant.ts';
import type { Change } from '../publish/write-change.ts';
import { apiKeys } from '../resources/api-keys/entity.ts';
import { integrationWorkspaces } from '../resources/integrations/entity.ts';
import { createIntegration } from '../resources/integrations/service.ts';
import { createProvider } from '../resources/integrations/sharing/create-provider.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { addDefaultCollection } from '../resources/prompt-collections/service.ts';
import { addUniversalLabels } from '../resources/prompt-labels/service.ts';
import { workspaces } from '../resources/workspaces/entity.ts';
import type { Vault } from '../secrets/vault.ts';

export interface NewOrganisation {
  readonly id: string;
  readonly name: string;
  /** Texts of its first keys; null generates one. */
  readonly adminKey: string | null;
  readonly workspaceKey: string | null;
  /** True if requests of the organisation may use saved configs and stored providers only. */
  readonly blockInlineConfig: boolean;
}

export interface FirstItems {
  readonly adminKey: string;
  readonly workspaceKey: string;
  readonly workspaceId: string;
}

/**
 * Creates an organisation that is ready for use: a data key, a default workspace, an admin key with every scope, a workspace key,
 * and the built-in `mock` provider.
 */
export async function createOrganisation(
  change: Change,
  vault: Vault,
  pepper: Uint8Array,
  sent: NewOrganisation,
): Promise<FirstItems> {
  const { tx } = change;
  const now = new Date();
  tx.create(organisations, {
    id: sent.id,
    name: sent.name,
    dataPlaneSecuritySettings: { block_inline_config: sent.blockInlineConfig },
    createdAt: now,
    lastUpdatedAt: now,
  });
  await tx.flush();
  await vault.addDataKey(tx, sent.id);
  const workspaceId = await addWorkspace(change, sent.id);
  await addMock(change, vault, sent.id, workspaceId);
  addDefaultCollection(change, { id: workspaceId, organisationId: sent.id });
  addUniversalLabels(change, sent.id);
  const adminKey = sent.adminKey ?? newApiKey('admin').text;
  const workspaceKey = sent.workspaceKey ?? newApiKey('ws').text;
  const organisationId = sent.id;
  const ofAdmin = { tenant: { organisationId, workspaceId: null }, type: 'organisation-service' } as const;
  addKey(change, pepper, { ...ofAdmin, name: 'First admin key', text: adminKey });
  const ofWorkspace = { tenant: { organisationId, workspaceId }, type: 'workspace-service' } as const;
  addKey(change, pepper, { ...ofWorkspace, name: 'First workspace key', text: workspaceKey });
  await tx.flush();
  change.about(sent);
  return { adminKey, workspaceKey, workspaceId };
}

/** Returns true if a text is a key of this kind in the key format. */
export function isKeyOfKind(text: string, kind: ApiKeyKind): boolean {
  return parseApiKey(text)?.kind === kind;
}

async function addWorkspace(change: Change, organisationId: string): Promise<string> {
  const now = new Date();
  const id = newId();
  change.tx.create(workspaces, {
    id,
    organisationId,
    slug: 'ws-default',
    name: 'Default workspace',
    description: null,
    icon: null,
    isDefault: true,
    metadata: {},
    status: 'active',
    createdAt: now,
    lastUpdatedAt: now,
  });
  await change.tx.flush();
  change.emit({ kind: 'workspace', id, op: 'upsert' });
  return id;
}

async function addMock(change: Change, vault: Vault, organisationId: string, workspaceId: string): Promise<void> {
  const now = new Date();
  const mock = await createIntegration(change, vault, {
    organisationId,
    workspaceId: null,
    name: 'Mock',
    slug: 'mock',
    aiProviderId: 'mock',
    key: null,
    description: 'Built in: replies without a provider account',
    configurations: {},
  });
  const access = { enabled: true, rateLimits: [], createdAt: now, lastUpdatedAt: now };
  const share = { integrationId: mock.id, workspaceId, organisationId, ...access };
  change.tx.create(integrationWorkspaces, share);
  await createProvider(change, { organisationId, workspaceId }, { name: 'Mock', slug: 'mock', integrationId: mock.id });
}

/** Adds a key with every scope of its type and without a user. Returns the id of its row. */
export function addKey(
  change: Change,
  pepper: Uint8Array,
  made: {
    readonly tenant: Tenant;
    readonly type: ApiKeyType;
    readonly name: string;
    readonly text: string;
  },
): string {
  const { tenant, type, name, text } = made;
  const id = newId();
  const key = parseApiKey(text);
  if (!key) throw new Error('the text of a new key is not in the key format');
  const now = new Date();
  change.tx.create(apiKeys, {
    ...tenant,
    id,
    userId: null,
    type,
    name,
    description: null,
    publicId: key.id,
    digest: digestSecret(pepper, key.secret),
    lastCharacters: text.slice(-4),
    previousDigest: null,
    previousExpiresAt: null,
    scopes: [...scopesByType[type]],
    defaultConfigId: null,
    defaultMetadata: {},
    allowConfigOverride: true,
    creationMode: 'auto',
    expiresAt: null,
    createdAt: now,
    lastUpdatedAt: now,
  });
  change.emit({ kind: 'api-key', id: key.id, op: 'upsert' });
  return id;
}
