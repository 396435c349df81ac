import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { AttemptResult } from '../../../core/contract/plugin/context.ts';
import { type CoreHooks, defineCorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { chatReply, createHarness, type FakeSink, failWith, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

/** Every `onTargetStart` is followed by the function that it returned, even after failures. */
const body = { model: 'gpt-5', messages: [] };
const config = {
  strategy: { mode: 'fallback' },
  targets: [{ provider: '@one', retry: { attempts: 1 } }, { provider: '@two' }],
};

function newWatched(hooks: CoreHooks = {}, random = 0) {
  const seen: string[] = [];
  const watcher = defineCorePlugin({
    name: 'watcher',
    stage: 'output-guardrails',
    config: v.optional(v.strictObject({})),
    onConfig: () => ({
      onTargetStart(_ctx, target) {
        seen.push(`to ${target.path}`);
        return (last: AttemptResult | null) => void seen.push(`from ${target.path} ${last?.status ?? 'unasked'}`);
      },
      ...hooks,
    }),
  });
  const gateway = createHarness({ plugins: [watcher], random: () => random });
  gateway.addConfig('pc-main', config);
  return { gateway, seen };
}
const request = { headers: { 'x-svc-config': 'pc-main' }, body };

describe('target hooks', () => {
  it('cover all attempts, and get the result of the last', async () => {
    const { gateway, seen } = newWatched();
    gateway.script(replyWith(503, {}), replyWith(500, {}), replyWith(200, chatReply('ok')));
    expect((await gateway.send(request)).status).toBe(200);
    expect(seen).toEqual([
      'to config.targets[0]',
      'from config.targets[0] 500',
      'to config.targets[1]',
      'from config.targets[1] 200',
    ]);
  });

  it('end without a result if a plugin replies instead of the provider', async () => {
    const { gateway, seen } = newWatched({ onAttempt: () => ({ status: 200, headers: [], body: 'mine' }) });
    expect((await gateway.send(request)).text).toBe('mine');
    expect(seen).toEqual(['to config.targets[0]', 'from config.targets[0] unasked']);
  });

  it('are not called if the target could not be looked up', async () => {
    const { gateway, seen } = newWatched();
    const key = [...gateway.documents.keys()].find((each) => each.endsWith('/one')) as string;
    const away = Promise.reject(new GatewayError('unavailable'));
    away.catch(() => undefined);
    gateway.documents.set(key, away);
    expect((await gateway.send(request)).status).toBe(200);
    expect(seen).toEqual(['to config.targets[1]', 'from config.targets[1] 200']);
  });

  it('end when the client disconnects, during an attempt and between two', async () => {
    for (const script of ['during', 'between']) {
      // The wait between attempts takes a second, unless the client disconnects.
      const { gateway, seen } = newWatched({}, 0.999);
      let sink: FakeSink | null = null;
      gateway.script((call, handler) => {
        if (script === 'between') failWith(new GatewayError('upstream_reset', { status: 503 }))(call, handler);
        setImmediate(() => sink?.leave());
      });
      const prepare = (given: FakeSink): void => {
        sink = given;
      };
      await gateway.send({ ...request, prepare });
      await new Promise((resolve) => setImmediate(resolve));
      expect(seen).toEqual(['to config.targets[0]', `from config.targets[0] ${script === 'during' ? 499 : 503}`]);
      expect(gateway.calls).toHaveLength(1);
    }
  });

  it('do no harm if they throw', async () => {
    const { gateway } = newWatched({
      onTargetStart: () => () => {
        throw new Error('my fault');
      },
    });
    expect((await gateway.send(request)).status).toBe(200);
    expect(gateway.logs.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});
