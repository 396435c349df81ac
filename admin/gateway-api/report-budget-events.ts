import type { AdminServices } from '../http/route.ts';
import { mailBudgetEvents } from '../leases/mail-budget-events.ts';
import { type BudgetEvent, reportCrossedBudgets } from '../leases/report-crossed-budgets.ts';
import { addDeliveries } from '../resources/webhooks/add-deliveries.ts';

type Needed = Pick<AdminServices, 'database' | 'auditKey' | 'mailer' | 'wakeJobs'>;

/**
 * Reports budgets and counters of policies that have crossed their threshold or are exhausted, each once: in the audit log, to webhooks and by
 * mail. Mail is sent after the commit and may be lost if the process is killed.
 */
export async function reportBudgetEvents({ database, auditKey, mailer, wakeJobs }: Needed): Promise<void> {
  const events: BudgetEvent[] = [];
  await reportCrossedBudgets(database.em(), auditKey, async (tx, event) => {
    const { organisationId, data, owner } = event;
    if (owner.workspaceId !== null)
      await addDeliveries(tx, { organisationId, workspaceId: owner.workspaceId, event: event.event, data });
    events.push(event);
  });
  if (events.length === 0) return;
  wakeJobs();
  await mailBudgetEvents(database.em(), mailer, events);
}
