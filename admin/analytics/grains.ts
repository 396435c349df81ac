/** Dimensions of a request that roll-ups can keep, in the order of their values. They are columns of the table. */
export const dimensions = [
  'workspace_id',
  'status',
  'api_key_id',
  'user_id',
  'provider',
  'provider_slug',
  'model',
  'config_slug',
  'end_user',
  'prompt_slug',
  'prompt_version',
] as const;
export type Dimension = (typeof dimensions)[number];

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

/** One kind of roll-up. */
export interface Grain {
  readonly name: string;
  readonly lengthMs: number;
  readonly keeps: readonly Dimension[];
}

const totals: readonly Dimension[] = ['workspace_id', 'status'];
const all = dimensions.filter((name) => name !== 'end_user');
const users: readonly Dimension[] = ['workspace_id', 'user_id', 'end_user'];

/**
 * Every request is counted once in each grain; those without `_user` in their metadata are left out of the grains of users. Totals are few
 * rows and serve charts without filters. Details serve filters and groups.
 */
export const grains = {
  minute: { name: 'minute', lengthMs: minuteMs, keeps: totals },
  hour: { name: 'hour', lengthMs: hourMs, keeps: totals },
  hourDetail: { name: 'hour_detail', lengthMs: hourMs, keeps: all },
  dayDetail: { name: 'day_detail', lengthMs: dayMs, keeps: all },
  hourUser: { name: 'hour_user', lengthMs: hourMs, keeps: users },
  dayUser: { name: 'day_user', lengthMs: dayMs, keeps: users },
} as const satisfies Readonly<Record<string, Grain>>;
