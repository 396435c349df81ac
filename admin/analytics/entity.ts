import { defineEntity, p } from '@mikro-orm/core';

/**
 * Sums over the requests of one minute, hour, day or week that have the same dimensions. `grain` states the length and which dimensions are
 * kept; the others are null. See `grains.ts`.
 */
export const usageRollups = defineEntity({
  name: 'UsageRollup',
  tableName: 'usage_rollups',
  properties: {
    organisationId: p.uuid().primary(),
    grain: p.text().primary(),
    startsAt: p.datetime().primary(),
    /** Digest of the dimensions. */
    key: p.uuid().primary(),
    workspaceId: p.uuid().nullable(),
    status: p.integer().nullable(),
    apiKeyId: p.text().nullable(),
    /** Owner of the API key. */
    userId: p.text().nullable(),
    provider: p.text().nullable(),
    providerSlug: p.text().nullable(),
    model: p.text().nullable(),
    configSlug: p.text().nullable(),
    /** `_user` of the request's metadata. */
    endUser: p.text().nullable(),
    promptSlug: p.text().nullable(),
    /** Number of the version. */
    promptVersion: p.integer().nullable(),
    firstAt: p.datetime(),
    lastAt: p.datetime(),
    requests: p.bigint('number'),
    errors: p.bigint('number'),
    costNano: p.bigint('number'),
    inputTokens: p.bigint('number'),
    outputTokens: p.bigint('number'),
    durationUs: p.bigint('number'),
    cacheHits: p.bigint('number'),
    semanticHits: p.bigint('number'),
    hitDurationUs: p.bigint('number'),
    simpleSavedNano: p.bigint('number'),
    semanticSavedNano: p.bigint('number'),
    fallbacks: p.bigint('number'),
    /** Requests by latency: packed counts of the bins of `latency-bins.ts`. */
    latency: p.array((value) => Number(value)).columnType('bigint[]'),
    /** Successful requests by number of retries, 1 and more: packed counts. */
    retries: p.array((value) => Number(value)).columnType('bigint[]'),
  },
});

/**
 * The days, quarters of days and weeks of an organisation that are summed: those that begin before `daysUntil`, `quartersUntil` and `weeksUntil`.
 * Queries read the hours or days of later ones, and the days of weeks that begin before `weeksFrom`: such weeks are deleted.
 */
export const rollupDays = defineEntity({
  name: 'RollupDays',
  tableName: 'rollup_days',
  properties: {
    organisationId: p.uuid().primary(),
    daysUntil: p.datetime(),
    quartersUntil: p.datetime(),
    weeksFrom: p.datetime(),
    weeksUntil: p.datetime(),
  },
});
