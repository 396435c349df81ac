import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { type ApiKeyKind, digestSecret, parseApiKey } from '../../core/contract/values/credentials/api-key.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import { plainAddress } from '../../core/contract/values/text/email-address.ts';
import { newId } from '../db/new-id.ts';
import type { Database, EntityManager } from '../db/open-database.ts';
import { type Change, writeChange } from '../publish/write-change.ts';
import { apiKeys } from '../resources/api-keys/entity.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { insertInvite } from '../resources/user-invites/service.ts';
import { users } from '../resources/users/entity.ts';
import type { Vault } from '../secrets/vault.ts';
import { StartError } from '../start-error.ts';
import { createOrganisation, type FirstItems, isKeyOfKind } from './create-organisation.ts';

/** Contents of `first-keys.json`, written by the first start. */
export interface FirstKeys {
  readonly base_url: string;
  readonly control_plane_url: string;
  readonly admin_key: string;
  readonly workspace_key: string;
  readonly workspace_id: string;
  /** With `BOOTSTRAP_OWNER_EMAIL`: link at which the first owner sets a password. */
  readonly owner_link?: string;
}

type Stores = {
  readonly database: Database;
  readonly vault: Vault;
  readonly apiKeyPepper: Uint8Array;
  readonly auditKey: Uint8Array;
  readonly log: Log;
};

/** Returns the keys that a first start stores instead of new ones. Throws a StartError that names the setting of a key that is invalid. */
export function givenKeys({ bootstrapAdminKey, bootstrapWorkspaceKey }: Settings) {
  return {
    admin: checkGiven('BOOTSTRAP_ADMIN_KEY', bootstrapAdminKey, 'admin'),
    workspace: checkGiven('BOOTSTRAP_WORKSPACE_KEY', bootstrapWorkspaceKey, 'ws'),
  };
}

/**
 * Fills an empty database: an organisation with a default workspace, an admin key, a workspace key, and the built-in `mock`
 * provider. Returns the keys, or null if the database is not empty. If two processes do this at the same time, one of them
 * succeeds. The keys are on disk (mode 0600) before they are committed, so that a crash between the two cannot lose them.
 */
export async function firstStart(settings: Settings, stores: Stores): Promise<FirstKeys | null> {
  const given = givenKeys(settings);
  const em = stores.database.em();
  if ((await em.count(organisations)) > 0) {
    await warnOfIgnored(em, settings, stores);
    return null;
  }
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
    await writeChange(em, stores.auditKey, audit, null, async (change) => {
      await change.tx.execute('select pg_advisory_xact_lock(?)', [bootstrapLock]);
      if ((await change.tx.count(organisations)) > 0) throw new AlreadyDone();
      const sent = {
        id: organisationId,
        name: 'Default organisation',
        adminKey: given.admin,
        workspaceKey: given.workspace,
        blockInlineConfig: settings.bootstrapBlockInlineConfig,
      };
      const made = await createOrganisation(change, stores.vault, stores.apiKeyPepper, sent);
      keys = toFirstKeys(settings, made, await inviteOwner(change, settings, organisationId));
      await writeKeys(settings.dataDir, keys);
    });
  } catch (error) {
    if (error instanceof AlreadyDone) return null;
    throw error;
  }
  return keys;
}

/** Warns about settings that only a first start reads, unless they match the stored values. */
async function warnOfIgnored(em: EntityManager, settings: Settings, stores: Stores): Promise<void> {
  const { bootstrapAdminKey: admin, bootstrapWorkspaceKey: workspace, bootstrapOwnerEmail: owner } = settings;
  const ignored: string[] = [];
  if (admin !== null && !(await isStored(em, admin, stores.apiKeyPepper))) ignored.push('BOOTSTRAP_ADMIN_KEY');
  if (workspace !== null && !(await isStored(em, workspace, stores.apiKeyPepper))) ignored.push('BOOTSTRAP_WORKSPACE_KEY');
  if (owner !== null && (await em.count(users, { email: plainAddress(owner) })) === 0) ignored.push('BOOTSTRAP_OWNER_EMAIL');
  if (ignored.length === 0) return;
  stores.log.warn(
    { settings: ignored },
    `${ignored.join(', ')}: ignored, because only the first start on an empty database reads BOOTSTRAP settings. ` +
      '`npm run admin-key` makes a new admin key; owners are invited with POST /v1/admin/users/invites',
  );
}

async function isStored(em: EntityManager, text: string, pepper: Uint8Array): Promise<boolean> {
  const key = parseApiKey(text);
  return key !== null && (await em.count(apiKeys, { publicId: key.id, digest: digestSecret(pepper, key.secret) })) > 0;
}

/** An arbitrary number shared by all versions. The holder of this lock may fill an empty database. */
const bootstrapLock = 4_715_002;

class AlreadyDone extends Error {}

/** Returns the invite link of the first owner; null if none is configured. It expires like any invite. */
async function inviteOwner(change: Change, settings: Settings, organisationId: string): Promise<string | null> {
  if (settings.bootstrapOwnerEmail === null) return null;
  const inviting = { publicUrl: settings.publicUrl, inviteSeconds: settings.inviteSeconds, now: Date.now() };
  const email = plainAddress(settings.bootstrapOwnerEmail);
  const owner = { organisationId, email, role: 'owner' as const, memberships: [], apiKey: null, invitedBy: null };
  const { link } = await insertInvite(change, owner, inviting);
  change.about({ id: organisationId });
  return link;
}

function toFirstKeys(settings: Settings, made: FirstItems, ownerLink: string | null): FirstKeys {
  return {
    // A control plane on a machine of its own has no gateway at HOST and PORT.
    base_url: `${settings.gatewayUrl}/v1`,
    control_plane_url: settings.controlPlaneUrl,
    admin_key: made.adminKey,
    workspace_key: made.workspaceKey,
    workspace_id: made.workspaceId,
    ...(ownerLink === null ? {} : { owner_link: ownerLink }),
  };
}

async function writeKeys(directory: string, keys: FirstKeys): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(join(directory, 'first-keys.json'), `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flush: true });
}

function checkGiven(setting: string, text: string | null, kind: ApiKeyKind): string | null {
  if (text === null) return null;
  if (isKeyOfKind(text, kind)) return text;
  throw new StartError(`${setting}: a key of the form svc_${kind}_… is expected; \`npm run new:key\` prints one`);
}
