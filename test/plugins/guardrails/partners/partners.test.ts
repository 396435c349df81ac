import { describe, expect, it } from 'vitest';
import type { PluginRequest } from '../../../../core/contract/plugin/plugin.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness } from '../../../../core/test-kit/pipeline-harness.ts';
import { checks } from '../../../../plugins/guardrails/checks/index.ts';
import { type Format, formats } from './formats.ts';
import { masks } from './masks.ts';

type Reply = { status?: number; json?: unknown; text?: string } | 'down' | 'never';
type Asked = Pick<Format, 'id' | 'side' | 'credentials'> & { parameters?: JsonObject };

/** Sends one chat completion whose guardrail asks a fake of the partner's service. */
async function ask({ id, side, credentials, parameters }: Asked, reply: Reply, more: JsonObject = {}) {
  const calls: PluginRequest[] = [];
  const gateway = createHarness({
    fetch(request) {
      calls.push(request);
      if (reply === 'down') return Promise.reject(new GatewayError('upstream_connect'));
      if (reply === 'never') return new Promise(() => {});
      const { status = 200, json, text = JSON.stringify(json) } = reply;
      return Promise.resolve({ status, headers: [], body: Buffer.from(text) });
    },
  });
  const entry = { [id]: { ...parameters, credentials, ...more }, id: 'g', deny: true };
  const config = { provider: '@one', [`${side}_guardrails`]: [entry] };
  const sink = await gateway.send({
    headers: { 'x-svc-config': JSON.stringify(config), 'x-svc-trace-id': 't-1' },
    body: { model: 'm', messages: [{ role: 'user', content: 'hello world' }] },
  });
  const sent = gateway.calls[0] && (JSON.parse(String(gateway.calls[0].body)) as { messages: { content: string }[] });
  return { status: sink.status, text: sink.text, calls, sent: sent?.messages[0]?.content };
}

const received = (text: string) =>
  (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;

describe.each(formats.map((format) => [format.id, format] as const))('%s', (_id, format) => {
  it('sends the published format and passes', async () => {
    const { status, calls } = await ask(format, { json: format.pass });
    const [call] = calls;
    const body = typeof call?.body === 'string' ? JSON.parse(call.body) : call?.body;
    expect([calls.length, { ...call, body }]).toEqual([1, { url: format.url, headers: format.headers, body: format.body }]);
    expect(status).toBe(200);
  });

  it('denies', async () => {
    const { status, text } = await ask(format, { json: format.block });
    expect(status).toBe(446);
    expect(text).not.toContain('k-1');
  });

  it.each<[string, Reply, JsonObject, number]>([
    ['an error passes', { status: 500, json: {} }, {}, 200],
    ['an error fails with failOnError', { status: 500, json: format.pass }, { failOnError: true }, 446],
    ['401 fails with failOnError', { status: 401, json: format.pass }, { failOnError: true }, 446],
    ['a service that is down fails with failOnError', 'down', { failOnError: true }, 446],
    ['a late reply fails with failOnError', 'never', { failOnError: true, timeout: 5 }, 446],
    ['a reply of another form fails with failOnError', { json: { unexpected: 1 } }, { failOnError: true }, 446],
    ['a reply that is not JSON fails with failOnError', { text: 'ok' }, { failOnError: true }, 446],
  ])('%s', async (_name, reply, more, status) => {
    const asked = await ask(format, reply, more);
    expect([asked.status, asked.text.includes('k-1')]).toEqual([status, false]);
  });

  it('names an unknown parameter and a missing credential', async () => {
    const { status, text } = await ask({ ...format, credentials: { wrong: 1 } }, 'down', { zz: 1 });
    expect(status).toBe(400);
    expect(text).toContain(`${format.id}.zz`);
    expect(text).toContain(`${format.id}.credentials.`);
  });
});

const withoutCredentials = formats.filter(({ credentials }) => Object.keys(credentials).length === 0);
it.each(withoutCredentials.map((format) => [format.id, format] as const))('%s: needs no `credentials`', async (_id, format) => {
  const { id, side, parameters = {} } = format;
  expect((await ask({ id, side, parameters } as never, { json: format.pass })).status).toBe(200);
});

const replaced = formats.flatMap(({ redact, ...format }) => (redact ? [[format.id, format, redact] as const] : []));
it.each(replaced)('%s: replaces the text', async (id, format, { parameters, reply }) => {
  const { status, text, sent } = await ask({ ...format, parameters: { ...format.parameters, ...parameters } }, { json: reply });
  const expected = id.startsWith('patronus') ? '[REDACTED]' : 'changed';
  expect([status, format.side === 'input' ? sent : received(text)]).toEqual([200, expected]);
});

const redacting = replaced.flatMap(([id, format, { parameters }]) => {
  const asked = { ...format, parameters: { ...format.parameters, ...parameters } };
  return checks.get(id)?.redacts?.(asked.parameters as never) ? [[id, asked] as const] : [];
});
it.each(redacting)('%s: denies a text that its service could not redact, unless failOnError is false', async (_id, format) => {
  expect((await ask(format, 'down', { failOnError: false })).status).toBe(200);
  expect((await ask(format, 'down')).status).toBe(446);
});
it('partner checks that redact are tested with a service that is down', () => {
  expect(redacting.length).toBeGreaterThan(5);
});

it.each(masks.map((mask) => [mask.id, mask] as const))(
  '%s: writes what was found into the text',
  async (_id, { reply, text, ...asked }) => {
    const { status, sent } = await ask(asked, { json: reply });
    expect([status, sent]).toEqual([200, text]);
  },
);

it('every partner check has a format here', () => {
  const partnerIds = [...checks].filter(
    ([, { parameters }]) => 'credentials' in ((parameters as { entries?: object }).entries ?? {}),
  );
  const tested = new Set([...formats, ...masks].map(({ id }) => id));
  expect(partnerIds.map(([id]) => id).filter((id) => !tested.has(id))).toEqual([]);
});

it('svc.http: a value of another type is an error, and pointers do not reach inherited members', async () => {
  const format = formats.find(({ id }) => id === 'svc.http') as Format;
  for (const verdictPointer of ['/results', '/constructor', '/results/0/toString', '/missing']) {
    const asked = { ...format, parameters: { ...format.parameters, verdictPointer } };
    expect((await ask(asked, { json: format.pass }, { failOnError: true })).status).toBe(446);
  }
});
