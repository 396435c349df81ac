import type { Settings } from '../../config/settings.ts';
import type { EncryptionKeys } from '../../core/contract/protocol/credentials/encryption-keys.ts';
import { newApiKey } from '../../core/contract/values/credentials/api-key.ts';
import { isUuid } from '../../core/contract/values/text/uuid.ts';
import { addKey } from '../bootstrap/create-organisation.ts';
import { newId } from '../db/new-id.ts';
import type { Database } from '../db/open-database.ts';
import { type Change, writeChange } from '../publish/write-change.ts';
import { cachedReplies } from '../resources/cached-replies/entity.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { readKeptKeys } from '../secrets/kept-keys.ts';
import { checkEncryptionKey, replaceClusterKeyCheck } from '../secrets/key-checks.ts';

type Keys = EncryptionKeys & Pick<Settings, 'clusterKey'>;

/**
 * Creates an admin key with every scope, audited. `organisationId` null: the only organisation of the database. Rejects with an
 * Error for the operator if the organisation is ambiguous, and with StartError if ENCRYPTION_KEY is not that of the database.
 */
export async function newAdminKey(database: Database, keys: Keys, organisationId: string | null): Promise<string> {
  const id = await organisationOf(database, keys, organisationId);
  const { text } = newApiKey('admin');
  const { apiKeyPepper, auditKey } = await readKeptKeys(database.em(), keys);
  await audited(database, auditKey, id, 'api-keys', async (change) => {
    const keyId = addKey(change, apiKeyPepper, {
      tenant: { organisationId: id, workspaceId: null },
      type: 'organisation-service',
      name: 'Admin key made beside the database',
      text,
    });
    change.about({ id: keyId });
  });
  return text;
}

/**
 * Makes the current CLUSTER_KEY the key of this database, audited in every organisation, and deletes the cached replies. Rejects with
 * StartError if ENCRYPTION_KEY is not that of the database.
 */
export async function newClusterKey(database: Database, keys: Keys): Promise<void> {
  await checkEncryptionKey(database.em(), keys);
  await replaceClusterKeyCheck(database.em(), keys.clusterKey);
  // They are sealed with the earlier key. Gateways would stop using the shared cache each time they are sent one.
  await database.em().nativeDelete(cachedReplies, {});
  const { auditKey } = await readKeptKeys(database.em(), keys);
  for (const { id } of await database.em().find(organisations, {})) {
    await audited(database, auditKey, id, 'cluster-key', async (change) => change.about({ id }));
  }
}

/** Maximum number of organisations that an error lists. */
const listedMax = 20;

async function organisationOf(database: Database, keys: Keys, wanted: string | null): Promise<string> {
  const em = database.em();
  await checkEncryptionKey(em, keys);
  const named = wanted !== null && isUuid(wanted) ? await em.findOne(organisations, { id: wanted }) : null;
  if (named) return named.id;
  const first = await em.find(organisations, {}, { orderBy: { createdAt: 'asc' }, limit: listedMax });
  const [only] = first;
  if (!only) throw new Error('The database has no organisation. Start the service, which creates the first one with its keys');
  if (wanted === null && first.length === 1) return only.id;
  const listed = first.map(({ id, name }) => `${id} (${name})`).join(', ');
  const problem = wanted === null ? 'several organisations exist' : 'no such organisation';
  throw new Error(`--organisation: ${problem}. Send the id of an organisation, such as ${listed}`);
}

/** Makes a change of a command in one transaction with its audit entry. */
export async function audited(
  database: Database,
  auditKey: Uint8Array,
  organisationId: string,
  resourceType: string,
  work: (change: Change) => Promise<void>,
): Promise<void> {
  const draft = {
    organisationId,
    workspaceId: null,
    method: 'POST',
    uri: `/${resourceType}`,
    requestId: newId(),
    requestBody: null,
    queryParams: {},
    userId: null,
    userType: 'system' as const,
    resourceType,
    action: 'create',
    clientIp: 'local',
  };
  await writeChange(database.em(), auditKey, draft, null, work);
}
