import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { findPage } from '../../db/find-page.ts';
import { newId } from '../../db/new-id.ts';
import { notFound } from '../../http/errors.ts';
import { emptyReply, listOf, nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import { idOrSlug, name, pageEntries, pageOf, tenantEntries, tenantQuery, text } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { type Amounts, type ComparedLine, compareBill, daysOf } from './compare.ts';
import { type Reconciliation, reconciliations } from './entity.ts';
import { billFormats, providerOfFormat, readBill } from './read-bill.ts';

const day = v.pipe(v.string(), v.isoDate());
const nullableNumber = v.nullable(v.number());
/** Costs in US cents. Null: the bill does not state the amount. */
const amounts = { cost: nullableNumber, input_tokens: nullableNumber, output_tokens: nullableNumber };
const statuses = ['equal', 'different', 'not_recorded', 'not_billed'] as const;

const summary = {
  id: uuid,
  name: v.string(),
  format: v.picklist(billFormats),
  provider: nullableText,
  provider_slugs: v.nullable(v.array(v.string())),
  models: v.record(v.string(), v.string()),
  first_day: day,
  last_day: day,
  created_at: time,
  object: v.literal('reconciliation'),
};

const comparison = v.strictObject({
  date: day,
  ai_model: nullableText,
  billed_as: v.array(v.string()),
  requests: v.number(),
  billed: v.nullable(v.strictObject(amounts)),
  recorded: v.nullable(v.strictObject(amounts)),
  /** Recorded minus billed. */
  difference: v.strictObject(amounts),
  status: v.picklist(statuses),
});

const shared = {
  tenant: 'organisation',
  resource: 'reconciliations',
  query: tenantQuery,
  body: null,
} as const;

const models = v.pipe(
  v.record(text, text),
  v.check((value) => Object.keys(value).length <= 500, 'at most 500 names'),
);

const body = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  name,
  format: v.picklist(billFormats, `one of ${billFormats.join(', ')} is expected`),
  data: v.unknown(),
  provider: v.optional(v.nullable(idOrSlug)),
  provider_slugs: v.optional(
    v.nullable(v.pipe(v.array(idOrSlug), v.minLength(1, 'at least one is expected'), v.maxLength(100, 'at most 100'))),
  ),
  models: v.optional(models),
});

const percent = v.pipe(
  v.string(),
  v.transform(Number),
  v.check((value) => value >= 0 && value <= 100, 'a number from 0 to 100 is expected'),
);

/** Routes that compare a provider's bill with the records. They need the scopes of integrations, because costs belong to integrations. */
export const reconciliationRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/ledger/reconciliations',
    summary: 'Import what a provider billed, to compare it with the records per model and day',
    scopes: ['organisation_integrations.update'],
    action: 'create',
    body,
    reply: v.strictObject({ id: uuid, object: v.literal('reconciliation') }),
    async handle(call) {
      const { name, format, data, provider, provider_slugs: providerSlugs = null, models = {} } = call.body;
      const lines = await readBill(format, data);
      const id = newId();
      await call.write(async (change) => {
        change.tx.create(reconciliations, {
          ...{ id, organisationId: call.organisationId, name, format, providerSlugs, models, lines, createdAt: new Date() },
          provider: provider === undefined ? providerOfFormat(format) : provider,
        });
        change.about({ id });
      });
      return { id, object: 'reconciliation' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/ledger/reconciliations',
    summary: 'List reconciliations, newest first',
    scopes: ['organisation_integrations.list'],
    action: 'list',
    query: v.strictObject({ ...tenantEntries, ...pageEntries }),
    reply: listOf(v.strictObject(summary)),
    async handle(call) {
      const { em, organisationId } = call;
      const page = { ...pageOf(call.query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, reconciliations, { organisationId }, page);
      return { object: 'list', total, data: rows.map(toSummary) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/ledger/reconciliations/:reconciliationId',
    summary: 'Compare what was billed with what is recorded now, per model and day',
    scopes: ['organisation_integrations.read'],
    action: 'read',
    query: v.strictObject({
      ...tenantEntries,
      /** Differences of at most this many percent of the billed amount count as equal. Default 1. */
      tolerance: v.optional(percent),
      status: v.optional(v.picklist(statuses, `one of ${statuses.join(', ')} is expected`)),
    }),
    reply: v.strictObject({
      ...summary,
      totals: v.strictObject({
        billed: v.strictObject(amounts),
        recorded: v.strictObject(amounts),
        difference: v.strictObject(amounts),
      }),
      data: v.array(comparison),
    }),
    async handle({ em, organisationId, query: { tolerance = 1, status }, params: { reconciliationId: id = '' } }) {
      const row = isUuid(id) ? await em.findOne(reconciliations, { id, organisationId }) : null;
      if (!row) throw notFound('Reconciliation');
      const lines = await compareBill(em, row);
      const data = lines.map((line) => toComparison(line, tolerance));
      const [billed, recorded] = [sumOf(lines.map((line) => line.billed)), sumOf(lines.map((line) => line.recorded))];
      return {
        ...toSummary(row),
        totals: { billed: shown(billed), recorded: shown(recorded), difference: shown(differenceOf(recorded, billed)) },
        data: status === undefined ? data : data.filter((one) => one.status === status),
      };
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/ledger/reconciliations/:reconciliationId',
    hasNoVersion: true,
    summary: 'Delete a reconciliation',
    scopes: ['organisation_integrations.update'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      const { organisationId } = call;
      const { reconciliationId: id = '' } = call.params;
      await call.write(async (change) => {
        const deleted = isUuid(id) ? await change.tx.nativeDelete(reconciliations, { id, organisationId }) : 0;
        if (deleted === 0) throw notFound('Reconciliation');
        change.about({ id });
      });
      return {};
    },
  }),
];

function toSummary(row: Reconciliation) {
  const { first, last } = daysOf(row.lines);
  return {
    id: row.id,
    name: row.name,
    format: row.format,
    provider: row.provider ?? null,
    provider_slugs: row.providerSlugs ? [...row.providerSlugs] : null,
    models: { ...row.models },
    first_day: first,
    last_day: last,
    created_at: row.createdAt.toISOString(),
    object: 'reconciliation' as const,
  };
}

function toComparison(line: ComparedLine, tolerance: number): v.InferOutput<typeof comparison> {
  const { day: date, model, billedAs, billed, recorded } = line;
  const difference = differenceOf(recorded ?? none, billed ?? none);
  return {
    ...{ date, ai_model: model, billed_as: [...billedAs], requests: recorded?.requests ?? 0 },
    billed: billed && shown(billed),
    recorded: recorded && shown(recorded),
    difference: shown(difference),
    status:
      billed === null
        ? 'not_billed'
        : recorded === null
          ? 'not_recorded'
          : isWithin(difference, billed, tolerance)
            ? 'equal'
            : 'different',
  };
}

const none: Amounts = { costNano: 0, inputTokens: 0, outputTokens: 0 };
const amountNames = ['costNano', 'inputTokens', 'outputTokens'] as const;

function isWithin(difference: Amounts, billed: Amounts, tolerance: number): boolean {
  return amountNames.every((name) => Math.abs(difference[name] ?? 0) <= (Math.abs(billed[name] ?? 0) * tolerance) / 100);
}

/** Amounts that the bill does not state have no difference. */
function differenceOf(recorded: Amounts, billed: Amounts): Amounts {
  const of = (name: keyof Amounts) => (billed[name] === null ? null : (recorded[name] ?? 0) - (billed[name] ?? 0));
  return { costNano: of('costNano'), inputTokens: of('inputTokens'), outputTokens: of('outputTokens') };
}

/** An amount is null if no line states it. */
function sumOf(all: readonly (Amounts | null)[]): Amounts {
  const stated = (name: keyof Amounts) => all.flatMap((one) => one?.[name] ?? []);
  const sum = (name: keyof Amounts) => {
    const values = stated(name);
    return values.length === 0 ? null : values.reduce((total, value) => total + value, 0);
  };
  return { costNano: sum('costNano'), inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}

function shown({ costNano, inputTokens, outputTokens }: Amounts): v.InferOutput<v.StrictObjectSchema<typeof amounts, undefined>> {
  return { cost: costNano === null ? null : costNano / 10_000_000, input_tokens: inputTokens, output_tokens: outputTokens };
}
