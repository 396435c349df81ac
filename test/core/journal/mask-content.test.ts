import { describe, expect, it } from 'vitest';
import { createMasks } from '../../../core/journal/mask-content.ts';
import { everySecretName } from '../../../core/providers/declarations.ts';
import { credentials, secretOf } from '../../support/samples/credentials.ts';
import { randomFrom } from '../../support/samples/random-from.ts';

const { headers, body, text } = createMasks(['x-user-email', 'patient_name'], everySecretName);

describe('masks of logged headers and bodies', () => {
  it.each(Object.entries(credentials))('remove %s from every place of a body and from every header', (_, make) => {
    const random = randomFrom(7);
    const places: ((secret: string) => unknown)[] = [
      (secret) => secret,
      (secret) => ({ messages: [{ role: 'user', content: `my key is ${secret}, keep it` }] }),
      (secret) => ({ tools: [{ arguments: JSON.stringify({ key: secret }) }] }),
      (secret) => [[{ deep: { deeper: [secret] } }]],
      (secret) => ({ [secret]: 1 }),
    ];
    for (let round = 0; round < 40; round++) {
      const secret = make();
      const place = places[Math.floor(random() * places.length)] as (secret: string) => unknown;
      expect(JSON.stringify(body(place(secret)))).not.toContain(secretOf(secret));
      const shown = headers(['authorization', secret, 'x-anything', `a ${secret}`, 'x-svc-api-key', secret]);
      expect(JSON.stringify(shown)).not.toContain(secretOf(secret));
    }
  });

  it('remove the value of headers and fields whose name is that of a credential, whatever its form', () => {
    const list = [
      'Authorization',
      'abc',
      'x-api-key',
      'abc',
      'cookie',
      'a=abc',
      'x-svc-aws-secret-access-key',
      'abc',
      'api-key',
      'abc',
      'ocp-apim-subscription-key',
      'abc',
      'x-auth-code',
      'abc',
      'mcp-session-id',
      'abc',
    ];
    expect(new Set(Object.values(headers(list)))).toEqual(new Set(['***']));
    expect(body({ api_key: 'abc', password: 'abc', nested: [{ clientSecret: 'abc', 'access-token': 'abc' }] })).toEqual({
      ...{ api_key: '***', password: '***' },
      nested: [{ clientSecret: '***', 'access-token': '***' }],
    });
  });

  it('remove credentials of MCP servers, repositories and vaults of agents, and keep tokens of logprobs', () => {
    const sent = {
      mcp_servers: [{ url: 'https://mcp.example', authorization_token: 'abc' }],
      resources: [{ type: 'github_repository', authorization_token: 'abc' }],
      auth: { type: 'static_bearer', token: 'abc' },
      credential: { type: 'bearer_token', token: 'abc' },
      environment: { secret_name: 'GITHUB', secret_value: 'abc' },
      variable: { type: 'environment_variable', value: 'abc' },
      webhook: { signing_secret: 'abc' },
      tunnel: { tunnel_token: 'abc' },
      logprobs: { content: [{ token: 'hello', logprob: -1 }] },
      logprobsResult: { chosenCandidates: [{ token: 'hello', tokenId: 5, logProbability: -1 }] },
    };
    expect(body(sent)).toEqual({
      mcp_servers: [{ url: 'https://mcp.example', authorization_token: '***' }],
      resources: [{ type: 'github_repository', authorization_token: '***' }],
      auth: { type: 'static_bearer', token: '***' },
      credential: { type: 'bearer_token', token: '***' },
      environment: { secret_name: 'GITHUB', secret_value: '***' },
      variable: { type: 'environment_variable', value: '***' },
      webhook: { signing_secret: '***' },
      tunnel: { tunnel_token: '***' },
      logprobs: sent.logprobs,
      logprobsResult: sent.logprobsResult,
    });
    expect(text('{"authorization_token":"abc","secret_value":"abc')).toBe('{"authorization_token":"***","secret_value":"***"');
    expect(text('{"auth":{"type":"static_bearer","token":"abc"},"messages":[')).toBe(
      '{"auth":{"type":"static_bearer","token":"***"},"messages":[',
    );
    expect(text('[{"value":"abc","type":"environment_variable"},{')).toBe('[{"value":"***","type":"environment_variable"},{');
    for (const harmless of ['{"content":[{"token":"hello","logprob":-1},{', '{"logprobs":true,"metadata":{"value":"abc"},'])
      expect(text(harmless)).toBe(harmless);
  });

  it('search the members of an object once for all spellings of token', () => {
    let searches = 0;
    const names = ['token', 'Token', 'TOKEN', 'tOken'];
    const given = new Proxy(Object.fromEntries(names.map((name) => [name, 'abc'])), {
      ownKeys(target) {
        searches++;
        return Reflect.ownKeys(target);
      },
    });
    expect(body(given)).toEqual(Object.fromEntries(names.map((name) => [name, '***'])));
    // The first one is that of the members themselves.
    expect(searches).toBe(2);
  });

  it('remove credentials of an inline config in a header, of every provider, in snake and camel case', () => {
    const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const names = ['api_key', ...everySecretName].flatMap((name) => [name, camel(name)]);
    const settings = Object.fromEntries(names.map((name) => [name, 'abc']));
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: 'bedrock', ...settings, vertex_service_account_json: { private_key: 'abc', project_id: 'abc' } }],
      input_guardrails: [
        { 'default.webhook': { webhookURL: 'http://127.0.0.1', headers: { 'x-hook-token': 'abc', 'x-team': 'b' } } },
      ],
    };
    const shown = headers(['x-svc-config', JSON.stringify(config)])['x-svc-config'] ?? '';
    expect(shown).not.toContain('abc');
    const hook = { webhookURL: 'http://127.0.0.1', headers: { 'x-hook-token': '***', 'x-team': 'b' } };
    expect(JSON.parse(shown)).toMatchObject({
      strategy: { mode: 'fallback' },
      targets: [{ provider: 'bedrock', api_key: '***', vertex_service_account_json: '***' }],
      input_guardrails: [{ 'default.webhook': hook }],
    });
    // Also if the JSON is not whole, or too deep.
    for (const cut of [-1, -40, -200]) {
      expect(headers(['x-svc-config', JSON.stringify({ targets: config.targets }).slice(0, cut)])['x-svc-config']).not.toContain(
        'abc',
      );
    }
    const backslash = `{"a":"\\\\","api_key":"abc","b":`;
    expect(headers(['x-svc-config', backslash])['x-svc-config']).toBe(`{"a":"\\\\","api_key":"***","b":`);
    const deep = `{"api_key":"abc","a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expect(headers(['x-svc-config', deep])['x-svc-config']).not.toContain('abc');
  });

  it('remove headers and fields that the setting names, with everything in them', () => {
    expect(headers(['X-User-Email', 'a@example.com'])).toEqual({ 'x-user-email': '***' });
    expect(body({ Patient_Name: { first: 'A' }, patient: 'B' })).toEqual({ Patient_Name: '***', patient: 'B' });
  });

  it('leave ordinary content as it is', () => {
    const content = {
      messages: [
        { role: 'user', content: 'Basic understanding of bearer instruments; ask-me-anything about sk-learn and eyJust.' },
      ],
      max_tokens: 5,
      logprobs: { content: [{ token: 'Hello there, this is a token', logprob: -0.1 }] },
      tools: [{ function: { parameters: { type: 'object', properties: { password: { type: 'string' } } } } }],
      usage: { total_tokens: 3 },
      __proto__x: 1,
    };
    expect(body(content)).toEqual(content);
    const ids = ['idempotency-key', 'a', 'x-svc-virtual-key', 'openai'];
    const list = ['content-type', 'application/json', 'x-ratelimit-remaining-tokens', '5', 'accept', 'a', 'accept', 'b', ...ids];
    expect(headers(list)).toEqual({
      ...{ 'idempotency-key': 'a', 'x-svc-virtual-key': 'openai' },
      ...{ 'content-type': 'application/json', 'x-ratelimit-remaining-tokens': '5', accept: 'a, b' },
    });
    expect(Object.getPrototypeOf(body(JSON.parse('{"__proto__": {"a": 1}}')))).toBe(Object.prototype);
  });

  it('copy nothing if there is nothing to mask', () => {
    const conversation = { messages: [{ role: 'user', content: [{ type: 'text', text: 'How long is a sk-slug?' }] }], n: 1 };
    expect(body(conversation)).toBe(conversation);
  });

  it('copy only what is around a masked value, and leave the given value as it is', () => {
    const given = JSON.parse('{"2":1,"a":{"b":[0]},"__proto__":{"c":[1,{"password":"abc"},null]},"z":[["d"]]}');
    const before = JSON.stringify(given);
    const shown = body(given) as typeof given;
    expect(JSON.stringify(shown)).toBe(before.replace('abc', '***'));
    expect(JSON.stringify(given)).toBe(before);
    expect(shown.a).toBe(given.a);
    expect(shown.z).toBe(given.z);
  });

  it('judge a name by the object around it, in any order', () => {
    const both = { 'x-auth': 'abc', headers: { 'x-auth': 'abc', headers: { 'x-auth': 'abc' } } };
    const shown = { 'x-auth': 'abc', headers: { 'x-auth': '***', headers: { 'x-auth': '***' } } };
    for (let round = 0; round < 2; round++)
      expect(body([both, both.headers, both])).toEqual([shown, { ...both.headers, headers: shown.headers.headers }, shown]);
  });

  it('judge names beyond those that are kept', () => {
    const many = Object.fromEntries(Array.from({ length: 2_500 }, (_, at) => [`password_${at}`, 'abc']));
    const mixed = { ...many, password: 'abc', [`password${'-'.repeat(100)}`]: 'abc', patient_name: ['abc'] };
    for (let round = 0; round < 2; round++) expect(body(mixed)).toEqual({ ...mixed, password: '***', patient_name: '***' });
  });

  it('mask members of an object of a plugin that has a JSON form of its own', () => {
    class Form {
      key = 'sk-aaaaaaaaaaaaaaaaaaaaaaaa';
      toJSON() {
        return this.key;
      }
    }
    expect(JSON.stringify(body({ form: new Form() }))).toBe('{"form":{"key":"sk-***"}}');
    expect(JSON.stringify(body({ text: new String(new Form().key) }))).not.toContain('aaaa');
  });

  it.each([
    ['{"messages":[{"password":"open sesame","a":"b"}]', '{"messages":[{"password":"***","a":"b"}]'],
    ['{"password" : "open se', '{"password" : "***"'],
    [
      'data: {"api-key":"abc"}\n\ndata: {"a":"\\"password\\":\\"abc\\""}',
      'data: {"api-key":"***"}\n\ndata: {"a":"\\"password\\":\\"abc\\""}',
    ],
    ['{"a":"x \\" y","password":"a\\"b","c":1', '{"a":"x \\" y","password":"***","c":1'],
    ['{"patient_name":{"first":"Ann","all":["Ann"]},"b":1', '{"patient_name":"***","b":1'],
    ['{"patient_name":["Ann",{"x":"]"}],"b":1', '{"patient_name":"***","b":1'],
    ['{"patient_name":{"first":"Ann","la', '{"patient_name":"***"'],
    ['{"patient_name":17.5e3,"b":true', '{"patient_name":"***","b":true'],
    ['{"patient_name":null,"b":', '{"patient_name":null,"b":'],
    ['{"properties":{"password":{"type":"string"}}', '{"properties":{"password":{"type":"string"}}'],
    ['{"pass\\u0077ord":"abc"', '{"pass\\u0077ord":"***"'],
    ['{"note":"key sk-aaaaaaaaaaaaaaaaaaaaaaaa', '{"note":"key sk-***'],
    ['"password"', '"password"'],
    ['', ''],
  ])('remove the fields of JSON that cannot be parsed: %s', (given, shown) => {
    expect(text(given)).toBe(shown);
  });

  it.each([
    ['quotes', '\\"'.repeat(500_000)],
    ['names', '"password":'.repeat(100_000)],
    ['brackets', `"patient_name":${'['.repeat(1_000_000)}`],
  ])('read a text of many %s in time that grows with its length', { timeout: 20_000 }, (_, given) => {
    expect(text(given)).not.toBe('');
  });
});
