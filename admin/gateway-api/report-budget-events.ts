import type { AdminServices } from '../http/admin-services.ts';
import { mailBudgetEvent } from '../leases/mail-budget-events.ts';
import { reportCrossedBudgets } from '../leases/report-crossed-budgets.ts';
import { addDeliveries } from '../resources/webhooks/add-deliveries.ts';

type Needed = Pick<AdminServices, 'database' | 'auditKey' | 'mailer' | 'wakeJobs'>;

/**
 * Reports budgets and counters of policies that have crossed their threshold or are exhausted, each once: in the audit log, to webhooks and by
 * mail.
 */
export async function reportBudgetEvents({ database, auditKey, mailer, wakeJobs }: Needed): Promise<void> {
  let count = 0;
  await reportCrossedBudgets(database.em(), auditKey, async (tx, event) => {
    const { organisationId, data, owner } = event;
    if (owner.workspaceId !== null)
      await addDeliveries(tx, { organisationId, workspaceId: owner.workspaceId, event: event.event, data });
    await mailBudgetEvent(tx, mailer, event);
    count += 1;
  });
  if (count === 0) return;
  wakeJobs();
  mailer.wake();
}
