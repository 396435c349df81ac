import { uploadsBatch } from '../contract/plugin/requests/uploads.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { AttemptSteps } from '../pipeline/run-attempt.ts';

/**
 * Rejects the file of a batch for a provider that does not create batches of its files, if guardrails judge files. They leave the lines of a batch to its
 * creation, and this provider would store the file for its models.
 */
export const uploadSteps: AttemptSteps = {
  beforeSend({ plan, form, endpoint }, { resolved }, outgoing) {
    const isUnread = plan.readsUploads && form !== null && uploadsBatch(endpoint, form);
    if (isUnread && outgoing.operation?.ignoresPurpose) {
      throw new GatewayError('bad_request', {
        message: `purpose: ${resolved.adapter.id} creates no batches of its files, so guardrails would not read this file. Send another purpose`,
        param: 'purpose',
      });
    }
    return outgoing;
  },
  afterSend: () => undefined,
};
