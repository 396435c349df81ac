import * as v from 'valibot';
import { nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import type { Feedback } from '../feedbacks/entity.ts';

/** A feedback as the log of its trace shows it. */
export const feedbackReply = v.strictObject({
  id: uuid,
  /** −10 to 10. */
  value: v.number(),
  /** 0 to 1. */
  weight: v.number(),
  metadata: v.record(v.string(), v.unknown()),
  /** Null: sent by an application. */
  guardrail_id: nullableText,
  created_at: time,
  last_updated_at: time,
});

/** A row in its wire form. */
export function toFeedbackReply(row: Feedback): v.InferOutput<typeof feedbackReply> {
  return {
    id: row.id,
    value: row.value,
    weight: row.weight,
    metadata: row.metadata,
    guardrail_id: row.guardrailId ?? null,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
  };
}
