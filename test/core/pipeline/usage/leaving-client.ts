import * as v from 'valibot';
import { expect } from 'vitest';
import { defineCorePlugin } from '../../../../core/contract/plugin/core-plugin.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import type { FakeSink, Harness, Script } from '../../../../core/test-kit/pipeline-harness.ts';

export const body = { model: '@one/gpt-5', messages: [{ role: 'user', content: 'x'.repeat(40) }] };
export const prompt = { inputTokens: 10, usageEstimated: true };

/** Sends a request whose client disconnects when `leave` is called. Returns its record. */
export async function recordOf(
  harness: Harness,
  script: (leave: () => void) => Script[],
  request: { path?: string; headers?: Record<string, string>; body?: JsonObject } = {},
) {
  let client: FakeSink | null = null;
  harness.script(...script(() => client?.leave()));
  await harness.send({
    method: 'POST',
    path: '/v1/chat/completions',
    body,
    ...request,
    prepare: (sink) => {
      client = sink;
    },
  });
  expect(harness.records).toHaveLength(1);
  return harness.records[0];
}

/** Reads whole replies, and takes some turns for it. */
export function slow() {
  return defineCorePlugin({
    name: 'slow',
    stage: 'output-guardrails',
    reads: { response: 'body' },
    config: v.optional(v.strictObject({})),
    onConfig: () => ({
      onAttemptResponse: () => new Promise<undefined>((resolve) => setImmediate(() => setImmediate(() => resolve(undefined)))),
    }),
  });
}
