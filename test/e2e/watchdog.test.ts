import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until, within } from '../support/until.ts';

const hanging = join(import.meta.dirname, 'fixtures/hanging-plugin.mjs');
const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };

let gateway: GatewayWithUpstream;
afterEach(() => gateway?.close());

/** A request that blocks the event loop of its process. Its connection closes when the process is killed. */
const hang = (): Promise<unknown> =>
  gateway
    .call('/chat/completions', {
      body,
      headers: { 'x-svc-config': JSON.stringify({ provider: '@oai', plugins: { hanging: {} } }) },
    })
    .then(
      () => 'replied',
      () => 'cut',
    );

describe('a gateway whose event loop hangs', () => {
  it('is killed and replaced, its stack is in the log, and another process serves meanwhile', async () => {
    gateway = await startGatewayWithUpstream({
      // The watchdog thread has two fifths of the timeout to log the stack before the process is killed.
      env: { PLUGINS: hanging, WATCHDOG_TIMEOUT: '6000', GATEWAY_PROCESSES: '2', LOG_LEVEL: 'info' },
    });
    const before = gateway.pidsOf('gateway');
    expect(await hang()).toBe('cut');
    const line = await until(() => gateway.output().match(/^.*"the event loop is blocked".*$/m)?.[0]);
    expect(JSON.parse(line)).toMatchObject({ level: 'error', name: 'gateway' });
    expect(JSON.parse(line).stack).toMatch(/^spinForEver \(.*hanging-plugin\.mjs:\d+:\d+\)$/m);
    expect(gateway.output()).toContain('the event loop of a gateway is blocked; killing the process');
    const after = await until(() => {
      const pids = gateway.pidsOf('gateway');
      return pids.length === 2 && pids.some((pid) => !before.includes(pid)) && pids;
    });
    expect(after.filter((pid) => before.includes(pid))).toHaveLength(1);
    const response = await until(() =>
      gateway.call('/chat/completions', { body, headers: { 'x-svc-provider': '@oai' } }).catch(() => false),
    );
    expect((response as Response).status).toBe(200);
  });

  it('does not block the shutdown of the service', async () => {
    gateway = await startGatewayWithUpstream({ env: { PLUGINS: hanging, WATCHDOG_TIMEOUT: '3000', LOG_LEVEL: 'info' } });
    const cut = hang();
    // Only the gateway process hangs.
    await until(() =>
      fetch(`${gateway.origin}/health`, { signal: AbortSignal.timeout(100) }).then(
        () => false,
        () => true,
      ),
    );
    // Far below DRAIN_TIMEOUT and its grace, after which the supervisor would have to kill it.
    await within(gateway.stop(), 'the end of the service', 25_000);
    expect(await cut).toBe('cut');
    expect(gateway.output()).toContain('is blocked; killing the process');
  });
});
