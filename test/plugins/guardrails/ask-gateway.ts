import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, type Script } from '../../../core/test-kit/pipeline-harness.ts';

export const match = (rule: string, more: JsonObject = {}) => ({
  'default.regexMatch': { id: 'default.regexMatch', rule },
  ...more,
});
export const hook = (rule: string, more: JsonObject = {}) => ({
  type: 'guardrail',
  id: 'g1',
  checks: [{ id: 'default.regexMatch', parameters: { rule } }],
  ...more,
});

export const user = (content: unknown) => ({ model: 'gpt-5', messages: [{ role: 'user', content }] });

export async function ask(config: JsonObject, options: { body?: JsonObject; scripts?: Script[] } = {}) {
  const gateway = createHarness({
    timers: {
      after: (_ms, go) => {
        const next = setImmediate(go);
        return () => clearImmediate(next);
      },
    },
  });
  if (options.scripts) gateway.script(...options.scripts);
  const sink = await gateway.send({
    headers: { 'x-svc-config': JSON.stringify({ provider: '@one', ...config }) },
    body: options.body ?? user('hello world'),
  });
  return { gateway, sink, status: sink.status, calls: gateway.calls.length, record: gateway.records[0] };
}

export const json = (text: string) => JSON.parse(text) as JsonObject & { hook_results?: Record<string, JsonObject[]> };
