import type { AdminServices } from '../http/route.ts';
import { auditCrossedPolicies, type PolicyEvent } from '../leases/audit-crossed-policies.ts';
import { mailPolicyEvents } from '../leases/report-budgets.ts';
import { addDeliveries } from '../resources/webhooks/add-deliveries.ts';

type Needed = Pick<AdminServices, 'database' | 'auditKey' | 'mailer' | 'wakeJobs'>;

/**
 * Reports counters of policies that have crossed their threshold or are exhausted, each once: in the audit log, to webhooks and by mail.
 * Mail is sent after the commit and may be lost if the process is killed.
 */
export async function reportPolicyEvents({ database, auditKey, mailer, wakeJobs }: Needed): Promise<void> {
  const events: PolicyEvent[] = [];
  await auditCrossedPolicies(database.em(), auditKey, async (tx, event) => {
    await addDeliveries(tx, event);
    events.push(event);
  });
  if (events.length === 0) return;
  wakeJobs();
  await mailPolicyEvents(database.em(), mailer, events);
}
