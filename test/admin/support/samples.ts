import type { SamplesMade } from '../../../admin/define-resource.ts';
import { samples } from '../../../admin/tables.ts';
import type { Plane, Tenant } from './plane.ts';

/** One item of every resource of a tenant, by the path that created it. Throws if one cannot be created. */
export async function makeOneOfEverything(plane: Plane, tenant: Tenant, mark: string): Promise<SamplesMade> {
  const made: Record<string, string> = {};
  for (const sample of samples) {
    const reply = await plane.ask('POST', sample.create, { key: tenant.adminKey, body: sample.body(tenant, made, 1, mark) });
    if (reply.status !== 200)
      throw new Error(`samples of a resource.ts: POST ${sample.create} gave ${reply.status}: ${JSON.stringify(reply.body)}`);
    made[sample.create] = sample.idOf(reply.body);
  }
  return made;
}
