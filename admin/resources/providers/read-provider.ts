import type * as v from 'valibot';
import { usableRows } from '../../access/workspace-sharing.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { forbidden } from '../../http/errors.ts';
import { readUsageOf } from '../../leases/read-usage.ts';
import type { BudgetUsage } from '../../limits/schema.ts';
import { type Integration, integrations, integrationWorkspaces } from '../integrations/entity.ts';
import type { Mapping } from '../integrations/secret-mappings/mapping-table.ts';
import { mappingsOf } from '../integrations/secret-mappings/secret-mappings.ts';
import type { Provider } from './entity.ts';
import type { readQuery } from './schema.ts';
import { findProvider } from './service.ts';

/** Returns the provider that a path names, with its budget usage, converted by `show`. Throws AB08. */
export async function readProvider<Shown>(
  call: AdminCall<v.InferOutput<typeof readQuery>, unknown>,
  show: (
    row: Provider,
    integration: Integration | null,
    isUsable: boolean,
    usage: ReadonlyMap<string, BudgetUsage>,
    mapped?: readonly Mapping[],
  ) => Shown,
  what?: string,
): Promise<Shown> {
  if (call.query.include_configurations === 'true') {
    throw forbidden('include_configurations: not supported. Credentials are sent to gateways only');
  }
  const row = await findProvider(call.em, call, call.params.slug ?? '', what);
  call.tag(row.revision);
  const { organisationId, integrationId: id } = row;
  const usage = await readUsageOf(call.em, organisationId, [row], call.services.clock.now());
  const integration = await call.em.findOne(integrations, { id, organisationId });
  const usable = await usableRows(call.em, integrationWorkspaces, [row], new Map(integration ? [[id, integration]] : []));
  return show(row, integration, usable.has(row.id), usage, integration ? await mappingsOf(call.em, integration) : []);
}
