import type { AttemptSteps } from '../pipeline/run-attempt.ts';
import { checkBatch } from './check-batch.ts';
import { noteBatch } from './note-batch.ts';

/** Checks the models of a batch before a provider gets it, and notes for the record which batch the request created. */
export const batchSteps: AttemptSteps = {
  beforeSend: (ctx, { resolved }, outgoing, transport, allow) =>
    allow ? checkBatch(ctx, resolved, outgoing, transport, allow) : outgoing,
  afterSend: (ctx, { target, resolved }, reply) => noteBatch(ctx, target, resolved, reply),
};
