import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { BilledLine, BillFormat } from './read-bill.ts';

/** A bill of a provider, for comparison with the records. */
export const reconciliations = defineEntity({
  name: 'Reconciliation',
  tableName: 'reconciliations',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    name: p.text(),
    format: p.text().$type<BillFormat>(),
    /** Id of the provider whose records are compared; null: those of all providers. */
    provider: p.text().nullable(),
    /** Slugs of the providers whose records are compared; null: all of them. */
    providerSlugs: p.json<readonly string[]>().nullable(),
    /** Recorded model by billed name. */
    models: p.json<Readonly<Record<string, string>>>(),
    lines: p.json<readonly BilledLine[]>(),
    createdAt: p.datetime(),
  },
});

export type Reconciliation = InferEntity<typeof reconciliations>;
