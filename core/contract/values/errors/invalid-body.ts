import type * as v from 'valibot';
import { GatewayError } from './errors.ts';
import { issueTexts, isUnknownKey, pathOf } from './input-issues.ts';

/** Returns `bad_request` for a body that its schema rejects. Message and `param` are of the same issue, an unknown key if there is one. */
export function invalidBody(issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]], schema: unknown): GatewayError {
  const errors = issueTexts(issues, 'body', schema);
  const param = pathOf(issues.find(isUnknownKey) ?? issues[0], 'body');
  return new GatewayError('bad_request', { message: errors[0] as string, errors, param });
}
