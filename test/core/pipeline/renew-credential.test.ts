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

/** Counts look-ups, of which none succeeds. */
function counted() {
  const count = { looks: 0, resolve: () => new GatewayError('invalid_provider', { detail: String(++count.looks) }) };
  return count;
}

it('credential renewal: an unchanged credential or a disconnected client causes no look-up', async () => {
  const count = counted();
  expect(await renewCredential(refused(), refusal, async () => false, count.resolve)).toBeNull();
  const ctx = refused();
  const leaves = async () => {
    Object.assign(ctx, { aborted: true });
    return true;
  };
  expect(await renewCredential(ctx, refusal, leaves, count.resolve)).toBeNull();
  expect(count.looks).toBe(0);
  expect(await renewCredential(refused(), refusal, async () => true, count.resolve)).toBeNull();
  expect(count.looks).toBe(1);
});

it.each<[string, Partial<RequestContext>, AttemptReply]>([
  ['a body that cannot be sent again', { bodyTaken: true }, refusal],
  ['an error of the gateway itself', {}, { kind: 'error', error: new GatewayError('forbidden') }],
])('credential renewal: there is no look-up after %s', async (_, fields, reply) => {
  const count = counted();
  await renewCredential(Object.assign(refused(), fields), reply, async () => true, count.resolve);
  expect(count.looks).toBe(0);
});
