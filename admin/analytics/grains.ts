import { dayMs, hourMs, minuteMs } from '../../core/contract/values/time/durations.ts';
import { type Dimension, dimensions } from './dimensions.ts';

/** Quarter of a UTC day. */
export const quarterMs = 21_600_000;
/** Seven UTC days from a Thursday, because 1 January 1970 was one. */
export const weekMs = 604_800_000;

/** One kind of roll-up. */
export interface Grain {
  readonly name: string;
  readonly lengthMs: number;
  readonly keeps: readonly Dimension[];
  /** True if its rows count requests by latency and by retries. */
  readonly hasCounts: boolean;
}

const totals = { keeps: ['workspace_id', 'status'], hasCounts: true } as const;
const models = { keeps: ['workspace_id', 'status', 'provider', 'provider_slug', 'model'], hasCounts: true } as const;
const keys = { keeps: ['workspace_id', 'status', 'api_key_id', 'user_id'], hasCounts: true } as const;
const keyModels = { keeps: [...keys.keeps, 'provider', 'provider_slug', 'model'], hasCounts: true } as const;
const details = { keeps: dimensions.filter((name) => name !== 'end_user'), hasCounts: true } as const;
const users = { keeps: ['workspace_id', 'user_id', 'end_user'], hasCounts: false } as const;

/**
 * Every request is counted once in each grain; those without `_user` in their metadata are left out of the grains of users. Totals are few
 * rows and serve charts without filters. Rows of models and of keys are few too. They serve queries about one model or one key, because
 * percentiles from details would read a hundred times as many counts. Details serve all other filters and groups.
 */
export const grains = {
  minute: { name: 'minute', lengthMs: minuteMs, ...totals },
  hour: { name: 'hour', lengthMs: hourMs, ...totals },
  day: { name: 'day', lengthMs: dayMs, ...totals },
  hourModel: { name: 'hour_model', lengthMs: hourMs, ...models },
  dayModel: { name: 'day_model', lengthMs: dayMs, ...models },
  hourKey: { name: 'hour_key', lengthMs: hourMs, ...keys },
  dayKey: { name: 'day_key', lengthMs: dayMs, ...keys },
  quarterKeyModel: { name: 'quarter_key_model', lengthMs: quarterMs, ...keyModels },
  dayKeyModel: { name: 'day_key_model', lengthMs: dayMs, ...keyModels },
  hourDetail: { name: 'hour_detail', lengthMs: hourMs, ...details },
  dayDetail: { name: 'day_detail', lengthMs: dayMs, ...details },
  hourUser: { name: 'hour_user', lengthMs: hourMs, ...users },
  quarterUser: { name: 'quarter_user', lengthMs: quarterMs, ...users },
  dayUser: { name: 'day_user', lengthMs: dayMs, ...users },
  week: { name: 'week', lengthMs: weekMs, ...totals },
  weekModel: { name: 'week_model', lengthMs: weekMs, ...models },
  weekKey: { name: 'week_key', lengthMs: weekMs, ...keys },
  weekKeyModel: { name: 'week_key_model', lengthMs: weekMs, ...keyModels },
  weekDetail: { name: 'week_detail', lengthMs: weekMs, ...details },
  weekUser: { name: 'week_user', lengthMs: weekMs, ...users },
} as const satisfies Readonly<Record<string, Grain>>;

/** Grains that every record is added to when it is stored. */
export const liveGrains: readonly Grain[] = Object.values(grains).filter(({ lengthMs }) => lengthMs <= hourMs);

/**
 * Pairs of a grain of hours and the grain of days that sums it; pairs with the fewest rows come first. Days are written after they end
 * (`sum-days.ts`). Grains of users come last. They omit requests without a user, and they alone keep `end_user`, so they serve only queries
 * about users.
 */
export const hoursAndDays: readonly (readonly [Grain, Grain])[] = [
  [grains.hour, grains.day],
  [grains.hourModel, grains.dayModel],
  [grains.hourKey, grains.dayKey],
  [grains.hourDetail, grains.dayKeyModel],
  [grains.hourDetail, grains.dayDetail],
  [grains.hourUser, grains.dayUser],
];
export const dayGrains: readonly Grain[] = hoursAndDays.map(([, days]) => days);

/**
 * Pairs of a grain of hours and the grain of quarters of a day that sums it. Quarters replace most hours at the ends of a range, for grains
 * with many rows per hour.
 */
export const hoursAndQuarters: readonly (readonly [Grain, Grain])[] = [
  [grains.hourDetail, grains.quarterKeyModel],
  [grains.hourUser, grains.quarterUser],
];
export const quarterGrains: readonly Grain[] = hoursAndQuarters.map(([, quarters]) => quarters);

/**
 * Pairs of a grain of days and the grain of weeks that sums it. Weeks replace most days of a range of weeks, unless the query groups by
 * day.
 */
export const daysAndWeeks: readonly (readonly [Grain, Grain])[] = [
  [grains.day, grains.week],
  [grains.dayModel, grains.weekModel],
  [grains.dayKey, grains.weekKey],
  [grains.dayKeyModel, grains.weekKeyModel],
  [grains.dayDetail, grains.weekDetail],
  [grains.dayUser, grains.weekUser],
];
export const weekGrains: readonly Grain[] = daysAndWeeks.map(([, weeks]) => weeks);
