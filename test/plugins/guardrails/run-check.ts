import * as v from 'valibot';
import { afterAll, expect } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { Subject } from '../../../plugins/guardrails/checks/check.ts';
import { checks } from '../../../plugins/guardrails/checks/index.ts';
import { textParts } from '../../../plugins/guardrails/texts.ts';
import { createGatewayTasks } from '../../../workers/gateway-tasks.ts';

const tasks = createGatewayTasks({ threads: 1, queueMax: 10, taskMs: 20_000, memoryMegabytes: 256, log: { warn: () => {} } });
afterAll(() => tasks.close());

export const chat = (content: unknown, more: JsonObject = {}): JsonObject => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
});
export const reply = (content: unknown): JsonObject => ({ choices: [{ index: 0, message: { role: 'assistant', content } }] });

export async function run(name: string, parameters: JsonObject, body: JsonObject, metadata: Record<string, string> = {}) {
  const check = checks.get(`default.${name}`);
  if (!check) throw new Error(`no check ${name}`);
  const side = body.choices ? 'output' : 'input';
  expect(check.sides).toContain(side);
  const parts = textParts('chatComplete', side, body, 'last_message');
  const subject: Subject = {
    ctx: { identity: null, request: { headers: [] } } as never,
    side,
    body,
    operation: 'chatComplete',
    requestType: 'chatComplete',
    model: typeof body.model === 'string' ? body.model : null,
    metadata,
    parts,
    text: parts.map(({ text }) => text).join('\n'),
  };
  return check.prepare(v.parse(check.parameters, parameters), { tasks, fetch: () => Promise.reject(new Error('no network')) })(
    subject,
  );
}

export const fenced = 'See:\n```python\nprint(1)\n```\n';
export const number = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
export const tool = { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] };
