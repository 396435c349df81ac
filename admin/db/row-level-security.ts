import type { EntityMetadata } from '@mikro-orm/core';
import type { Log } from '../../core/contract/values/log/log.ts';
import { failureFields } from '../failure-fields.ts';
import type { EntityManager } from './open-database.ts';

/** Returns the variables to set at the start of a transaction (`set_config(…, true)`). The policies use them to select the visible rows. */
export type TenantSession = (organisationId: string) => { variables: Record<string, string> };

/** Role that tenant requests switch to. It cannot log in and owns no tables, so the policies apply to it. */
const tenantRole = 'svc_tenant';
/** Variable that holds the organisation of a transaction, for the policies. */
const variable = 'svc.organisation';

/** Returns the organisation that the variables of a transaction select; null: all of them. */
export function tenantOf(variables: Readonly<Record<string, unknown>> | undefined): string | null {
  const id = variables?.[variable];
  return typeof id === 'string' ? id : null;
}

const named = `(select nullif(current_setting('${variable}', true), ''))`;

/**
 * Applies row-level security to every table of a tenant, in addition to the conditions in each query: a query that omits its tenant finds
 * nothing. Runs after the migrations and under their lock. It applies only what is missing, so a start beside running processes takes no
 * locks on tables of tenants. Requests switch to a separate role without rights of its own, if the login may create one (superusers,
 * CREATEROLE). Otherwise the policies are forced on the owner, and transactions without an organisation (gateways, jobs, migrations) pass.
 */
export async function applyRowLevelSecurity(
  em: EntityManager,
  tables: readonly EntityMetadata[],
  log: Log,
): Promise<TenantSession> {
  const asRole = await canTakeRole(em);
  try {
    const state = await readState(em);
    // Table by table, because changes of policies lock a table, and running requests lock several in other orders.
    for (const table of tables) {
      const statements = [...statementsFor(table, asRole, state)];
      if (statements.length === 0) continue;
      await em.transactional(async (tx) => {
        for (const statement of statements) await tx.execute(statement);
      });
    }
    // Each change takes its revision from this table, which holds no tenant data.
    if (asRole) await em.execute(`grant select, update on change_counter to ${tenantRole}`);
  } catch (error) {
    // Any other reason may be temporary. The start then fails and is repeated.
    if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error;
    log.warn(
      failureFields(error),
      'row-level security could not be applied: the database user neither owns the tables nor can use the role',
    );
    return (organisationId) => ({ variables: { [variable]: organisationId } });
  }
  return (organisationId) => ({ variables: { [variable]: organisationId, ...(asRole ? { role: tenantRole } : {}) } });
}

const insufficientPrivilege = '42501';

/** Creates the role and makes the login a member of it, if permitted. */
async function canTakeRole(em: EntityManager): Promise<boolean> {
  try {
    await em.transactional(async (tx) => {
      await tx.execute(`do $$ begin
        if not exists (select from pg_roles where rolname = '${tenantRole}') then create role ${tenantRole} nologin; end if;
      exception when duplicate_object or unique_violation then null; end $$`);
      const [login] = await tx.execute<[{ member: boolean }]>(
        `select pg_has_role(current_user, '${tenantRole}', 'member') as member`,
      );
      if (!login.member) await tx.execute(`grant ${tenantRole} to current_user`);
      await tx.execute(`grant usage on schema public to ${tenantRole}`);
      await tx.execute(`set local role ${tenantRole}`);
    });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== insufficientPrivilege) throw error;
    return false;
  }
}

interface State {
  /** `table policy` of the existing policies. */
  readonly policies: ReadonlySet<string>;
  readonly enabled: ReadonlySet<string>;
  readonly forced: ReadonlySet<string>;
  /** `table privilege` of the role. */
  readonly granted: ReadonlySet<string>;
}

async function readState(em: EntityManager): Promise<State> {
  const policies = await em.execute<{ name: string }[]>(
    "select tablename || ' ' || policyname as name from pg_policies where schemaname = 'public'",
  );
  const tables = await em.execute<{ name: string; enabled: boolean; forced: boolean }[]>(
    `select relname as name, relrowsecurity as enabled, relforcerowsecurity as forced
     from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  );
  const granted = await em.execute<{ name: string }[]>(
    `select table_name || ' ' || lower(privilege_type) as name from information_schema.role_table_grants
     where table_schema = 'public' and grantee = '${tenantRole}'`,
  );
  return {
    policies: new Set(policies.map((one) => one.name)),
    enabled: new Set(tables.filter((one) => one.enabled).map((one) => one.name)),
    forced: new Set(tables.filter((one) => one.forced).map((one) => one.name)),
    granted: new Set(granted.map((one) => one.name)),
  };
}

/** Tables whose rows are never updated or deleted. */
const appendOnly: ReadonlySet<string> = new Set(['audit_entries']);

/** Policies have a version in their name. A changed policy gets a new name, and the old one is dropped. */
const policyNames = { role: 'svc_tenant_1', owner: 'svc_owner_1' } as const;

function* statementsFor({ tableName, props }: EntityMetadata, asRole: boolean, state: State): Generator<string> {
  const column = tableName === 'organisations' ? 'id' : 'organisation_id';
  if (!props.some((prop) => prop.fieldNames?.[0] === column)) return;
  const wanted = asRole ? policyNames.role : policyNames.owner;
  for (const name of state.policies) {
    const [table, policy] = name.split(' ');
    if (table === tableName && policy?.startsWith('svc_') && policy !== wanted) yield `drop policy ${policy} on ${tableName}`;
  }
  if (!state.policies.has(`${tableName} ${wanted}`)) {
    yield asRole
      ? `create policy ${wanted} on ${tableName} to ${tenantRole} using (${column} = ${named}::uuid)`
      : `create policy ${wanted} on ${tableName} using (${named} is null or ${column} = ${named}::uuid)`;
  }
  if (!state.enabled.has(tableName)) yield `alter table ${tableName} enable row level security`;
  if (asRole === state.forced.has(tableName))
    yield `alter table ${tableName} ${asRole ? 'no force' : 'force'} row level security`;
  if (!asRole) return;
  const rights = appendOnly.has(tableName) ? ['select', 'insert'] : ['select', 'insert', 'update', 'delete'];
  if (rights.some((right) => !state.granted.has(`${tableName} ${right}`)))
    yield `grant ${rights.join(', ')} on ${tableName} to ${tenantRole}`;
}
