import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatStream, organisationId, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { idOf, samplePartial, samplePrompt } from '../../support/samples/sample-prompts.ts';

import { bodyOf, dataOf, errorOf, harness, messageOf, otherWorkspace } from './prompt-harness.ts';

describe('render: recorded exchanges', () => {
  const saved = { model: 'm-saved', temperature: 0.2, max_tokens: 100 };
  const chat = [
    { role: 'system', content: 'You help Ann.' },
    { role: 'user', content: 'Hello, Ann!' },
  ];
  const user = (content: string) => [{ role: 'user', content }];

  test.each<[name: string, reference: string, body: JsonObject, data: object]>([
    ['chat', 'pp-chat', { variables: { name: 'Ann', items: 'x' } }, { ...saved, messages: chat }],
    [
      'parameters of the body win over saved ones',
      'pp-chat',
      { variables: { name: 'Ann' }, temperature: 0.9, max_tokens: 5, model: 'other' },
      { model: 'other', temperature: 0.9, max_tokens: 5, messages: chat },
    ],
    [
      'messages of the body do not win',
      'pp-chat',
      { variables: { name: 'Ann' }, messages: [], stream: true },
      { ...saved, stream: true, messages: chat },
    ],
    ['a missing variable is empty', 'pp-types', {}, { ...saved, messages: user('n= b= o= k= l=') }],
    ['a body that repeats the reference', 'pp-stream', { prompt_id: 'pp-stream' }, { model: 'm-saved', messages: user('') }],
    ['variables null', 'pp-types', { variables: null }, { ...saved, messages: user('n= b= o= k= l=') }],
    ['a number', 'pp-types', { variables: { n: 1234 } }, { ...saved, messages: user('n=1234 b= o= k= l=') }],
    ['a boolean', 'pp-types', { variables: { b: true } }, { ...saved, messages: user('n= b=true o= k= l=') }],
    ['an object', 'pp-types', { variables: { o: { k: 'v' } } }, { ...saved, messages: user('n= b= o={"k":"v"} k=v l=') }],
    [
      'sections',
      'pp-section',
      { variables: { show: true, list: [{ t: 'one' }, { t: 'two' }] } },
      { ...saved, messages: user('shown [one][two]') },
    ],
    ['a saved stream is dropped', 'pp-stream', { variables: { name: 'A' } }, { model: 'm-saved', messages: user('A') }],
    ['a text prompt', 'pp-text', { variables: { name: 'Ann' } }, { ...saved, prompt: 'Say Ann "now"' }],
    ['a partial', 'pp-partial', { variables: { name: 'Ann' } }, { ...saved, messages: user('Dear Ann, "hi" bye Ann') }],
    [
      'a variable partial',
      'pp-varpartial',
      { variables: { name: 'Ann', which: 'pl-greet@2' } },
      { ...saved, messages: user('second Ann') },
    ],
    ['a version', 'pp-chat@2', { variables: { name: 'Ann' } }, { ...saved, messages: user('v2 Ann') }],
    ['the newest version', 'pp-chat@latest', { variables: { name: 'Ann' } }, { ...saved, messages: user('staging Ann') }],
    ['a label', 'pp-chat@staging', { variables: { name: 'Ann' } }, { ...saved, messages: user('staging Ann') }],
    ['an id, and an encoded @', `${idOf('pp-chat')}%402`, { variables: { name: 'Ann' } }, { ...saved, messages: user('v2 Ann') }],
    [
      'a raw template',
      'pp-raw',
      { variables: { few: ['a"', 'b'] } },
      { ...saved, messages: [...user('a"'), ...user('b'), ...user('')] },
    ],
    ['tools', 'pp-tools', {}, { model: 'm-saved', tools: [{ type: 'function' }], tool_choice: 'auto', prompt: 'x' }],
  ])('%s', async (_name, reference, body, data) => {
    const reply = await harness().send({ path: `/v1/prompts/${reference}/render`, body });
    expect(reply.json).toEqual({ success: true, data });
    expect(reply.status).toBe(200);
  });
});

const unknownPrompt = 'Invalid prompt id: the workspace has no such prompt, version or label. GET /v1/prompts lists its prompts';

describe('render: errors', () => {
  test.each<[name: string, reference: string, body: JsonObject, status: number, message: string]>([
    ['unknown prompt', 'pp-none', {}, 404, unknownPrompt],
    ['unknown version', 'pp-chat@9', {}, 404, unknownPrompt],
    ['unknown label', 'pp-chat@none', {}, 404, unknownPrompt],
    ['a label of the prototype', 'pp-chat@constructor', {}, 404, unknownPrompt],
    ['no reference', 'pp-chat@', {}, 404, unknownPrompt],
    ['missing partials', 'pp-partial-missing', {}, 400, 'Missing prompt partials: pl-none, pl-none2'],
    ['missing variable partial', 'pp-varpartial', { variables: { name: 'Ann' } }, 400, 'Missing variable partials: which'],
    ['inherited variable partial', 'pp-varpartial', { variables: {} }, 400, 'Missing variable partials: which'],
    ['a cycle of partials', 'pp-cycle', {}, 400, 'Prompt partials include each other: pl-a → pl-b@1 → pl-a'],
    ['variables that are no object', 'pp-chat', { variables: ['a'] }, 400, 'variables: expected an object'],
    [
      'raw template that is no JSON',
      'pp-raw',
      { variables: { few: 'a', tail: 1 } },
      400,
      'The rendered prompt is not valid JSON',
    ],
    ['raw template that is no list', 'pp-object', {}, 400, 'The rendered prompt is not a list of messages'],
    ['template with a syntax error', 'pp-broken', {}, 400, 'pp-broken: line 1, column 23: Unclosed section "open"'],
  ])('%s', async (_name, reference, body, status, message) => {
    const reply = await harness().send({ path: `/v1/prompts/${reference}/render`, body });
    expect([reply.status, messageOf(reply)]).toEqual([status, expect.stringContaining(message)]);
  });

  test('a result beyond the limit of bodies is 413', async () => {
    const body = { variables: { list: Array(1000).fill({ t: 'x'.repeat(1000) }), show: 'y'.repeat(10_000) } };
    const reply = await harness().send({ path: '/v1/prompts/pp-long/render', body });
    expect([reply.status, errorOf(reply).code]).toEqual([413, 'body_too_large']);
  });

  test('strict mode rejects missing variables by name', async () => {
    const headers = { 'x-svc-strict-variables': 'true' };
    const reply = await harness().send({ path: '/v1/prompts/pp-types/render', headers, body: { variables: { n: 1, l: null } } });
    expect([reply.status, messageOf(reply)]).toEqual([400, 'variables: missing b, o, o.k']);
    const wrong = await harness().send({
      path: '/v1/prompts/pp-types/render',
      headers: { 'x-svc-strict-variables': 'yes' },
      body: {},
    });
    expect([wrong.status, errorOf(wrong).param]).toEqual([400, 'x-svc-strict-variables']);
  });

  test('scopes: render needs prompts.render or completions.write', async () => {
    const statusFor = async (scopes: string[], path: string) =>
      (await harness({ key: { scopes } }).send({ path, body: {} })).status;
    expect(await statusFor(['prompts.render'], '/v1/prompts/pp-chat/render')).toBe(200);
    expect(await statusFor(['prompts.read'], '/v1/prompts/pp-chat/render')).toBe(403);
    expect(await statusFor(['prompts.render'], '/v1/prompts/pp-chat/completions')).toBe(403);
  });
});

test('partials: each request has those that its variables name now, in their current text', async () => {
  const gateway = harness();
  const render = async (id: string, variables: object) =>
    dataOf(await gateway.send({ path: `/v1/prompts/${id}/render`, body: { variables: { name: 'Ann', ...variables } } })).messages;
  const save = (slug: string, text: string) =>
    gateway.documents.set(`prompt-partial ${workspaceId}/${slug}`, samplePartial(slug, [text]));
  save('pl-one', 'one');
  save('pl-two', 'two');
  for (const which of ['one', 'two', 'one'])
    expect(await render('pp-varpartial', { which: `pl-${which}` })).toMatchObject([{ content: `${which} Ann` }]);
  for (const text of ['before', 'after']) {
    save('pl-greet', text);
    expect(await render('pp-partial', {})).toMatchObject([{ content: `${text} bye Ann` }]);
  }
});

describe('sharing', () => {
  const foreign = { workspaceId: otherWorkspace };

  test.each<[string, object, number]>([
    ['with the organisation', { sharedWith: 'organisation' }, 200],
    ['with this workspace', { sharedWith: [idOf('x'), workspaceId] }, 200],
    ['with other workspaces', { sharedWith: [idOf('x')] }, 404],
    ['with none', { sharedWith: null }, 404],
    ['of another organisation', { sharedWith: 'organisation', organisationId: idOf('o') }, 404],
  ])('a prompt that is shared %s', async (_name, changes, status) => {
    const gateway = harness();
    const text = [{ template: '{{>pl-theirs}}' }];
    gateway.documents.set(`prompt ${organisationId}/pp-theirs`, samplePrompt('pp-theirs', text, { ...foreign, ...changes }));
    gateway.documents.set(`prompt-partial ${otherWorkspace}/pl-theirs`, samplePartial('pl-theirs', ['theirs'], foreign));
    const reply = await gateway.send({ path: '/v1/prompts/pp-theirs/render', body: {} });
    expect(reply.status).toBe(status);
    if (status === 200) expect(dataOf(reply).prompt).toBe('theirs');
  });

  test('a shared partial includes a partial that its workspace does not share', async () => {
    const gateway = harness();
    const outer = samplePartial('pl-outer', ['{{>pl-inner}}'], { ...foreign, sharedWith: 'organisation' });
    gateway.documents.set(`prompt ${workspaceId}/pp-own`, samplePrompt('pp-own', [{ template: '{{>pl-outer}}' }]));
    gateway.documents.set(`prompt-partial ${organisationId}/pl-outer`, outer);
    gateway.documents.set(`prompt-partial ${otherWorkspace}/pl-inner`, samplePartial('pl-inner', ['theirs'], foreign));
    const reply = await gateway.send({ path: '/v1/prompts/pp-own/render', body: {} });
    expect(dataOf(reply).prompt).toBe('theirs');
  });

  test('a variable cannot name a partial of the workspace that shares the prompt', async () => {
    const gateway = harness();
    const prompt = samplePrompt('pp-theirs', [{ template: '{{>>which}}' }], { ...foreign, sharedWith: 'organisation' });
    gateway.documents.set(`prompt ${organisationId}/pp-theirs`, prompt);
    gateway.documents.set(`prompt-partial ${otherWorkspace}/pl-theirs`, samplePartial('pl-theirs', ['theirs'], foreign));
    const body = { variables: { which: 'pl-theirs' } };
    const reply = await gateway.send({ path: '/v1/prompts/pp-theirs/render', body });
    expect([reply.status, messageOf(reply)]).toEqual([400, 'Missing prompt partials: pl-theirs']);
  });

  test('a pinned version that the document does not hold is read from its own', async () => {
    const gateway = harness();
    const { versions, ...prompt } = samplePrompt('pp-old', [{ template: 'one' }, { template: 'two' }], { default: 2 });
    gateway.documents.set(`prompt ${workspaceId}/pp-old`, { ...prompt, versions: { 2: versions[2] } });
    gateway.documents.set(`prompt ${workspaceId}/${prompt.id}/1`, { ...prompt, versions: { 1: versions[1] } });
    const render = async (reference: string) =>
      (await gateway.send({ path: `/v1/prompts/${reference}/render`, body: {} })).json.data;
    expect(await render('pp-old')).toMatchObject({ prompt: 'two' });
    expect(await render('pp-old@1')).toMatchObject({ prompt: 'one' });
  });
});

test('a label splits requests between versions by weight', async () => {
  const picked: unknown[] = [];
  for (const random of [0, 0.24, 0.26, 0.99]) {
    const gateway = harness({ random: () => random });
    const labels = {
      canary: [
        { version: 1, weight: 1 },
        { version: 2, weight: 3 },
      ],
    };
    const prompt = samplePrompt('pp-split', [{ template: 'one' }, { template: 'two' }], { labels });
    gateway.documents.set(`prompt ${workspaceId}/pp-split`, prompt);
    picked.push(dataOf(await gateway.send({ path: '/v1/prompts/pp-split@canary/render', body: {} })).prompt);
  }
  expect(picked).toEqual(['one', 'one', 'two', 'two']);
});

test('variables: those of a version and of its partials', async () => {
  const reply = await harness().send({ method: 'GET', path: '/v1/prompts/pp-partial/variables' });
  expect(reply.json).toMatchObject({
    object: 'list',
    total: 1,
    prompt_id: idOf('pp-partial'),
    prompt_version: 1,
    data: [{ name: 'name', use: 'value', sections: [] }],
  });
});

describe('completions', () => {
  test('sends the rendered prompt to the provider of the prompt, and records its version', async () => {
    const gateway = harness();
    const reply = await gateway.send({
      path: '/v1/prompts/pp-chat@staging/completions',
      body: { variables: { name: 'Ann' }, top_p: 1 },
    });
    expect([reply.status, reply.header('x-svc-provider')]).toEqual([200, 'openai']);
    expect(gateway.calls[0]?.path).toBe('/v1/chat/completions');
    expect(bodyOf(gateway)).toEqual({
      ...{ model: 'm-saved', temperature: 0.2, max_tokens: 100, top_p: 1 },
      messages: [{ role: 'user', content: 'staging Ann' }],
    });
    expect(gateway.records[0]).toMatchObject({
      endpoint: 'chatComplete',
      path: '/v1/prompts/pp-chat@staging/completions',
      providerSlug: 'one',
      ...{ promptId: idOf('pp-chat'), promptSlug: 'pp-chat', promptVersionId: idOf('pp-chat 3'), promptVersion: 3 },
      promptLabel: 'staging',
    });
  });

  test('streams', async () => {
    const gateway = harness();
    gateway.script(chatStream(['Hello']));
    const reply = await gateway.send({ path: '/v1/prompts/pp-chat/completions', body: { variables: {}, stream: true } });
    expect(reply.header('content-type')).toContain('text/event-stream');
    expect(reply.text).toContain('data: [DONE]');
    expect(bodyOf(gateway).stream).toBe(true);
    expect(gateway.records[0]).toMatchObject({ stream: true, promptVersion: 1 });
  });

  test('a text prompt goes to /completions', async () => {
    const gateway = harness();
    await gateway.send({ path: '/v1/prompts/pp-text/completions', body: { variables: { name: 'Ann' } } });
    expect(gateway.calls[0]?.path).toBe('/v1/completions');
    expect(bodyOf(gateway).prompt).toBe('Say Ann "now"');
  });

  test('a text prompt of a chat model becomes one user message', async () => {
    const gateway = harness();
    const body = { variables: { name: 'Ann' }, model: 'gpt-5' };
    const reply = await gateway.send({ path: '/v1/prompts/pp-text/completions', body });
    expect(gateway.calls[0]?.path).toBe('/v1/chat/completions');
    expect(bodyOf(gateway)).toMatchObject({ model: 'gpt-5', messages: [{ role: 'user', content: 'Say Ann "now"' }] });
    expect(reply.json.object).toBe('text_completion');
  });

  test.each<[string, JsonObject, Record<string, string>, string]>([
    ['a header', {}, { 'x-svc-provider': '@two' }, 'two'],
    ['the model', { model: '@two/gpt-5' }, {}, 'two'],
    ['a config', {}, { 'x-svc-config': '{"provider":"@two"}' }, 'two'],
    ['the prompt, if a config names none', {}, { 'x-svc-config': '{"retry":{"attempts":1}}' }, 'one'],
  ])('the provider is that of %s', async (_name, body, headers, slug) => {
    const gateway = harness();
    await gateway.send({ path: '/v1/prompts/pp-chat/completions', headers, body });
    expect(gateway.records[0]).toMatchObject({ status: 200, providerSlug: slug });
    expect(bodyOf(gateway).model).toBe('model' in body ? 'gpt-5' : 'm-saved');
  });

  test('guardrails check the rendered text', async () => {
    const rule = { id: 'g', 'default.contains': { operator: 'none', words: ['forbidden'] }, deny: true };
    const headers = { 'x-svc-config': JSON.stringify({ input_guardrails: [rule] }) };
    const gateway = harness();
    const ask = (name: string) =>
      gateway.send({ path: '/v1/prompts/pp-chat/completions', headers, body: { variables: { name } } });
    expect((await ask('Ann')).status).toBe(200);
    expect((await ask('forbidden')).status).toBe(446);
    expect(gateway.calls).toHaveLength(1);
  });

  test('the cache belongs to the rendered prompt', async () => {
    const gateway = harness();
    const headers = { 'x-svc-cache': 'simple' };
    const ask = async (reference: string, name: string) =>
      (await gateway.send({ path: `/v1/prompts/${reference}/completions`, headers, body: { variables: { name } } })).header(
        'x-svc-cache-status',
      );
    expect(await ask('pp-chat', 'Ann')).toBe('MISS');
    expect(await ask('pp-chat', 'Ann')).toBe('HIT');
    expect(await ask('pp-chat', 'Bob')).toBe('MISS');
    expect(await ask('pp-chat@2', 'Ann')).toBe('MISS');
  });

  test('an unknown prompt is 404 and calls no provider', async () => {
    const gateway = harness();
    const reply = await gateway.send({ path: '/v1/prompts/pp-none/completions', body: { variables: {} } });
    expect([reply.status, gateway.calls.length, gateway.records[0]?.status]).toEqual([404, 0, 404]);
  });
});
