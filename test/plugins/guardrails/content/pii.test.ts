import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  replyWith,
  type Script,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';
import findPii from '../../../../workers/tasks/find-pii.ts';

async function ask(
  config: JsonObject,
  content: unknown,
  script: Script = replyWith(200, chatReply('hello')),
  body: JsonObject = {},
) {
  const gateway = createHarness();
  gateway.script(script);
  const sink = await gateway.send({
    headers: { 'x-svc-config': JSON.stringify({ provider: '@one', ...config }) },
    body: { model: 'm', messages: [{ role: 'user', content }], ...body },
  });
  const sent = gateway.calls[0] && (JSON.parse(String(gateway.calls[0].body)) as { messages: { content: unknown }[] });
  return { status: sink.status, text: sink.text, sent: sent?.messages[0]?.content, record: gateway.records[0] };
}

const input = (parameters: JsonObject) => ({ input_guardrails: [{ 'svc.pii': parameters, id: 'p', deny: true }] });
const output = (parameters: JsonObject, more: JsonObject = {}) => ({
  output_guardrails: [{ 'svc.pii': parameters, id: 'p', deny: true, ...more }],
});
const restoring = { ...input({ redact: true, restore: true }), output_mutators: [{ 'svc.restorePii': {} }] };
const mail = 'jane.doe@example.com';

describe('svc.pii', () => {
  it('denies a request with personal data and shows placeholders only', async () => {
    const { status, text, sent } = await ask(input({}), `Write to ${mail}`);
    expect([status, sent]).toEqual([446, undefined]);
    expect(text).not.toContain(mail);
    expect(JSON.parse(text).hook_results.before_request_hooks[0].checks[0].data).toEqual({
      verdict: false,
      not: false,
      explanation: 'Personal data found: EMAIL_ADDRESS',
      detectedPII: [{ text: '{{EMAIL_ADDRESS_1}}', labels: { EMAIL_ADDRESS: 1 } }],
      restrictedCategories: expect.arrayContaining(['EMAIL_ADDRESS', 'NAME']),
      detectedCategories: ['EMAIL_ADDRESS'],
      textExcerpt: 'Write to {{EMAIL_ADDRESS_1}}',
    });
  });

  it.each<[string, JsonObject, string, number]>([
    ['passes text without personal data', {}, 'Write to me', 200],
    ['ignores other categories', { categories: ['SSN'] }, `Write to ${mail}`, 200],
    ['not: passes personal data', { not: true }, `Write to ${mail}`, 200],
    ['not: denies text without it', { not: true }, 'Write to me', 446],
  ])('%s', async (_name, parameters, content, status) => {
    expect((await ask(input(parameters), content)).status).toBe(status);
  });

  it('redact: sends placeholders, the same for the same value', async () => {
    const { status, sent, record } = await ask(input({ redact: true }), `${mail}, 10.1.2.3, bob@example.com and ${mail}`);
    expect(status).toBe(200);
    expect(sent).toBe('{{EMAIL_ADDRESS_1}}, {{IP_ADDRESS_1}}, {{EMAIL_ADDRESS_2}} and {{EMAIL_ADDRESS_1}}');
    expect(record?.guardrails).toMatchObject([{ verdict: true, transformed: true }]);
  });

  const overloaded = {
    run: () => {
      throw new GatewayError('overloaded');
    },
  };
  it.each<[string, string, JsonObject, number]>([
    ['denies a request that it cannot redact, also without deny', 'svc.pii', { redact: true }, 446],
    ['passes it if failOnError is false', 'svc.pii', { redact: true, failOnError: false }, 200],
    ['passes a request that it cannot check if it does not redact', 'svc.pii', {}, 200],
    ['denies a request with secrets that it cannot redact', 'svc.secrets', { redact: true }, 446],
  ])('%s', async (_, id, parameters, status) => {
    const gateway = createHarness({ tasks: overloaded as never });
    const config = { provider: '@one', input_guardrails: [{ [id]: parameters, id: 'p' }] };
    const headers = { 'x-svc-config': JSON.stringify(config) };
    const sink = await gateway.send({ headers, body: { model: 'm', messages: [{ role: 'user', content: mail }] } });
    expect([sink.status, gateway.calls.length]).toEqual([status, status === 446 ? 0 : 1]);
  });

  it('denies personal data in a pass-through request, which it cannot redact, and passes other texts', async () => {
    for (const [text, status] of [
      [mail, 446],
      ['hello', 200],
    ] as const) {
      const gateway = createHarness();
      const config = { provider: '@one', input_guardrails: [{ 'svc.pii': { redact: true }, id: 'p' }] };
      const headers = { 'x-svc-config': JSON.stringify(config) };
      const body = { model: 'm', messages: [{ role: 'user', content: text }] };
      expect((await gateway.send({ path: '/v1/proxy/chat/completions', headers, body })).status).toBe(status);
    }
  });

  it('redact: replaces data that is split over content parts', async () => {
    const parts = ['Card 4111 1111 ', '1111 1111 ok'].map((text) => ({ type: 'text', text }));
    const { sent } = await ask(input({ redact: true }), parts);
    expect(sent).toEqual([
      { type: 'text', text: 'Card {{CREDIT_CARD_1}}' },
      { type: 'text', text: ' ok' },
    ]);
  });

  it('redact: never uses a placeholder that the text holds already', async () => {
    const { sent } = await ask(input({ redact: true }), `{{EMAIL_ADDRESS_1}} ${mail}`);
    expect(sent).toBe('{{EMAIL_ADDRESS_1}} {{EMAIL_ADDRESS_2}}');
  });

  it('texts that were searched before have the same reply, record and placeholders', async () => {
    const turns = ['and jane@example.com', 'Jane Doe, 10.1.2.3', `again ${mail}`].map(
      (text) => `${'a word and '.repeat(8)}${text}`,
    );
    const owners = new Set<unknown>();
    /** Sends each turn with those before it. Returns what the provider, the client and the record got. */
    async function converse(changed: (input: Parameters<typeof findPii>[0]) => Parameters<typeof findPii>[0]) {
      const tasks = { run: (_name: string, given: Parameters<typeof findPii>[0]) => findPii(changed(given)) };
      const gateway = createHarness({ tasks: tasks as never });
      gateway.script(replyWith(200, chatReply('Dear {{EMAIL_ADDRESS_1}}')));
      const guarded = { 'svc.pii': { redact: true, restore: true, scope: 'all_messages' }, id: 'p', deny: true };
      const config = { provider: '@one', ...restoring, input_guardrails: [guarded] };
      const headers = { 'x-svc-config': JSON.stringify(config) };
      const replies: unknown[] = [];
      for (let turn = 1; turn <= turns.length; turn++) {
        const messages = turns.slice(0, turn).map((content) => ({ role: 'user', content }));
        const { status, text } = await gateway.send({ headers, body: { model: 'm', messages } });
        replies.push([status, text.replace(/"(execution_time|created_at)":("[^"]*"|[\d.]+)/g, '')]);
      }
      const results = JSON.stringify(gateway.records.map(({ guardrails }) => guardrails));
      const sent = gateway.calls.map(({ body }) => String(body));
      return { replies, results: results.replace(/"(durationMs|createdAt)":("[^"]*"|[\d.]+)/g, ''), sent };
    }
    const searched = await converse((given) => {
      owners.add(given.owner);
      return { ...given, owner: undefined };
    });
    for (let round = 0; round < 2; round++) expect(await converse((given) => given)).toEqual(searched);
    expect(searched.sent.at(-1)).toContain('{{EMAIL_ADDRESS_2}}');
    expect([...owners]).toEqual([workspaceId]);
  });

  it('redact: changes a response, and its results hold no personal data', async () => {
    const { status, text } = await ask(output({ redact: true }), 'x', replyWith(200, chatReply(`It is ${mail}`)));
    expect(status).toBe(200);
    expect(text).not.toContain(mail);
    expect(JSON.parse(text).choices[0].message.content).toBe('It is {{EMAIL_ADDRESS_1}}');
  });

  it('redact: a stream leaves no part of the data, wherever it is split', async () => {
    const reply = `It is ${mail}.`;
    for (let at = 1; at < reply.length; at++) {
      const script = chatStream([reply.slice(0, at), reply.slice(at)]);
      const { status, text } = await ask(output({ redact: true }), 'x', script, { stream: true });
      expect([status, text.includes('{{EMAIL_ADDRESS_1}}'), text.includes('jane')]).toEqual([200, true, false]);
    }
  });

  it.each<[JsonObject, string]>([
    [{ categories: ['EMAIL'] }, 'categories[0]'],
    [{ categories: [] }, 'categories'],
    [{ redact: true, not: true }, 'not: contradicts redact'],
    [{ restore: true }, 'restore: requires redact'],
  ])('config is rejected: %j', async (parameters, field) => {
    const { status, text } = await ask(input(parameters), 'x');
    expect(status).toBe(400);
    expect(text).toContain(`input_guardrails[0].svc.pii.${field}`);
  });
});

describe('svc.restorePii', () => {
  it('puts the data back into the response', async () => {
    const reply = replyWith(200, chatReply('Mail {{EMAIL_ADDRESS_1}}, not {{EMAIL_ADDRESS_9}}'));
    const { status, text, sent } = await ask(restoring, `Write to ${mail}`, reply);
    expect([status, sent]).toEqual([200, 'Write to {{EMAIL_ADDRESS_1}}']);
    expect(JSON.parse(text).choices[0].message.content).toBe(`Mail ${mail}, not {{EMAIL_ADDRESS_9}}`);
  });

  it('puts the data back into a stream, wherever the placeholder is split', async () => {
    const reply = 'Mail {{EMAIL_ADDRESS_1}}!';
    for (let at = 1; at < reply.length; at++) {
      const { text } = await ask(restoring, mail, chatStream([reply.slice(0, at), reply.slice(at)]), { stream: true });
      const deltas = text
        .split('\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? '');
      expect(deltas.join('')).toBe(`Mail ${mail}!`);
    }
  });

  it('changes nothing for a request without restore', async () => {
    const config = { ...restoring, ...input({ redact: true }) };
    const { text } = await ask(config, mail, replyWith(200, chatReply('{{EMAIL_ADDRESS_1}}')));
    expect(JSON.parse(text).choices[0].message.content).toBe('{{EMAIL_ADDRESS_1}}');
  });
});
