import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';

type Value = string | number | null;

/** A property of requests that roll-ups can keep: its value in a record, and in SQL over the alias `r` of `request_records`. */
export interface DimensionSource {
  readonly type: 'uuid' | 'text' | 'integer';
  of(record: RequestRecord): Value;
  readonly sql: string;
}

/** Every dimension, by its column. */
const table = {
  workspace_id: { type: 'uuid', of: ({ workspaceId }) => workspaceId, sql: 'r.workspace_id' },
  status: { type: 'integer', of: ({ status }) => status, sql: 'r.status' },
  api_key_id: { type: 'text', of: ({ apiKeyId }) => apiKeyId, sql: 'r.api_key_id' },
  user_id: { type: 'text', of: ({ userId }) => userId, sql: `r.record->>'userId'` },
  provider: { type: 'text', of: ({ provider }) => provider, sql: 'r.provider' },
  provider_slug: { type: 'text', of: ({ providerSlug }) => providerSlug, sql: 'r.provider_slug' },
  model: { type: 'text', of: ({ model }) => model, sql: 'r.model' },
  config_slug: { type: 'text', of: ({ configSlug }) => configSlug, sql: 'r.config_slug' },
  end_user: { type: 'text', of: ({ metadata }) => metadata._user ?? null, sql: `r.record->'metadata'->>'_user'` },
  prompt_slug: { type: 'text', of: ({ promptSlug }) => promptSlug ?? null, sql: `r.record->>'promptSlug'` },
  prompt_version: { type: 'integer', of: (one) => one.promptVersion ?? null, sql: `(r.record->>'promptVersion')::integer` },
} as const satisfies Readonly<Record<string, DimensionSource>>;

export type Dimension = keyof typeof table;
/** In the order of their values in roll-ups. */
export const dimensions = Object.keys(table) as Dimension[];
export const dimensionSources: Readonly<Record<Dimension, DimensionSource>> = table;

/** `<expression> as <column>` of every dimension, for rows of `request_records` with the alias `r`. */
export const dimensionsInSql = dimensions.map((name) => `${table[name].sql} as ${name}`).join(', ');

/** Members of a response that no client received, by the dimension that they replace. */
const ofCall: Partial<Record<Dimension, string>> = { provider: 'provider', provider_slug: 'providerSlug', model: 'model' };

/** The same for such responses, as `call`; null: the request itself. */
export const dimensionsOfCalls = dimensions
  .map((name) => {
    const { sql } = table[name];
    return `${ofCall[name] ? `case when d.call is null then ${sql} else d.call->>'${ofCall[name]}' end` : sql} as ${name}`;
  })
  .join(', ');
