import { defineEntity, p } from '@mikro-orm/core';
import type { BudgetRules } from '../../core/contract/protocol/limits/budget-rules.ts';
import type { BudgetRule } from './budget-window.ts';

/** Units granted from one window of a rate limit. */
export const limitWindows = defineEntity({
  name: 'LimitWindow',
  tableName: 'limit_windows',
  properties: {
    key: p.text().primary(),
    startMs: p.bigint('number').primary(),
    organisationId: p.uuid(),
    endMs: p.bigint('number'),
    handedOut: p.bigint('number'),
  },
});

/** A budget in its current window, with its usage: tokens, requests, or micro-USD and the nano-USD beyond them. */
export const limitBudgets = defineEntity({
  name: 'LimitBudget',
  tableName: 'limit_budgets',
  properties: {
    key: p.text().primary(),
    organisationId: p.uuid(),
    scope: p.text().$type<BudgetRules['scope']>(),
    entityId: p.text(),
    /** Counter of a policy; null for other scopes. */
    valueKey: p.text().nullable(),
    unit: p.text().$type<BudgetRules['unit']>(),
    startMs: p.bigint('number'),
    endMs: p.bigint('number').nullable(),
    capacity: p.bigint('number'),
    alertThreshold: p.bigint('number').nullable(),
    used: p.bigint('number'),
    /** Nano-USD beyond `used`, 0 to 999; 0 for tokens. */
    usedNanoRest: p.smallint().default(0),
    /** As last reported by a gateway. Null: not reported since this column exists. */
    rule: p.json().$type<BudgetRule>().nullable(),
    thresholdCrossedAt: p.datetime().nullable(),
    exhaustedAt: p.datetime().nullable(),
    /** Times at which the notices were sent. */
    thresholdToldAt: p.datetime().nullable(),
    exhaustedToldAt: p.datetime().nullable(),
  },
});

/** A share of a limit that one gateway process holds: units granted less units returned, and how many of them are settled. */
export const limitLeases = defineEntity({
  name: 'LimitLease',
  tableName: 'limit_leases',
  properties: {
    lease: p.uuid().primary(),
    key: p.text(),
    organisationId: p.uuid(),
    seq: p.bigint('number'),
    units: p.bigint('number'),
    settled: p.bigint('number'),
    expiresMs: p.bigint('number'),
    /** Window of a rate limit; null for budgets. */
    startMs: p.bigint('number').nullable(),
    /** Time at which the holder of a budget's lease last confirmed that calls in flight need all of it. */
    firmMs: p.bigint('number').nullable(),
    /** Process that holds the lease, until that process or its successor reports its end. */
    holder: p.uuid().nullable(),
  },
});

/**
 * Amount that a record used of a budget in a window, if its reservations do not show it: sessions may last longer than a window, and
 * reservations made without the ledger have none.
 */
export const limitEntries = defineEntity({
  name: 'LimitEntry',
  tableName: 'limit_entries',
  properties: {
    recordId: p.uuid().primary(),
    key: p.text().primary(),
    /** 0: the window is not known. */
    startMs: p.bigint('number').primary(),
    organisationId: p.uuid(),
    /** Time of the record. */
    createdAt: p.datetime(),
    /** Tokens, requests or nano-USD. */
    amount: p.bigint('number'),
  },
});

/** A window of a budget that has ended, with its usage in tokens, requests or nano-USD. Late records still add to it. */
export const limitPastWindows = defineEntity({
  name: 'LimitPastWindow',
  tableName: 'limit_past_windows',
  properties: {
    key: p.text().primary(),
    startMs: p.bigint('number').primary(),
    organisationId: p.uuid(),
    endMs: p.bigint('number'),
    amount: p.bigint('number'),
  },
});
