import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isProviderId, providerTypes } from '../../../admin/resources/integrations/configurations/provider-type.ts';
import { parseGatewayConfig } from '../../../core/contract/plugin/config/gateway-config.ts';
import type { Operation } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { adapters as compatibleRows } from '../../../core/providers/compatible-rows/index.ts';
import { declarations, settingNames } from '../../../core/providers/declarations.ts';
import { providers } from '../../../core/providers/index.ts';
import { mockSender } from '../../../core/providers/mock/in-process.ts';
import { repliesOfEvents, repliesOfReply } from './assemble-reply.ts';
import { callOf, translated } from './contract-suite.ts';
import { eventsOfText } from './event-stream-text.ts';
import { mockCall, record } from './mock/recorded-exchange.ts';

describe('the list of providers', () => {
  it('has every provider folder, and only those, with a contract test for each', () => {
    const folders = readdirSync(join(import.meta.dirname, '../../../core/providers'), { withFileTypes: true })
      // `svc` is the service's own store, which cannot be named as a provider.
      .filter((entry) => entry.isDirectory() && entry.name !== 'shared' && entry.name !== 'svc')
      .map((entry) => entry.name);
    const rows = compatibleRows.map((row) => row.id);
    const own = folders.filter((name) => name !== 'compatible-rows');
    const others = ['claude-platform-aws', ...declarations.flatMap(({ aliases }) => aliases)];
    expect([...providers.keys()].sort()).toEqual([...own, ...rows, ...others].sort());
    for (const id of folders) expect([id, existsSync(join(import.meta.dirname, id, 'contract.test.ts'))]).toEqual([id, true]);
  });

  it('supports Messages and Responses calls for each provider with chat completions', () => {
    const [withChat, withMessages, withResponses] = (['chatComplete', 'messages', 'createModelResponse'] as const).map((name) =>
      [...new Set(providers.values())].filter((adapter) => adapter.operations[name]).map((adapter) => adapter.id),
    );
    expect(withMessages).toEqual(withChat);
    expect(withResponses).toEqual(withChat);
  });
});

it('equals the provider types of the control plane', () => {
  expect([...providerTypes].sort()).toEqual([...new Set([...providers.values()].map((adapter) => adapter.id))].sort());
  for (const id of providers.keys()) expect([id, isProviderId(id)]).toEqual([id, true]);
});

describe('example configs in the READMEs', () => {
  const rows: ReadonlySet<string> = new Set(compatibleRows.map((row) => row.id));
  const withFolder = [...new Set([...providers.values()].map((adapter) => adapter.id))].filter(
    (id) => !rows.has(id) && id !== 'claude-platform-aws',
  );
  const examples = withFolder.flatMap((id) => {
    const readme = readFileSync(join(import.meta.dirname, '../../../core/providers', id, 'README.md'), 'utf8');
    const example = /## Example config\s+```json\n([\s\S]*?)```/.exec(readme)?.[1];
    return example === undefined ? [] : [[id, example] as const];
  });

  it('exist for each provider', () => {
    expect(examples.length).toBeGreaterThanOrEqual(11);
  });

  it.each(examples)('are accepted: %s', (id, example) => {
    expect(parseGatewayConfig(JSON.parse(example), settingNames)).toMatchObject({ config: { provider: id } });
  });
});

describe('a Messages call to an OpenAI-format provider', () => {
  const operation = providers.get('mock')?.operations.messages as Operation;
  const request = {
    model: 'echo',
    max_tokens: 50,
    system: 'Be brief.',
    messages: [{ role: 'user', content: 'hello out there' }],
  };

  async function replied(params: JsonObject) {
    const call = callOf(params, {}, {});
    const body = operation.toProvider?.(params, call) ?? params;
    const recording = record(mockSender(), mockCall(body, { path: operation.path(call) }));
    await recording.over;
    expect(recording.status).toBe(200);
    return { recording, call };
  }

  it('has the same content plain and streamed', async () => {
    const plain = await replied(request);
    const reply = operation.fromProvider?.(plain.recording.json(), plain.call) as JsonObject;
    expect(reply).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'end_turn',
      usage: { input_tokens: 5, output_tokens: 3 },
    });
    const streamed = await replied({ ...request, stream: true });
    const events = translated(operation, eventsOfText(streamed.recording.text()), streamed.call);
    expect(repliesOfEvents('messages', events)).toEqual(repliesOfReply('messages', reply));
    expect(repliesOfReply('messages', reply)[0]?.text).toBe('hello out there');
  });
});
