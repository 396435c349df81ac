import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Plugin } from '../../../core/contract/plugin/plugin.ts';
import { checkPlugin } from '../../../core/plugin-host/check-plugin.ts';
import { guardPlugin } from '../../../core/plugin-host/guard-plugin.ts';
import { createHarness } from '../../../core/test-kit/pipeline-harness.ts';

const plugin: Plugin = { apiVersion: 1, name: 'odd', stage: 'output-guardrails', onConfig: () => null };
const upperCase = v.optional(
  v.pipe(
    v.any(),
    v.transform((value) => value.name.toUpperCase()),
  ),
);

async function send(more: Partial<Plugin>, settings: unknown = {}) {
  const harness = createHarness({ plugins: [guardPlugin({ ...plugin, ...more }, { hookTimeoutMs: 1_000 })] });
  const sink = await harness.send({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'x-svc-config': JSON.stringify({ provider: '@one', plugins: { odd: settings } }) },
    body: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
  });
  return { status: sink.status, text: Buffer.concat(sink.chunks).toString(), logs: JSON.stringify(harness.logs) };
}

describe('a plugin that throws an object', () => {
  it.each([
    [{ headers: { authorization: 'secret-1' }, code: 5 }, 'an object with the members headers, code'],
    [{ message: 'no connection', headers: 'secret-1' }, 'no connection'],
    [{}, 'an object with the members (none)'],
  ])('is logged with the message or the names of the members of %j, without their values', async (thrown, reason) => {
    const { logs } = await send({
      config: v.optional(v.unknown()),
      onConfig: () => ({
        onRequest() {
          throw thrown;
        },
      }),
    });
    expect(logs).toContain(`plugin odd, onRequest: ${reason}`);
    expect(logs).not.toContain('secret-1');
  });
});

describe('a schema of settings that throws', () => {
  it('ends the request with a 500 that names the plugin', async () => {
    const { status, text, logs } = await send({ config: upperCase }, { name: 5 });
    expect([status, text]).toEqual([500, expect.stringContaining('plugin odd')]);
    expect(logs).toContain('plugin odd, config: value.name.toUpperCase is not a function');
  });

  it('for undefined stops the start with the name of the plugin', () => {
    const config = v.pipe(
      v.any(),
      v.transform((value) => value.url),
    );
    expect(checkPlugin({ ...plugin, config })).toMatch(/^\(odd\) config: the schema throws for undefined, .*reading 'url'/);
  });
});

it('a default with members of the names that valibot uses is no asynchronous schema', () => {
  const job = v.optional(v.object({ async: v.boolean(), kind: v.string() }), { async: true, kind: 'webhook' });
  expect(checkPlugin({ ...plugin, config: v.optional(v.object({ job })) })).toBeNull();
});
