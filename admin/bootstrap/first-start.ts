import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { type ApiKeyKind, digestSecret, newApiKey, parseApiKey } from '../../core/contract/api-key.ts';
import { scopesByType } from '../access/scopes.ts';
import { newId } from '../db/new-id.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import { type Change, writeChange } from '../db/write-change.ts';
import { type ApiKeyType, apiKeys } from '../resources/api-keys/entity.ts';
import { integrationWorkspaces } from '../resources/integrations/entity.ts';
import { createIntegration } from '../resources/integrations/service.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { createProvider } from '../resources/providers/service.ts';
import { workspaces } from '../resources/workspaces/entity.ts';
import type { Vault } from '../secrets/vault.ts';

/** What a first start made, as it stands in `first-keys.json`. */
export interface FirstKeys {
  readonly base_url: string;
  readonly control_plane_url: string;
  readonly admin_key: string;
  readonly workspace_key: string;
  readonly workspace_id: string;
}

/** A setting is wrong: the process should say so and stop. */
export class BootstrapFault extends Error {}

type Stores = { readonly database: Database; readonly vault: Vault; readonly apiKeyPepper: Uint8Array };

/**
 * Fills an empty database: an organisation with a default workspace, an admin key, a workspace key, and the built-in `mock`
 * provider. Returns the keys, or null when there was something already. Two processes may try at once: one does it. The keys
 * are on disk (mode 0600) before they are committed, so that a crash between the two cannot lose them.
 */
export async function firstStart(settings: Settings, stores: Stores): Promise<FirstKeys | null> {
  const given = {
    admin: checkGiven('BOOTSTRAP_ADMIN_KEY', settings.bootstrapAdminKey, 'admin'),
    workspace: checkGiven('BOOTSTRAP_WORKSPACE_KEY', settings.bootstrapWorkspaceKey, 'ws'),
  };
  const em = stores.database.em();
  if ((await em.count(organisations)) > 0) return null;
  const organisationId = newId();
  let keys: FirstKeys | null = null;
  const audit = {
    organisationId,
    workspaceId: null,
    method: 'POST',
    uri: '/',
    requestId: newId(),
    requestBody: null,
    queryParams: {},
    userId: null,
    userType: 'system' as const,
    resourceType: 'organisations',
    action: 'create',
    clientIp: 'local',
  };
  try {
    await writeChange(em, audit, null, async (change) => {
      await change.tx.execute('select pg_advisory_xact_lock(?)', [bootstrapLock]);
      if ((await change.tx.count(organisations)) > 0) throw new AlreadyDone();
      const workspaceId = await createTenant(change, stores.vault, organisationId);
      const admin = given.admin ?? newApiKey('admin').text;
      const workspace = given.workspace ?? newApiKey('ws').text;
      addKey(change.tx, stores.apiKeyPepper, { organisationId, workspaceId: null }, 'organisation-service', admin);
      addKey(change.tx, stores.apiKeyPepper, { organisationId, workspaceId }, 'workspace-service', workspace);
      for (const text of [admin, workspace]) change.emit({ kind: 'api-key', id: parseApiKey(text)?.id ?? '', op: 'upsert' });
      change.about(organisationId);
      keys = toFirstKeys(settings, admin, workspace, workspaceId);
      await change.tx.flush();
      await writeKeys(settings.dataDir, keys);
    });
  } catch (error) {
    if (error instanceof AlreadyDone) return null;
    throw error;
  }
  return keys;
}

/** An arbitrary number all versions agree on: who holds it may fill an empty database. */
const bootstrapLock = 4_715_002;

class AlreadyDone extends Error {}

async function createTenant(change: Change, vault: Vault, organisationId: string): Promise<string> {
  const { tx } = change;
  const now = new Date();
  const times = { createdAt: now, lastUpdatedAt: now };
  tx.create(organisations, { id: organisationId, name: 'Default organisation', ...times });
  await tx.flush();
  await vault.addDataKey(tx, organisationId);
  const workspaceId = newId();
  tx.create(workspaces, {
    id: workspaceId,
    organisationId,
    slug: 'ws-default',
    name: 'Default workspace',
    description: null,
    icon: null,
    isDefault: true,
    metadata: {},
    status: 'active',
    ...times,
  });
  await tx.flush();
  change.emit({ kind: 'workspace', id: workspaceId, op: 'upsert' });
  const mock = await createIntegration(change, vault, {
    organisationId,
    workspaceId: null,
    name: 'Mock',
    slug: 'mock',
    aiProviderId: 'mock',
    key: null,
    description: 'Built in: answers without a provider account',
    configurations: {},
  });
  tx.create(integrationWorkspaces, { integrationId: mock.id, workspaceId, organisationId, enabled: true, ...times });
  await createProvider(change, { organisationId, workspaceId }, { name: 'Mock', slug: 'mock', integrationId: mock.id });
  return workspaceId;
}

function addKey(
  tx: EntityManager,
  pepper: Uint8Array,
  tenant: { readonly organisationId: string; readonly workspaceId: string | null },
  type: ApiKeyType,
  text: string,
): void {
  const key = parseApiKey(text);
  if (!key) throw new Error('the bootstrap key is not in the key format');
  const now = new Date();
  tx.create(apiKeys, {
    ...tenant,
    id: newId(),
    userId: null,
    type,
    name: type === 'organisation-service' ? 'First admin key' : 'First workspace key',
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
}

function toFirstKeys(settings: Settings, admin: string, workspace: string, workspaceId: string): FirstKeys {
  const anyHost = settings.host === '0.0.0.0' || settings.host === '::';
  const host = anyHost ? '127.0.0.1' : settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const scheme = settings.tlsCert ? 'https' : 'http';
  return {
    base_url: `${scheme}://${host}:${settings.port}/v1`,
    control_plane_url: settings.controlPlaneUrl,
    admin_key: admin,
    workspace_key: workspace,
    workspace_id: workspaceId,
  };
}

async function writeKeys(directory: string, keys: FirstKeys): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(join(directory, 'first-keys.json'), `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flush: true });
}

function checkGiven(setting: string, text: string | null, kind: ApiKeyKind): string | null {
  if (text === null) return null;
  if (parseApiKey(text)?.kind === kind) return text;
  throw new BootstrapFault(`${setting}: a key of the form svc_${kind}_… is expected; \`npm run new:key\` prints one`);
}
