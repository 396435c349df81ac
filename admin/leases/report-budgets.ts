import type { EntityManager } from '../db/open-database.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { PolicyEvent } from './audit-crossed-policies.ts';

interface Crossed {
  readonly organisation_id: string;
  readonly scope: 'key' | 'workspace' | 'provider' | 'integration';
  readonly entity_id: string;
  readonly unit: 'cost' | 'tokens';
  readonly used: number | string;
  readonly capacity: number | string;
  readonly is_exhausted: boolean;
}

/**
 * Sends one mail for each budget that has crossed its threshold, and one for each that is exhausted. Recipients are owners and
 * admins of the organisation, and admins and managers of the workspace. For a key, also its owner and `alert_emails`. Returns the
 * number of budgets.
 */
export async function reportCrossedBudgets(em: EntityManager, mailer: Pick<Mailer, 'on' | 'send'>): Promise<number> {
  // Without a mail server nothing is sent. The marks stay until there is one.
  if (!mailer.on) return 0;
  // Marked first, so that two control planes do not send the same notice twice.
  const crossed = await em.execute<Crossed[]>(
    `update limit_budgets set
       threshold_told_at = case when threshold_crossed_at is null then threshold_told_at else coalesce(threshold_told_at, now()) end,
       exhausted_told_at = case when exhausted_at is null then exhausted_told_at else coalesce(exhausted_told_at, now()) end
     where scope <> 'policy' and ((threshold_crossed_at is not null and threshold_told_at is null)
       or (exhausted_at is not null and exhausted_told_at is null))
     returning organisation_id, scope, entity_id, unit, used, capacity, exhausted_at is not null as is_exhausted`,
    [],
    'all',
  );
  for (const budget of crossed) {
    const owner = await ownerOf(em, budget);
    if (owner === null) continue;
    for (const to of await recipientsOf(em, budget.organisation_id, owner)) mailer.send({ to, ...noticeOf(budget, owner.name) });
  }
  return crossed.length;
}

/** Sends one mail for each event of a policy, to the same people as for a budget of its workspace. */
export async function mailPolicyEvents(
  em: EntityManager,
  mailer: Pick<Mailer, 'on' | 'send'>,
  events: readonly PolicyEvent[],
): Promise<void> {
  if (!mailer.on) return;
  for (const event of events) {
    const owner = { name: '', workspace_id: event.workspaceId, user_id: null, alert_emails: [] };
    for (const to of await recipientsOf(em, event.organisationId, owner)) mailer.send({ to, ...policyNoticeOf(event) });
  }
}

function policyNoticeOf({ event, data }: PolicyEvent): { subject: string; text: string } {
  const name = `usage policy "${String(data.name ?? data.policy_id).replace(/\p{Cc}/gu, ' ')}"`;
  const unit = data.type === 'cost' ? 'US dollars' : String(data.type);
  const used = `${data.current_usage} of ${data.credit_limit} ${unit} are used, counted for: ${data.value_key}.`;
  return event === 'policy.exhausted'
    ? {
        subject: `A budget of the ${name} is exhausted`,
        text: `${used}\n\nRequests that it counts are rejected until the budget is reset or raised.`,
      }
    : { subject: `A budget of the ${name} has crossed its threshold`, text: used };
}

interface Owner {
  readonly name: string;
  readonly workspace_id: string | null;
  readonly user_id: string | null;
  readonly alert_emails: readonly string[];
}

/** Returns the entity that a budget belongs to. Null if it was deleted. */
async function ownerOf(em: EntityManager, { scope, entity_id: id, organisation_id }: Crossed): Promise<Owner | null> {
  const [row] = await em.execute<Owner[]>(`${owners[scope]} and x.organisation_id = ?`, [
    ...(scope === 'integration' ? [id.slice(37), id.slice(0, 36)] : [id]),
    organisation_id,
  ]);
  return row ?? null;
}

const nobody = `null::uuid as user_id, '[]'::jsonb as alert_emails`;
const owners = {
  key: 'select x.name, x.workspace_id, x.user_id, x.alert_emails from api_keys x where x.id = ?::uuid',
  workspace: `select x.name, x.id as workspace_id, ${nobody} from workspaces x where x.id = ?::uuid`,
  provider: `select x.name, x.workspace_id, ${nobody} from providers x where x.id = ?::uuid`,
  integration: `select x.name, ?::uuid as workspace_id, ${nobody} from integrations x where x.id = ?::uuid`,
} as const;

async function recipientsOf(em: EntityManager, organisationId: string, owner: Owner): Promise<string[]> {
  const people = await em.execute<{ email: string }[]>(
    `select u.email from users u
       left join workspace_members m on m.user_id = u.id and m.workspace_id = ?::uuid and m.organisation_id = u.organisation_id
     where u.organisation_id = ? and u.deactivated_at is null
       and (u.role in ('owner', 'admin') or m.role in ('admin', 'manager') or u.id = ?::uuid)`,
    [owner.workspace_id, organisationId, owner.user_id],
  );
  return [...new Set([...people.map((person) => person.email), ...owner.alert_emails])];
}

const kinds = { key: 'API key', workspace: 'workspace', provider: 'provider', integration: 'integration' } as const;

function noticeOf(budget: Crossed, entityName: string): { subject: string; text: string } {
  const name = `${kinds[budget.scope]} "${entityName.replace(/\p{Cc}/gu, ' ')}"`;
  const amount = (units: number | string): string =>
    budget.unit === 'cost' ? `${(Number(units) / 1_000_000).toFixed(2)} US dollars` : `${Number(units)} tokens`;
  const used = `${amount(budget.used)} of ${amount(budget.capacity)} are used.`;
  return budget.is_exhausted
    ? {
        subject: `The budget of the ${name} is exhausted`,
        text: `${used}\n\nRequests are rejected until the budget is reset or raised.`,
      }
    : { subject: `The budget of the ${name} has crossed its threshold`, text: used };
}
