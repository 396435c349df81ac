import * as v from 'valibot';
import { guardrailSides } from './guardrail-config.ts';

/** One guardrail that ran for a request, as the record holds it. It holds no text of the request or the reply. */
export const guardrailRecord = v.object({
  id: v.string(),
  side: v.picklist(guardrailSides),
  type: v.picklist(['guardrail', 'mutator']),
  targetPath: v.nullable(v.string()),
  verdict: v.boolean(),
  /** True if the guardrail denied the request or the response. */
  deny: v.boolean(),
  async: v.boolean(),
  transformed: v.boolean(),
  durationMs: v.pipe(v.number(), v.minValue(0)),
  checks: v.array(
    v.object({
      id: v.string(),
      verdict: v.boolean(),
      /** Name of the error if the check could not decide; null if it could. */
      error: v.nullable(v.string()),
      /** True if the check could not decide and counts as passed. */
      failedOpen: v.boolean(),
      durationMs: v.pipe(v.number(), v.minValue(0)),
    }),
  ),
  feedback: v.nullable(
    v.object({
      value: v.number(),
      weight: v.number(),
      /** Metadata that the config adds to the feedback. Absent if it adds none, and in records of older versions. */
      metadata: v.optional(v.record(v.string(), v.unknown())),
    }),
  ),
});
export type GuardrailRecord = v.InferOutput<typeof guardrailRecord>;
