import type { EntityManager } from '../db/open-database.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { BudgetOwner } from './budget-owner.ts';
import type { BudgetEvent } from './report-crossed-budgets.ts';

/**
 * Stores a mail about the event to each owner and admin of the organisation and each admin and manager of the workspace. For a key, also to its
 * owner and `alert_emails`. Wake the mailer after the commit.
 */
export async function mailBudgetEvent(tx: EntityManager, mailer: Pick<Mailer, 'on' | 'add'>, event: BudgetEvent): Promise<void> {
  if (!mailer.on) return;
  const { organisationId, owner } = event;
  const { resource, uri, id, workspaceId } = owner;
  const mail = { organisationId, kind: 'budget-event', about: { resource, uri, id, workspaceId }, ...noticeOf(event) } as const;
  const recipients = await recipientsOf(tx, organisationId, owner);
  await mailer.add(
    tx,
    recipients.map((to) => ({ ...mail, to })),
  );
}

async function recipientsOf(em: EntityManager, organisationId: string, owner: BudgetOwner): Promise<string[]> {
  const people = await em.execute<{ email: string }[]>(
    `select u.email from users u
       left join workspace_members m on m.user_id = u.id and m.workspace_id = ?::uuid and m.organisation_id = u.organisation_id
     where u.organisation_id = ? and u.deactivated_at is null
       and (u.role in ('owner', 'admin') or m.role in ('admin', 'manager') or u.id = ?::uuid)`,
    [owner.workspaceId, organisationId, owner.userId],
  );
  return [...new Set([...people.map((person) => person.email), ...owner.alertEmails])];
}

const kinds = {
  api_key: 'API key',
  workspace: 'workspace',
  provider: 'provider',
  integration: 'integration',
  policy: 'usage policy',
} as const;
const units = { cost: 'US dollars', tokens: 'tokens', requests: 'requests' } as const;

function noticeOf({ event, data, owner }: BudgetEvent): { subject: string; text: string } {
  const name = `${kinds[owner.kind]} "${(owner.name ?? owner.id).replace(/\p{Cc}/gu, ' ')}"`;
  const budget = owner.kind === 'policy' ? `A budget of the ${name}` : `The budget of the ${name}`;
  const amount = (value: number) => (data.type === 'cost' ? value.toFixed(2) : String(value));
  const limit = data.credit_limit === null ? '' : ` of ${amount(data.credit_limit)}`;
  const group = owner.kind === 'policy' ? `, counted for: ${data.value_key}` : '';
  const used = `${amount(data.current_usage)}${limit} ${units[data.type]} are used${group}.`;
  if (!event.endsWith('.exhausted')) return { subject: `${budget} has crossed its threshold`, text: used };
  const counted = owner.kind === 'policy' ? 'Requests that it counts' : 'Requests';
  return {
    subject: `${budget} is exhausted`,
    text: `${used}\n\n${counted} are rejected until the budget is reset or raised.`,
  };
}
