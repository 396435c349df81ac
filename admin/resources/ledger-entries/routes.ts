import * as v from 'valibot';
import { type BudgetScope, budgetScopes, policyBudgetTypes } from '../../../core/contract/protocol/limits/limit-kinds.ts';
import { forbidden } from '../../http/errors.ts';
import { nullableText, nullableTime, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, pageEntries, tenantEntries, text } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { moneyOf } from '../../pricing/nano-usd.ts';
import { logFilterEntries } from '../logs/filters.ts';
import { logConditions } from '../logs/log-conditions.ts';
import { logVisibility } from '../logs/log-visibility.ts';
import { matchingLogs } from '../logs/seen-logs.ts';
import { type EntryRow, listEntries } from './list-entries.ts';

const budgetPrefix = 'budget:';

const { prompt_slug: _, weighted_feedback_min: __, weighted_feedback_max: ___, ...logFilters } = logFilterEntries;

const query = v.strictObject({
  ...tenantEntries,
  ...logFilters,
  page_size: pageEntries.page_size,
  cursor: v.optional(v.pipe(v.string(), v.maxLength(400, 'at most 400 characters'))),
  /** Id of the record. */
  log_id: v.optional(id),
  /** Id of a budget, or of a counter of a policy. */
  budget_id: v.optional(id),
  scope: v.optional(v.picklist(budgetScopes, `one of ${budgetScopes.join(', ')} is expected`)),
  /** Id of the key, workspace, provider or policy that the budget belongs to; `<integration>-<workspace>` for an integration. */
  entity_id: v.optional(v.pipe(v.string(), v.maxLength(100, 'at most 100 characters'))),
  value_key: v.optional(text),
  type: v.optional(v.picklist(policyBudgetTypes, `one of ${policyBudgetTypes.join(', ')} is expected`)),
});

const entry = v.strictObject({
  log_id: uuid,
  trace_id: v.string(),
  created_at: time,
  workspace_id: nullableUuid,
  api_key_id: nullableText,
  ai_model: nullableText,
  outcome: v.string(),
  budget_id: v.string(),
  scope: v.picklist(budgetScopes),
  entity_id: v.string(),
  value_key: nullableText,
  type: v.picklist(policyBudgetTypes),
  /** US dollars, tokens or requests. */
  amount: v.number(),
  /** Null: the window is not known. */
  window_started_at: nullableTime,
  is_current_window: v.boolean(),
  object: v.literal('ledger_entry'),
});

/** Columns that filters select by. */
const filters = {
  log_id: 'r.id = ?::uuid',
  budget_id: 'e.key = ?',
  scope: 'b.scope = ?',
  entity_id: 'b.entity_id = ?',
  value_key: 'b.value_key = ?',
  type: 'b.unit = ?',
} as const;

export const ledgerEntryRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/ledger/entries',
    summary: 'List what requests used of budgets and usage policies, newest first',
    scopes: ['logs.list', 'logs.view', 'logs.read', 'analytics.view'],
    tenant: 'either',
    resource: 'ledger-entries',
    action: 'list',
    query,
    body: null,
    reply: v.strictObject({
      object: v.literal('list'),
      has_more: v.boolean(),
      next_cursor: nullableText,
      data: v.array(entry),
    }),
    async handle(call) {
      const { em, query: sent } = call;
      const sight = await logVisibility(em, call.actor, call.workspaceId);
      if (sent.value_key !== undefined && !sight.metadata) {
        throw forbidden('value_key: your role does not allow reading metadata of requests');
      }
      const conditions = logConditions(matchingLogs(call, sight, { ...sent, prompt_slug: undefined }));
      for (const [name, expression] of Object.entries(filters) as [keyof typeof filters, string][]) {
        const value = sent[name];
        if (value === undefined) continue;
        conditions.push({ text: expression, values: [name === 'budget_id' ? `${budgetPrefix}${value.toLowerCase()}` : value] });
      }
      const { rows, next } = await listEntries(em, conditions, { size: sent.page_size, after: sent.cursor ?? null });
      return {
        object: 'list',
        has_more: next !== null,
        next_cursor: next,
        data: rows.map((row) => toReply(row, sight.metadata)),
      };
    },
  }),
];

/** Value keys hold metadata of requests. */
function toReply(row: EntryRow, showsMetadata: boolean): v.InferOutput<typeof entry> {
  const { log_id, trace_id, created_at, workspace_id, api_key_id, model, outcome, key, entity_id, value_key, unit } = row;
  const [amount, startMs] = [Number(row.amount), Number(row.start_ms)];
  return {
    ...{ log_id, trace_id, created_at, workspace_id, api_key_id, ai_model: model, outcome },
    ...{ budget_id: key.slice(budgetPrefix.length), scope: row.scope as BudgetScope, entity_id, type: unit },
    value_key: showsMetadata ? value_key : null,
    amount: unit === 'cost' ? dollars(amount) : amount,
    window_started_at: startMs === 0 ? null : new Date(startMs).toISOString(),
    is_current_window: row.is_current,
    object: 'ledger_entry',
  };
}

/** An amount is negative if a price fell while a session was open. */
function dollars(nanoUsd: number): number {
  const size = Math.abs(nanoUsd);
  return Math.sign(nanoUsd) * moneyOf(Math.floor(size / 1_000), size % 1_000, 'usd');
}
