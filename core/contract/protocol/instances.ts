import * as v from 'valibot';

/** Instances that one deployment may have. A report of a further one is rejected. */
export const instancesMax = 1_000;

/** Maximum size of a report. */
export const reportBytesMax = 65_536;

const noControlCharacters = v.regex(/^[^\u0000-\u001f\u007f]*$/);
const shortText = v.pipe(v.string(), v.minLength(1), v.maxLength(200), noControlCharacters);

/**
 * Body of `POST /internal/v1/instances`: the heartbeat of one gateway process. The first one registers the process, and its deployment if
 * there is none of this name.
 */
export const instanceReport = v.strictObject({
  /** Stays the same when the process of a slot is replaced. */
  id: v.pipe(v.string(), v.uuid()),
  /** Slug of the deployment. */
  deployment: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,50}$/)),
  tags: v.record(shortText, v.pipe(v.string(), noControlCharacters)),
  sourceType: shortText,
  host: shortText,
  slot: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000)),
  version: shortText,
  /** Unix milliseconds. */
  startedAtMs: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(8.64e15)),
  /** True when the process stops; the control plane then removes it. */
  isLeaving: v.boolean(),
});

export type InstanceReport = v.InferOutput<typeof instanceReport>;

/** Reply to a report. */
export const instanceReply = v.object({
  /** Clock of the control plane in Unix milliseconds. Older control planes do not send it. */
  nowMs: v.optional(v.number()),
});

export type InstanceReply = v.InferOutput<typeof instanceReply>;
