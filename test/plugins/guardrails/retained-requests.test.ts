import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as v from 'valibot';
import { afterAll, expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { defineCorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import { chatReply, chatStream, createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');

let contexts: WeakRef<RequestContext>[] = [];
/** Contexts that a faulty plugin would hold. */
let held: RequestContext[] | null = null;
const watch = defineCorePlugin({
  name: 'watch',
  stage: 'record',
  config: v.optional(v.strictObject({})),
  onConfig: () => ({
    onRequest(ctx) {
      contexts.push(new WeakRef(ctx));
      held?.push(ctx);
    },
  }),
});

const gateway = createHarness({ plugins: [watch] });
afterAll(() => gateway.close());

const contains = (words: string[], more = {}) => ({ 'default.contains': { words, operator: 'none' }, ...more });
const card = { 'default.regexMatch': { rule: '\\b\\d{13,16}\\b', not: true }, deny: true };
const guarded = (more: object) => ({
  ...{ provider: 'openai', api_key: 'sk', input_guardrails: [contains(['forbidden'], { deny: true }), card] },
  ...more,
});
const streamModes = ['observe', 'window', 'buffer'].map((stream) => ({
  ...{ name: `streamed, ${stream}`, stream: true, content: 'hello' },
  config: guarded({ output_guardrails: [contains(['secret'], { stream })] }),
}));
const plain = { stream: false, content: 'hello' };
const output = { output_guardrails: [contains(['secret'])] };
const cases = [
  { ...plain, name: 'plain', config: guarded(output) },
  { ...plain, name: 'plain, denied', content: 'forbidden', config: guarded(output) },
  { ...plain, name: 'plain, not in sequence', config: guarded({ output_guardrails: [contains(['secret'], { async: true })] }) },
  { ...plain, name: 'plain, cached', config: guarded({ ...output, cache: { mode: 'simple' } }) },
  ...streamModes,
];

/** A request that is kept is in memory after any number of others. LONG_TESTS: a thousand. */
const finished = process.env.LONG_TESTS ? 1_000 : 300;

/** Sends requests and returns how many of their contexts a full garbage collection leaves. */
async function alive({ content, stream, config }: (typeof cases)[number], count = finished): Promise<number> {
  contexts = [];
  gateway.script(stream ? chatStream(['hello', ' there']) : replyWith(200, chatReply('hello')));
  const headers = { 'x-svc-config': JSON.stringify(config) };
  const body = { model: 'm', messages: [{ role: 'user', content }], ...(stream ? { stream } : {}) };
  for (let at = 0; at < count; at++) await gateway.send({ headers, body });
  for (const list of [gateway.calls, gateway.records, gateway.holds, gateway.logs, gateway.aborted]) list.length = 0;
  // Targets of a WeakRef live until the end of the task that made it.
  await nextTurn();
  await nextTurn();
  collectGarbage();
  expect(contexts).toHaveLength(count);
  return contexts.filter((one) => one.deref() !== undefined).length;
}

// The last request may be on the stack or in a field for reuse.
it.each(cases)('hundreds of finished requests with guardrails leave none in memory: $name', async (one) => {
  expect(await alive(one)).toBeLessThanOrEqual(2);
});

it('counts requests that something holds', async () => {
  held = [];
  expect(await alive(cases[0] as (typeof cases)[number], 100)).toBe(100);
  held = null;
});
