import type { ProviderDocument } from '../../core/contract/protocol/documents.ts';
import type { EntityManager } from '../db/open-database.ts';

/** Entities that a cost is charged to. */
export interface Charged {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly apiKeyId: string | null;
  readonly document: Pick<ProviderDocument, 'id' | 'integrationId'>;
}

/** Returns the keys of all budgets in the ledger that count the use of this provider by this key. */
export async function budgetsOf(
  em: EntityManager,
  { organisationId, workspaceId, apiKeyId, document }: Charged,
): Promise<string[]> {
  const entities = [
    ...(apiKeyId === null ? [] : [{ scope: 'key', entity: apiKeyId }]),
    { scope: 'workspace', entity: workspaceId },
    { scope: 'provider', entity: document.id },
    { scope: 'integration', entity: `${document.integrationId}-${workspaceId}` },
  ];
  const rows = await em.execute<{ key: string }[]>(
    `select key from limit_budgets b join jsonb_to_recordset(?::jsonb) as e(scope text, entity text)
       on e.scope = b.scope and e.entity = b.entity_id
     where b.organisation_id = ? order by key`,
    [JSON.stringify(entities), organisationId],
  );
  return rows.map(({ key }) => key);
}
