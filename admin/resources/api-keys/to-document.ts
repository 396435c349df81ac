import type { ApiKeyDocument } from '../../../core/contract/protocol/documents.ts';
import type { KeysReply } from '../../../core/contract/protocol/internal-api.ts';
import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';
import { effectiveKeyScopes } from '../../access/user-scopes.ts';
import type { Database, EntityManager } from '../../db/open-database.ts';
import type { PreparedStatement } from '../../db/prepared.ts';
import type { RateLimit, UsageLimits } from '../../limits/schema.ts';
import { keyState } from './key-state.ts';
import { optionColumns, optionDocument } from './options.ts';

/**
 * Returns the documents for the keys with these public ids, in the given order (null if there is none), and a revision that all
 * of them include. Uses one statement, except for the scopes that a user's role removes: gateways call it for every key that is
 * new to them, among a million.
 */
export async function readApiKeyDocuments(
  database: Pick<Database, 'em' | 'ask'>,
  publicIds: readonly string[],
): Promise<KeysReply & { readonly documents: readonly (ApiKeyDocument | null)[] }> {
  const rows = await database.ask<Row | NoRow>(byPublicIds, [JSON.stringify(publicIds)]);
  const em = database.em();
  const known = new Map<string, ApiKeyDocument>();
  for (const row of rows) if (row.id !== null) known.set(row.public_id, await toDocument(em, row));
  return { revision: Number(rows[0]?.revision), documents: publicIds.map((id) => known.get(id) ?? null) };
}

const byPublicIds: PreparedStatement = {
  name: 'api-keys-by-public-ids',
  text: `select r.revision, k.public_id, k.id, k.organisation_id, k.workspace_id, k.user_id, k.type, k.name, k.digest,
       k.previous_digest, k.previous_expires_at, k.scopes, k.default_metadata, k.allow_config_override, k.usage_limits,
       k.rate_limits, ${optionColumns}, k.exhausted_at, k.last_reset_at, k.secret_expires_at, k.expires_at, c.slug as config_slug,
       coalesce(nullif(concat_ws(' ', u.first_name, u.last_name), ''), u.email) as user_name
     from change_counter r
       left join api_keys k on k.public_id = any(array(select jsonb_array_elements_text(?::jsonb)))
       left join configs c on c.id = k.default_config_id and c.status = 'active'
       left join users u on u.id = k.user_id and u.organisation_id = k.organisation_id`,
};

async function toDocument(em: EntityManager, row: Row): Promise<ApiKeyDocument> {
  const tenant = { type: row.type, organisationId: row.organisation_id, workspaceId: row.workspace_id, userId: row.user_id };
  const state = {
    expiresAt: date(row.expires_at),
    secretExpiresAt: date(row.secret_expires_at),
    exhaustedAt: date(row.exhausted_at),
  };
  return {
    id: row.public_id,
    keyId: row.id,
    digest: row.digest,
    previousDigest: row.previous_digest,
    previousExpiresAt: iso(row.previous_expires_at),
    ...tenant,
    userName: row.user_name,
    status: keyState(state, Date.now()),
    scopes: await effectiveKeyScopes(em, { ...tenant, scopes: row.scopes }),
    expiresAt: iso(row.expires_at),
    secretExpiresAt: iso(row.secret_expires_at),
    name: row.name,
    usageLimits: row.usage_limits,
    usageResetAt: iso(row.last_reset_at),
    rateLimits: row.rate_limits,
    ...optionDocument(row),
    defaults: {
      configSlug: row.config_slug,
      metadata: row.default_metadata,
      allowConfigOverride: row.allow_config_override,
    },
  };
}

/** Drivers return times as text or as dates. */
type Time = string | Date | null;

interface NoRow {
  readonly revision: number | string;
  readonly id: null;
}

interface Row {
  readonly revision: number | string;
  readonly public_id: string;
  readonly id: string;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly user_id: string | null;
  readonly type: ApiKeyType;
  readonly name: string;
  readonly digest: string;
  readonly previous_digest: string | null;
  readonly previous_expires_at: Time;
  readonly scopes: string[];
  readonly default_metadata: Record<string, string>;
  readonly allow_config_override: boolean;
  readonly usage_limits: UsageLimits | null;
  readonly rate_limits: RateLimit[];
  readonly exhausted_at: Time;
  readonly last_reset_at: Time;
  readonly secret_expires_at: Time;
  readonly expires_at: Time;
  readonly config_slug: string | null;
  readonly user_name: string | null;
}

function date(time: Time): Date | null {
  return time === null ? null : new Date(time);
}

function iso(time: Time): string | null {
  return date(time)?.toISOString() ?? null;
}
