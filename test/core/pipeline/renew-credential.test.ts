import { expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { AttemptReply } from '../../../core/pipeline/attempt-reply.ts';
import { renewCredential } from '../../../core/pipeline/dispatch.ts';

/**
 * The effect for clients is tested in test/core/secret-managers. These tests cover cases that no provider can cause on demand.
 */
const refusal: AttemptReply = { kind: 'error', error: new GatewayError('upstream_status', { status: 401 }) };

function refused(): RequestContext {
  return { aborted: false, bodyTaken: false, attempts: [{ status: 401 }] } as unknown as RequestContext;
}

it.each([
  [
    'at once',
    () => {
      throw new GatewayError('invalid_provider');
    },
  ],
  ['after it was looked for', () => Promise.reject(new GatewayError('invalid_provider'))],
])('credential renewal: a provider that is gone by then leaves the rejection unchanged: %s', async (_, resolve) => {
  expect(await renewCredential(refused(), refusal, async () => true, resolve)).toBeNull();
});

it('credential renewal: an unchanged credential or a disconnected client causes no look-up', async () => {
  const resolve = () => {
    throw new Error('looked for');
  };
  expect(await renewCredential(refused(), refusal, async () => false, resolve)).toBeNull();
  const ctx = refused();
  const leaves = async () => {
    Object.assign(ctx, { aborted: true });
    return true;
  };
  expect(await renewCredential(ctx, refusal, leaves, resolve)).toBeNull();
});
