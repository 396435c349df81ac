import type { Change } from '../publish/write-change.ts';
import { dataPlaneScopes } from './scopes.ts';

/**
 * Narrows the scopes of keys that this key granted, and of keys granted by those. A key's scopes stay within what its grantor may
 * give away. This runs once per change instead of on every use. A scope that returns also returns to those keys. Call it after
 * the change is flushed.
 */
export async function followGrants(change: Change, organisationId: string, keyId: string): Promise<void> {
  let grantors = [keyId];
  while (grantors.length > 0) {
    grantors = await narrow(
      change,
      `jsonb_exists(g.scopes, s.scope) or
         (g.type = 'organisation-service' and k.type <> 'organisation-service' and jsonb_exists(?::jsonb, s.scope)
           and (s.scope <> 'logs.read' or jsonb_exists(g.scopes, 'logs.view')))`,
      `api_keys k join api_keys g on g.id = k.granted_by_key_id
       where k.organisation_id = ? and g.organisation_id = k.organisation_id and g.id in (select value::uuid from jsonb_array_elements_text(?::jsonb))`,
      [JSON.stringify(dataPlaneScopes), organisationId, JSON.stringify(grantors)],
    );
  }
}

/** A user who granted keys of a workspace; null: keys of the organisation. */
export interface UserGrantor {
  readonly userId: string;
  readonly workspaceId: string | null;
}

/**
 * Call after the scopes changed that these users may give away. Narrows the keys they granted to `allowed`, and the keys granted by those.
 * A scope that returns also returns to those keys.
 */
export async function followUserGrantors(
  change: Change,
  organisationId: string,
  grantors: readonly UserGrantor[],
  allowed: readonly string[],
): Promise<void> {
  const keys = await narrow(
    change,
    'jsonb_exists(?::jsonb, s.scope)',
    `jsonb_to_recordset(?::jsonb) as r ("userId" uuid, "workspaceId" uuid)
     join api_keys k on k.granted_by_user_id = r."userId" and k.workspace_id is not distinct from r."workspaceId"
     where k.organisation_id = ?`,
    [JSON.stringify(allowed), JSON.stringify(grantors), organisationId],
  );
  for (const id of keys) await followGrants(change, organisationId, id);
}

/**
 * Sets the scopes of the keys `k` of `source` to those of their grant (`s.scope`) that `condition` allows. Both are SQL, `values` replace their `?`.
 * Returns the ids of the keys that changed.
 */
async function narrow(change: Change, condition: string, source: string, values: readonly string[]): Promise<string[]> {
  const changed: { id: string; public_id: string }[] = await change.tx.execute(
    `update api_keys c set scopes = e.scopes, revision = c.revision + 1
     from (
       select k.id, (
         select coalesce(jsonb_agg(s.scope order by s.n), '[]'::jsonb)
         from jsonb_array_elements_text(coalesce(k.granted_scopes, k.scopes)) with ordinality as s(scope, n)
         where ${condition}
       ) as scopes
       from ${source}
     ) e
     where c.id = e.id and c.scopes <> e.scopes
     returning c.id, c.public_id`,
    [...values],
  );
  for (const { public_id } of changed) change.emit({ kind: 'api-key', id: public_id, op: 'upsert' });
  return changed.map(({ id }) => id);
}
