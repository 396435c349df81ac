import { isUuid } from '../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { BudgetRow } from './budget-ledger.ts';
import { budgetIdOf } from './entity-state.ts';

/** The entity that a budget belongs to. */
export interface BudgetOwner {
  readonly kind: 'api_key' | 'workspace' | 'provider' | 'integration' | 'policy';
  readonly id: string;
  /** Null: entities of this kind have none. */
  readonly slug: string | null;
  /** Null: a policy without a name. */
  readonly name: string | null;
  /** Workspace in which the budget counts. Null: the key belongs to no workspace. */
  readonly workspaceId: string | null;
  /** Owner of a key. */
  readonly userId: string | null;
  /** `alert_emails` of a key. */
  readonly alertEmails: readonly string[];
  /** Type and address of the entity in the audit log. */
  readonly resource: string;
  readonly uri: string;
}

interface Row {
  readonly id: string;
  readonly slug: string | null;
  readonly name: string | null;
  readonly workspace_id: string | null;
  readonly user_id?: string | null;
  readonly alert_emails?: readonly string[];
  readonly limits: OwnLimits | null;
}

/** The budget as its owner has it now. A process that has not loaded the change yet may have sent the ledger an earlier one. */
interface OwnLimits {
  /** Absent for policies, whose counters have keys of their own. */
  readonly id?: string;
  readonly creditLimit: number | null;
  readonly alertThreshold: number | null;
}

interface Kind {
  readonly kind: BudgetOwner['kind'];
  readonly resource: string;
  /** Selects the row by its id, as `x`. */
  readonly select: string;
  readonly uri: (row: Row) => string;
}

const kinds: Readonly<Record<BudgetRow['scope'], Kind>> = {
  key: {
    kind: 'api_key',
    resource: 'api_keys',
    select:
      'select x.id, null as slug, x.name, x.workspace_id, x.user_id, x.alert_emails, x.usage_limits as limits from api_keys x where x.id = ?::uuid',
    uri: ({ id }) => `/v1/api-keys/${id}`,
  },
  workspace: {
    kind: 'workspace',
    resource: 'workspaces',
    select:
      'select x.id, x.slug, x.name, x.id as workspace_id, x.usage_limits->0 as limits from workspaces x where x.id = ?::uuid',
    uri: ({ slug }) => `/v1/admin/workspaces/${slug}`,
  },
  provider: {
    kind: 'provider',
    resource: 'providers',
    select: 'select x.id, x.slug, x.name, x.workspace_id, x.usage_limits as limits from providers x where x.id = ?::uuid',
    uri: ({ slug }) => `/v1/providers/${slug}`,
  },
  integration: {
    kind: 'integration',
    resource: 'integrations',
    select: `select x.id, x.slug, x.name, s.workspace_id, s.usage_limits as limits from integrations x
      join integration_workspaces s on s.integration_id = x.id where s.workspace_id = ?::uuid and x.id = ?::uuid`,
    uri: ({ slug }) => `/v1/integrations/${slug}/workspaces`,
  },
  policy: {
    kind: 'policy',
    resource: 'policies',
    select: `select x.id, null as slug, x.name, x.workspace_id,
      jsonb_build_object('creditLimit', x.credit_limit, 'alertThreshold', x.alert_threshold) as limits
      from usage_policies x where x.id = ?::uuid`,
    uri: ({ id }) => `/v1/policies/usage-limits/${id}`,
  },
};

export interface OwnBudget {
  readonly owner: BudgetOwner;
  readonly limits: OwnLimits;
}

/**
 * Returns the owner of a budget and its limits. Null if it was deleted or has another budget now, or if the budget is that of a token, which is
 * not stored.
 */
export async function ownBudgetOf(
  em: EntityManager,
  { key, scope, entity_id: id, organisation_id }: Pick<BudgetRow, 'key' | 'scope' | 'entity_id' | 'organisation_id'>,
): Promise<OwnBudget | null> {
  const { kind, resource, select, uri } = kinds[scope];
  // `<integration>-<workspace>`, both UUIDs.
  const ids = scope === 'integration' ? [id.slice(37), id.slice(0, 36)] : [id];
  if (!ids.every(isUuid)) return null;
  const [row] = await em.execute<Row[]>(`${select} and x.organisation_id = ?`, [...ids, organisation_id]);
  if (!row?.limits || (row.limits.id !== undefined && row.limits.id !== budgetIdOf(key))) return null;
  const owner = {
    ...{ kind, resource, id: row.id, slug: row.slug, name: row.name, workspaceId: row.workspace_id, uri: uri(row) },
    userId: row.user_id ?? null,
    alertEmails: row.alert_emails ?? [],
  };
  return { owner, limits: row.limits };
}
