import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type A2aClient, a2aClient } from '../../support/clients/a2a-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';

/** Contents of messages beside their texts, and an agent that replies what a test sets. */
let gateway: SharedGateway;
let client: A2aClient;
let server: Server;
let reply: string;
const received: string[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      received.push(Buffer.concat(chunks).toString());
      const type = reply.startsWith('data:') ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type }).end(reply);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway = await shareGateway();
  client = a2aClient(gateway);
  const made = await gateway.admin.create('/guardrails', {
    ...{ name: 'Contents', target: 'mcp_tools', workspace_id: gateway.workspaceId },
    checks: [{ id: 'default.regexReplace', parameters: { rule: 'secret', redactText: 'word' } }],
  });
  const denying = await gateway.admin.create('/guardrails', {
    ...{ name: 'Denied contents', target: 'mcp_tools', workspace_id: gateway.workspaceId, actions: { deny: true } },
    checks: [{ id: 'default.contains', parameters: { words: ['forbidden', '47114711'], operator: 'none' } }],
  });
  const needing = await gateway.admin.create('/guardrails', {
    ...{ name: 'Needs a text', target: 'mcp_tools', workspace_id: gateway.workspaceId, actions: { deny: true } },
    checks: [{ id: 'default.regexMatch', parameters: { rule: 'forbidden', not: true, failOnError: true } }],
  });
  const strict = { configurations: { output_guardrails: [needing.slug] } };
  await client.addAgent('strict', `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`, strict);
  const configurations = { input_guardrails: [made.slug, denying.slug], output_guardrails: [made.slug, denying.slug] };
  await client.addAgent('contents', `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`, { configurations });
});
afterAll(() => new Promise((resolve) => server?.close(resolve)));

const base64 = (text: string) => Buffer.from(text).toString('base64');
/** A text with a byte that is not UTF-8. */
const broken = (text: string) => Buffer.concat([Buffer.from(text), Buffer.from([0xff])]).toString('base64');
const escaped = (text: string) => text.replaceAll(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
const rpc = (method: string, params: JsonObject) => ({ jsonrpc: '2.0', id: 7, method, params });
const said = (part: unknown, more: JsonObject = {}) =>
  rpc('message/send', { message: { kind: 'message', messageId: 'm', role: 'user', parts: [part], ...more } });
const text = (value: string) => ({ kind: 'text', text: value });
const ofAgent = (more: JsonObject) => ({ kind: 'message', messageId: 'm', role: 'agent', parts: [text('hi')], ...more });
const replied = (result: unknown) => ({ jsonrpc: '2.0', id: 7, result });
const task = (more: JsonObject) => ({ kind: 'task', id: 't', contextId: 'c', status: { state: 'completed' }, ...more });

async function streamOf(agent: string): Promise<string> {
  const stream = await fetch(client.urlOf(agent), {
    ...{ method: 'POST', body: JSON.stringify({ ...said(text('x')), method: 'message/stream' }) },
    headers: { 'content-type': 'application/json', 'x-svc-api-key': gateway.workspaceKey },
  });
  return stream.text();
}

describe('guardrails of an agent read and redact', () => {
  it.each<[string, (word: string) => JsonObject]>([
    ['a file in text', (word) => said({ kind: 'file', file: { bytes: base64(word), mimeType: 'text/plain' } })],
    ['the name of a file', (word) => said({ kind: 'file', file: { bytes: '/w==', name: word } })],
    ['metadata of a part', (word) => said({ ...text('x'), metadata: { a: word } })],
    ['metadata of a message', (word) => said(text('x'), { metadata: { a: [word] } })],
    ['a part of an unknown kind', (word) => said({ kind: 'x', body: word })],
    ['a part that is a text', (word) => said(word)],
    ['a data URL in base64', (word) => said({ kind: 'file', file: { uri: `data:text/plain;base64,${base64(word)}` } })],
    ['a data URL of version 1.0', (word) => said({ url: `data:,${word}`, mediaType: 'text/plain' })],
  ])('%s of a request', async (_name, request) => {
    reply = JSON.stringify(replied(ofAgent({})));
    const before = received.length;
    expect((await client.send('contents', request('forbidden'))).status).toBe(446);
    expect(received.length).toBe(before);
    expect((await client.send('contents', request('secret'))).status).toBe(200);
    expect(JSON.parse(received.at(-1) as string)).toEqual(request('word'));
  });

  it.each<[string, (word: string) => JsonObject]>([
    ['a data URL with a byte that is not UTF-8', (word) => said({ url: `data:,${escaped(word)}%FF` })],
    ['a file of a type of text with such a byte', (word) => said({ raw: broken(word), mediaType: 'text/plain' })],
    [
      'a file with a name of text and such a byte',
      (word) => said({ kind: 'file', file: { bytes: broken(word), name: 'a.txt' } }),
    ],
    ['words in place of base64', (word) => said({ raw: `a ${word} word` })],
    ['an extension of several words', (word) => said(text('x'), { extensions: [`a ${word} word`] })],
    ['the id of a part with several words', (word) => said({ ...text('x'), id: `a ${word} word` })],
    [
      'a token of several words',
      (word) => {
        const pushNotificationConfig = { url: 'https://a.example', token: `a ${word} word` };
        return rpc('message/send', { message: ofAgent({ role: 'user' }), configuration: { pushNotificationConfig } });
      },
    ],
  ])('%s', async (_name, request) => {
    const before = received.length;
    expect((await client.send('contents', request('forbidden'))).status).toBe(446);
    expect(received.length).toBe(before);
  });

  it.each<[string, (word: string) => unknown]>([
    ['a file in text', (word) => ofAgent({ parts: [{ kind: 'file', file: { bytes: base64(word) } }] })],
    ['metadata', (word) => ofAgent({ metadata: { a: word } })],
    ['the name of an artifact', (word) => task({ artifacts: [{ artifactId: 'a', name: word, parts: [] }] })],
    ['the description of an artifact', (word) => task({ artifacts: [{ artifactId: 'a', description: word, parts: [] }] })],
    ['a result that is a text', (word) => word],
    ['a data URL', (word) => ofAgent({ parts: [{ url: `data:text/plain;base64,${base64(word)}` }] })],
    ['the name of a member of data', (word) => ofAgent({ parts: [{ kind: 'data', data: { [word]: 1 } }] })],
    [
      'data in the form of an image',
      (word) => ofAgent({ parts: [{ data: { type: 'image', mimeType: 'image/png', data: word } }] }),
    ],
  ])('%s of a reply', async (_name, result) => {
    reply = JSON.stringify(replied(result('forbidden')));
    expect((await client.send('contents', said(text('x')))).body.error.code).toBe(-32446);
    reply = JSON.stringify(replied(result('secret')));
    expect((await client.send('contents', said(text('x')))).body).toEqual(replied(result('word')));
  });

  it('a number in the data of a reply and of an event', async () => {
    reply = JSON.stringify(replied(ofAgent({ parts: [{ kind: 'data', data: { a: 47114711 } }] })));
    expect((await client.send('contents', said(text('x')))).body.error.code).toBe(-32446);
    reply = `data: ${reply}\n\n`;
    expect(await streamOf('contents')).not.toContain('47114711');
  });

  it('the value of a name that is sent', async () => {
    const json = JSON.stringify(replied(ofAgent({})));
    reply = json.replace('"text":"hi"', '"text":"forbidden","text":"hi"');
    expect((await client.send('contents', said(text('x')))).body).toEqual(JSON.parse(json));
    const streamed = reply;
    reply = `data: ${streamed}\n\n`;
    expect(await streamOf('contents')).not.toContain('forbidden');
  });

  it('a stream of data without texts, which passes a check that demands a text', async () => {
    const artifact = { artifactId: 'a', parts: [{ kind: 'data', data: { city: 'Bern' } }] };
    reply = `data: ${JSON.stringify(replied({ kind: 'artifact-update', taskId: 't', contextId: 'c', artifact }))}\n\n`;
    expect(await streamOf('strict')).toContain('Bern');
    reply = reply.replace('Bern', 'forbidden');
    expect(await streamOf('strict')).not.toContain('forbidden');
  });
});
