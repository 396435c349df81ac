import * as v from 'valibot';
import { providerDocument } from '../protocol/documents.ts';
import type { Usage } from '../values/models/usage.ts';

/**
 * Usage of a batch that a provider runs. The control plane requests it from a gateway, because only gateways open sockets to
 * providers. `POST` with the cluster key as bearer and `batchUsageQuestion` as body; 200 `batchUsageReply`.
 */
export const batchUsagePath = '/internal/v1/batch-usage';

/** Settings without secrets that the batch was made with in addition to those of its provider (a region). */
const settings = v.record(v.string(), v.unknown());

export const batchUsageQuestion = v.object({
  /** As gateways get it, secrets sealed. */
  document: providerDocument,
  settings,
  batchId: v.pipe(v.string(), v.minLength(1), v.maxLength(1_000)),
});
export type BatchUsageQuestion = v.InferOutput<typeof batchUsageQuestion>;

const count = v.pipe(v.number(), v.finite(), v.minValue(0));

/** The completed requests of one model, tier of service and class of size, together. */
export const batchUsagePart = v.object({
  model: v.string(),
  /** Operation of the requests (`chatComplete`); null if it is unknown. */
  operation: v.nullable(v.string()),
  serviceTier: v.nullable(v.string()),
  /** Size of each request's input, of `sizeClassOf`: prices may depend on it. */
  sizeClass: count,
  requests: count,
  inputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  outputTokens: count,
  reasoningTokens: count,
  audioInputTokens: count,
  audioOutputTokens: count,
  imageInputTokens: count,
  imageOutputTokens: count,
  units: v.record(v.string(), count),
  /** The providers' own counts, added up. */
  raw: v.nullable(v.record(v.string(), v.unknown())),
});
export type BatchUsagePart = v.InferOutput<typeof batchUsagePart>;

export const batchUsageReply = v.object({
  /** `running`: ask again later · `gone`: the provider has no such batch. */
  state: v.picklist(['running', 'ended', 'gone']),
  parts: v.array(batchUsagePart),
});
export type BatchUsageReply = v.InferOutput<typeof batchUsageReply>;

/**
 * Input token counts above which price lists have other prices. The average of one class has the price of each of its members.
 */
const sizeStarts = [128_000, 199_999, 200_000, 271_999, 272_000, 512_000];

/** Returns the number of these counts that the input of a request is beyond. */
export function sizeClassOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: InputTokens): number {
  const input = inputTokens + cacheReadTokens + cacheWriteTokens;
  return sizeStarts.filter((start) => input > start).length;
}

type InputTokens = Pick<Usage, 'inputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;
