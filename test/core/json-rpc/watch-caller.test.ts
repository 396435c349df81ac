import { expect, it, vi } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { watchCaller } from '../../../core/json-rpc/watch-caller.ts';

/** A stream whose next check begins when the test asks for it. */
function watched() {
  let next: (() => void) | null = null;
  const state = {
    verdict: null as GatewayError | null,
    find: (): unknown => undefined,
    ended: [] as string[],
    stop: () => {},
    /** Begins the next check; false if there is none. */
    check(): boolean {
      const begin = next;
      next = null;
      begin?.();
      return begin !== null;
    },
    /** Checks once and waits until another check is due. */
    async passes(): Promise<void> {
      expect(state.check()).toBe(true);
      await vi.waitFor(() => expect(next).not.toBeNull());
    },
  };
  const ctx = { plan: { onSessionLook: [() => state.verdict] } } as unknown as RequestContext;
  const timers = {
    after(_ms: number, callback: () => void) {
      next = callback;
      return () => {
        next = null;
      };
    },
  };
  state.stop = watchCaller(
    ctx,
    () => state.find(),
    ({ code }) => state.ended.push(code),
    timers,
  );
  return state;
}

it('a stream ends once if the credential of its caller is revoked', async () => {
  const stream = watched();
  await stream.passes();
  stream.verdict = new GatewayError('invalid_api_key');
  stream.check();
  await vi.waitFor(() => expect(stream.ended).toEqual(['invalid_api_key']));
  expect(stream.check()).toBe(false);
});

it.each(['forbidden', 'not_found'] as const)('a stream ends if its server is looked up with the error %s', async (code) => {
  const stream = watched();
  stream.find = () => Promise.reject(new GatewayError(code));
  stream.check();
  await vi.waitFor(() => expect(stream.ended).toEqual([code]));
});

it('a stream continues while the control plane is unreachable, and after an error of a plugin', async () => {
  const stream = watched();
  stream.find = () => Promise.reject(new GatewayError('unavailable'));
  await stream.passes();
  stream.find = () => {
    throw new TypeError('a defect');
  };
  await stream.passes();
  expect(stream.ended).toEqual([]);
});

it('a stream that has ended is not checked', async () => {
  const stream = watched();
  stream.stop();
  expect(stream.check()).toBe(false);
});
