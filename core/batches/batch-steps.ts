import { ownStoreOrigin } from '../contract/provider/own-store.ts';
import type { AttemptSteps } from '../pipeline/run-attempt.ts';
import { checkBatch } from './check-batch.ts';
import { noteBatch } from './note-batch.ts';

/** Checks the lines of a batch before a provider gets it, and notes for the record which batch the request created. */
export const batchSteps: AttemptSteps = {
  beforeSend(ctx, { target, resolved }, outgoing, transport, allow) {
    // Lines of the service's own batches are requests that are checked when they are sent.
    if (resolved.origin === ownStoreOrigin) return outgoing;
    const checkLine = ctx.plan.onBatch?.(ctx, target) ?? null;
    return allow || checkLine ? checkBatch(ctx, resolved, outgoing, transport, { allow, checkLine }) : outgoing;
  },
  afterSend: (ctx, { target, resolved }, reply) => noteBatch(ctx, target, resolved, reply),
};
