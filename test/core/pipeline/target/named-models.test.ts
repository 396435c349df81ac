import { describe, expect, it } from 'vitest';
import { allButBad, ask, json, restricted } from './restricted.ts';

const form = (...fields: [string, string][]) =>
  `${fields.map(([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--b--\r\n`;
const multipart = 'multipart/form-data; boundary=b';
const urlencoded = 'application/x-www-form-urlencoded';
const chat = (more: string) => `{"messages":[{"role":"user","content":"x"}]${more}}`;

describe('a model allow-list', () => {
  it.each([
    ['another spelling beside it', json, chat(',"model":"good","Model":"bad"')],
    ['another spelling in front of it', json, chat(',"MODEL":"bad","model":"good"')],
    ['another spelling alone', json, chat(',"Model":"good"')],
    ['an escaped spelling', json, chat(',"model":"good","\\u004dodel":"bad"')],
    ['a list', json, chat(',"model":["bad"]')],
    ['a list of an allowed one', json, chat(',"model":["good"]')],
    ['an object', json, chat(',"model":{"id":"good"}')],
    ['a number', json, chat(',"model":1')],
    ['null', json, chat(',"model":null')],
    ['the empty string', json, chat(',"model":""')],
    ['no model', json, chat('')],
    ['a second field for the model', json, chat(',"model":"good","modelID":"bad"')],
  ])('rejects %s on a unified and on a pass-through route', async (_what, type, body) => {
    const harness = restricted();
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions', '/v1/other/route']) {
      const reply = await ask(harness, path, type, body);
      expect([path, reply.status]).toEqual([path, 400]);
      expect(reply.json).toMatchObject({ error: { code: 'bad_request', param: 'model' } });
    }
    expect(harness.calls).toHaveLength(0);
  });

  it.each([
    ['bad', 'chat/completions', json, chat(',"model":"good"'), 412],
    ['good', 'chat/completions', json, chat(',"model":"bad"'), 200],
    ['good', 'chat/completions', json, chat(',"model":"bad","model":["bad"]'), 200],
    ['good', 'chat/completions', json, chat(',"Model":"bad"'), 400],
    ['bad', 'audio/transcriptions', multipart, form(['model', 'good']), 412],
    ['good', 'audio/transcriptions', multipart, form(['model', 'bad'], ['model', 'bad']), 200],
    ['good', 'audio/transcriptions', multipart, form(['Model', 'bad']), 400],
  ])('applies to the deployment %s of %s: %#', async (deployment, route, type, body, status) => {
    const harness = restricted();
    const reply = await ask(harness, `/openai/deployments/${deployment}/${route}`, type, body);
    expect(reply.status).toBe(status);
    expect(harness.calls.map((call) => Buffer.from(call.body as Uint8Array).includes('bad'))).toEqual(
      status === 200 ? [false] : [],
    );
  });

  it.each([
    ['a body that is no object', json, '["good"]'],
    ['a body that is no JSON', 'application/octet-stream', 'model=good'],
    ['a form with another spelling', multipart, form(['model', 'good'], ['Model', 'bad'])],
    ['a form with two models', multipart, form(['model', 'good'], ['model', 'bad'])],
    ['a form with a list', multipart, form(['model[]', 'good'])],
    ['a form with alternatives', multipart, form(['model', 'good'], ['models[]', 'bad'])],
    ['a form with alternatives in its address format', urlencoded, 'model=good&models[]=bad&models[1]=bad'],
    ['a form with a model of another field', urlencoded, 'model=good&session[model]=bad'],
    ['a form without a model', multipart, form(['file', 'x'])],
    ['a form without its boundary', multipart, 'model=good'],
    ['an URL-encoded form with another spelling', urlencoded, 'model=good&MODEL=bad'],
    ['an URL-encoded form with two models', urlencoded, 'model=good&model=bad'],
    ['an URL-encoded form without a model', urlencoded, 'a=b'],
    ['requests of a batch with another spelling', json, '{"requests":[{"params":{"model":"good","Model":"bad"}}]}'],
    ['requests of a batch without a model', json, '{"requests":[{"params":{"model":"good"}},{"params":{}}]}'],
  ])('rejects %s on a pass-through route', async (_what, type, body) => {
    const harness = restricted();
    const reply = await ask(harness, '/v1/proxy/other/route', type, body);
    expect(reply.status).toBe(400);
    expect(harness.calls).toHaveLength(0);
  });

  it.each([
    ['/v1/audio/transcriptions', form(['file', 'x'], ['model', 'good'], ['MODEL', 'bad'])],
    ['/v1/audio/transcriptions', form(['file', 'x'])],
    ['/v1/images/edits', form(['prompt', 'x'], ['model[]', 'good'])],
  ])('rejects a form of the unified route %s (%#)', async (path, body) => {
    const harness = restricted();
    expect((await ask(harness, path, multipart, body)).status).toBe(400);
    expect(harness.calls).toHaveLength(0);
  });

  it.each([
    [json, '{"model":"good","prompt":"x","image":"i","svg":{"model":"bad"}}'],
    [multipart, form(['prompt', 'x'], ['model', 'good'], ['svg[model]', 'bad'])],
  ])('rejects another model for the text of an SVG in %s', async (type, body) => {
    const harness = restricted();
    expect((await ask(harness, '/v1/images/edits', type, body)).json).toMatchObject({ error: { code: 'model_not_allowed' } });
    expect(harness.calls).toHaveLength(0);
  });

  it.each([
    ['/v1/chat/completions', json, chat(',"model":"good"')],
    ['/v1/proxy/chat/completions', json, chat(',"model":"good"')],
    ['/v1/proxy/other/route', multipart, form(['model', 'good'], ['file', 'x'])],
    ['/v1/proxy/other/route', urlencoded, 'model=good&a=b'],
    ['/v1/proxy/models/good:generateContent', json, '{"contents":[]}'],
    ['/v1/model/good/invoke', json, '{"input":"x"}'],
    ['/v1/proxy/other/route?model=good', json, '{"input":"x"}'],
    ['/v1/proxy/messages/batches', json, '{"requests":[{"params":{"model":"good"}},{"params":{"model":"good"}}]}'],
    ['/v1/vector_stores', json, '{"name":"x"}'],
    ['/v1/threads', json, '{"messages":[]}'],
    ['/v1/threads/t1/messages', json, '{"role":"user","content":"x"}'],
  ])('allows %s %s %s', async (path, type, body) => {
    const harness = restricted();
    expect((await ask(harness, path, type, body)).status).toBe(200);
  });

  it.each([
    ['models/bad%3AgenerateContent', 412],
    ['models//bad:generateContent', 412],
    ['tunedModels/bad:generateContent', 412],
    ['endpoints/bad:predict', 412],
    ['run/@cf/bad', 412],
    ['models/good:generateContent', 200],
    ['models/good/unknown', 400],
  ])('applies to the model of the path %s, whatever the body names', async (path, status) => {
    expect((await ask(restricted(), `/v1/proxy/${path}`, json, '{"model":"good","contents":[]}')).status).toBe(status);
  });

  it.each([
    ['/v1/conversations', '{"agent_id":"ag","inputs":"x"}'],
    ['/v1/proxy/chat/completions', chat(',"model":"good","agent_id":"ag"')],
    ['/v1/threads/t1/runs', '{"assistant_id":"a"}'],
    ['/v1/threads/runs', '{"assistant_id":"a"}'],
  ])('rejects %s, whose model is the assistant’s', async (path, body) => {
    expect((await ask(restricted(), path, json, body)).status).toBe(400);
  });

  const call = (session: string) => form(['sdp', 'v=0'], ['session', session]);
  it.each([
    ['/v1/proxy/realtime/client_secrets?model=good', json, '{"session":{"type":"realtime","model":"bad"}}', 412],
    ['/v1/proxy/realtime/client_secrets?model=good', json, '{"session":{"type":"realtime","Model":"bad"}}', 400],
    ['/v1/proxy/realtime/client_secrets?model=good', json, '{"session":{"type":"transcription"}}', 400],
    ['/v1/proxy/realtime/client_secrets?model=good', json, '', 400],
    ['/v1/proxy/realtime/sessions', json, '{"model":"good","session":{"model":"bad"}}', 412],
    ['/v1/proxy/realtime/client_secrets', json, '{"session":{"type":"realtime","model":"good"}}', 200],
    ['/v1/realtime/calls?model=good', multipart, call('{"type":"realtime","model":"bad"}'), 412],
    [
      '/v1/realtime/calls?model=good',
      multipart,
      call('{"model":"good","audio":{"input":{"transcription":{"model":"bad"}}}}'),
      412,
    ],
    ['/v1/realtime/calls?model=good', multipart, call('no JSON'), 400],
    ['/v1/realtime/calls', multipart, call('{"type":"realtime","model":"good"}'), 200],
    ['/v1/realtime/calls?model=good', 'application/sdp', 'v=0', 200],
    ['/v1/proxy/v1beta/auth_tokens?model=good', json, '{"bidiGenerateContentSetup":{"model":"bad"}}', 400],
  ])('is applied to the session that %s %s starts (%#)', async (path, type, body, status) => {
    expect((await ask(restricted(), path, type, body)).status).toBe(status);
  });

  it('rejects disallowed models in every place that names one', async () => {
    const harness = restricted();
    const { status } = await ask(harness, '/v1/chat/completions', json, chat(',"model":"bad"'));
    expect(status).toBe(412);
    expect((await ask(harness, '/v1/proxy/models/bad:generateContent', json, '{}')).status).toBe(412);
    expect((await ask(harness, '/v1/proxy/x', urlencoded, 'model=bad')).status).toBe(412);
    expect((await ask(harness, '/v1/proxy/x', multipart, form(['model', 'bad']))).status).toBe(412);
    expect(harness.calls).toHaveLength(0);
  });

  it.each([
    ['models', '["good","bad"]', 412],
    ['models', '[{"model":"bad"}]', 412],
    ['models', '"bad"', 400],
    ['models', '[["bad"]]', 400],
    ['Models', '["good"]', 400],
    ['fallbacks', '[{"model":"bad"}]', 412],
    ['fallbacks', '[{"Model":"bad","model":"good"}]', 400],
    ['fallbacks', '[{}]', 400],
    ['models', '["good"]', 200],
    ['fallbacks', '[{"model":"good"}]', 200],
    ['models', 'null', 200],
  ])('applies to models that a provider may call instead: %s %s', async (field, value, status) => {
    const body = chat(`,"model":"good","${field}":${value}`);
    const batch = `{"requests":[{"params":${body}}]}`;
    for (const [path, sent] of [
      ['/v1/chat/completions', body],
      ['/v1/responses', `{"input":"x","model":"good","${field}":${value}}`],
      ['/v1/proxy/chat/completions', body],
      ['/v1/proxy/messages/batches', batch],
    ] as const) {
      const harness = restricted();
      const reply = await ask(harness, path, json, sent);
      expect([path, reply.status]).toEqual([path, status]);
      expect(harness.calls).toHaveLength(status === 200 ? 1 : 0);
    }
  });

  const tool = (model: string) => `{"type":"image_generation","model":"${model}"}`;
  it.each([
    ['tools', `[${tool('bad')}]`, 412],
    ['tools', `[${tool('good')}]`, 200],
    ['tools', '[{"type":"advisor_20260301","name":"advisor","model":"bad"}]', 412],
    ['tools', '[{"type":"openrouter:fusion","parameters":{"analysis_models":["good","bad"]}}]', 412],
    ['plugins', '[{"id":"fusion","model":"bad"}]', 412],
    ['compound_custom', '{"models":{"reasoning_model":"good","answering_model":"bad"}}', 412],
    ['providerOptions', '{"gateway":{"models":["bad"]}}', 412],
    ['moderation', '{"model":"bad"}', 412],
    ['search_model', '"bad"', 412],
    ['data_sources', '[{"parameters":{"embedding_dependency":{"deployment_name":"bad"}}}]', 412],
    [
      'tools',
      '[{"type":"function","function":{"name":"f","parameters":{"properties":{"model":{"type":"string","default":"bad"}}}}}]',
      200,
    ],
    ['metadata', '{"model":"bad"}', 200],
  ])('applies to models that other fields name: %s %s', async (field, value, status) => {
    for (const [path, sent] of [
      ['/v1/chat/completions', chat(`,"model":"good","${field}":${value}`)],
      ['/v1/responses', `{"input":"x","model":"good","${field}":${value}}`],
      ['/v1/messages', chat(`,"max_tokens":9,"model":"good","${field}":${value}`)],
      ['/v1/proxy/responses', `{"input":"x","model":"good","${field}":${value}}`],
      ['/v1/proxy/messages/batches', `{"requests":[{"params":${chat(`,"model":"good","${field}":${value}`)}}]}`],
    ] as const) {
      const harness = restricted();
      const reply = await ask(harness, path, json, sent);
      expect([path, reply.status]).toEqual([path, status]);
      expect(harness.calls).toHaveLength(status === 200 ? 1 : 0);
    }
  });

  it.each([
    [`[{"type":"additional_tools","role":"developer","tools":[${tool('bad')}]}]`, 412],
    [`[{"role":"user","content":[{"type":"tool_addition","tool":{"type":"tool_definition","definition":${tool('bad')}}}]}]`, 412],
    ['[{"type":"function_call","call_id":"c","name":"f","arguments":{"model":"bad"}},{"role":"user","content":"x"}]', 200],
    ['[{"role":"user","content":[{"type":"tool_use","id":"i","name":"f","input":{"model":"bad"}}]}]', 200],
  ])('applies to tools that the conversation defines, and not to its data: %s', async (input, status) => {
    const reply = await ask(restricted(), '/v1/proxy/responses', json, `{"model":"good","input":${input}}`);
    expect(reply.status).toBe(status);
  });

  it.each([
    ['a byte order mark', json, '\u{feff}{"model":"bad"}', 400],
    ['UTF-16', json, Buffer.from('{"model":"bad"}', 'utf16le'), 400],
    ['a number that JSON lacks', json, '{"model":"bad","temperature":NaN}', 400],
    ['a list', json, '[{"model":"bad"}]', 400],
    ['plain text', 'text/plain', 'model=bad', 400],
    ['a form that is JSON as well', urlencoded, '{"model":"good","x":"&model=bad&"}', 412],
    ['a form that is a JSON text as well', urlencoded, '"&model=bad&"', 412],
    ['sound', 'audio/wav', 'RIFF', 200],
  ])('reads no other model than the provider in %s beside a model in the query', async (_what, type, body, status) => {
    const harness = restricted();
    const headers = { authorization: `Bearer ${harness.key}`, 'x-svc-provider': '@one', 'content-type': type };
    const reply = await harness.send({ method: 'POST', path: '/v1/proxy/other/route?model=good', headers, body });
    expect(reply.status).toBe(status);
  });

  it('applies to a grader, whatever its name', async () => {
    const grader = { type: 'multi', graders: { input: { type: 'score_model', model: 'bad' } } };
    const body = JSON.stringify({ model: 'good', training_file: 'f', method: { reinforcement: { grader } } });
    for (const path of ['/v1/fine_tuning/jobs', '/v1/proxy/fine_tuning/jobs'])
      expect((await ask(restricted(), path, json, body)).status).toBe(412);
  });

  it('rejects a body whose tools name a model and that names none itself', async () => {
    const body = `{"input":"x","tools":[${tool('good')}]}`;
    expect((await ask(restricted(), '/v1/proxy/responses', json, body)).status).toBe(400);
    expect((await ask(restricted(), '/v1/proxy/responses', json, '{"input":"x","models":["good"]}')).status).toBe(200);
  });

  it('is also a list of rejected models', async () => {
    const harness = restricted(allButBad);
    expect((await ask(harness, '/v1/chat/completions', json, chat(',"model":"any","Model":"bad"'))).status).toBe(400);
    expect((await ask(harness, '/v1/chat/completions', json, chat(',"model":"any"'))).status).toBe(200);
  });

  it.each([
    ['BAD', 412],
    [' bad ', 412],
    ['models/bad', 412],
    ['us.bad', 412],
    ['bad-2024-11-20', 412],
    ['bad-20250929', 412],
    ['us.Bad@20250929', 412],
    ['bad-08-2024', 412],
    ['bad-0613', 412],
    ['bad-latest', 412],
    ['x/bad:nitro', 412],
    ['x/bad-2024-11-20:nitro', 412],
    ['x/bad:online:nitro', 412],
    ['x/bad:fireworks-ai', 412],
    ['x/bad@preset/of_mine-2', 412],
    [`bad${':nitro'.repeat(50)}`, 412],
    ['notbad', 200],
    ['bad-mini', 200],
    ['bad-mini-2024-11-20', 200],
    ['bad-1', 200],
    ['bad-70b', 200],
    ['ft:bad-2024-11-20:acme::x', 200],
    ['of/bad', 200],
    ['bad-2026-01-01', 200],
  ])('also rejects other names of a rejected model: %j', async (model, status) => {
    const list = [
      { slug: 'bad', enabled: false, customHost: null },
      { slug: 'of/bad', enabled: true, customHost: null },
      { slug: 'bad-2026-01-01', enabled: true, customHost: null },
    ];
    const harness = restricted({ allowAll: true, list, headers: null });
    expect((await ask(harness, '/v1/chat/completions', json, chat(`,"model":"${model}"`))).status).toBe(status);
  });

  it('is not checked if models only have their own hosts', async () => {
    const list = [{ slug: 'a', enabled: true, customHost: 'https://a.example/v1' }];
    const harness = restricted({ allowAll: true, list, headers: null });
    expect((await ask(harness, '/v1/other/route', json, '{"Model":"x"}')).status).toBe(200);
  });
});
