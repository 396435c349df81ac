import { defineEntity, p } from '@mikro-orm/core';
import { dimensionSources, dimensions } from './dimensions.ts';
import { measureNames } from './measures.ts';

const dimensionTypes = { uuid: () => p.uuid(), text: () => p.text(), integer: () => p.integer() } as const;

/**
 * Sums over the requests of one minute, hour, day or week that have the same dimensions. `grain` states the length and which dimensions are
 * kept; the others are null. See `grains.ts`. Dimensions and measures have columns of their names, which migrations add.
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
    ...propertiesOf(dimensions, (name) => dimensionTypes[dimensionSources[name].type]().nullable()),
    firstAt: p.datetime(),
    lastAt: p.datetime(),
    ...propertiesOf(measureNames, () => p.bigint('number')),
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

function propertiesOf<Name extends string, Property>(
  names: readonly Name[],
  of: (name: Name) => Property,
): Record<Name, Property> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Property>;
}
