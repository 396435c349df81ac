import * as v from 'valibot';

const verdictActions = ['pass', 'change', 'deny', 'fail'] as const;

/** One verdict of a plugin about the response of an attempt, as the record holds it. */
export const verdictRecord = v.object({
  plugin: v.string(),
  targetPath: v.string(),
  /** Index of the attempt in `attempts` of the record. */
  attempt: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  action: v.picklist(verdictActions),
  /** Status of the attempt after the verdict. */
  status: v.number(),
  reason: v.nullable(v.pipe(v.string(), v.maxLength(500))),
  /** Milliseconds that the plugin took to decide. */
  durationMs: v.pipe(v.number(), v.minValue(0)),
});
export type VerdictRecord = v.InferOutput<typeof verdictRecord>;
