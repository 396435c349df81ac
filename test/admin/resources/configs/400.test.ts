import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('rejected configs, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const cases: [string, unknown, string][] = [
    ['no name', { config: {} }, 'name: required'],
    ['no config', { name: 'x' }, 'config: required'],
    ['an unknown key', { name: 'x', config: {}, colour: 'red' }, 'colour: unknown key'],
    ['an unknown key inside', { name: 'x', config: { colour: 'red' } }, 'config.colour: '],
    ['a wrong type deep inside', { name: 'x', config: { retry: { attempts: 'two' } } }, 'config.retry.attempts: '],
    [
      'a strategy without targets',
      { name: 'x', config: { strategy: { mode: 'fallback' } } },
      'config.targets: required when strategy is set',
    ],
    ['the old options key', { name: 'x', config: { options: [] } }, 'config.options: '],
    [
      'an unknown provider slug',
      { name: 'x', config: { provider: '@nope' } },
      'config.provider: no provider @nope in this workspace',
    ],
    [
      'a misspelt provider slug',
      { name: 'x', config: { provider: '@mokc' } },
      'config.provider: no provider @mokc in this workspace; did you mean @mock?',
    ],
    ['a misspelt key', { name: 'x', config: { strateegy: {} } }, 'config.strateegy: unknown key; did you mean strategy?'],
    [
      'an unknown provider of embeddings',
      { name: 'x', config: { provider: '@mock', cache: { mode: 'semantic', embedding: { provider: 'nope', model: 'e' } } } },
      'config.cache.embedding.provider: no provider @nope in this workspace',
    ],
    ['an unknown virtual key', { name: 'x', config: { virtual_key: 'nope' } }, 'config.virtual_key: no provider @nope'],
    [
      'an unknown slug in a nested target',
      { name: 'x', config: { strategy: { mode: 'fallback' }, targets: [{ provider: '@mock' }, { provider: '@nope' }] } },
      'config.targets[1].provider: no provider @nope in this workspace',
    ],
    [
      'an unknown slug in an overridden model',
      { name: 'x', config: { override_params: { model: '@nope/gpt-4o' } } },
      'config.override_params.model: ',
    ],
    ['an unknown provider type', { name: 'x', config: { provider: 'opnai' } }, 'config.provider: no provider type of this name'],
    [
      'a credential',
      { name: 'x', config: { provider: 'openai', api_key: 'sk-planted-secret' } },
      'config.api_key: credentials are not allowed in saved configs',
    ],
    [
      'a credential under another name, deep inside',
      {
        name: 'x',
        config: { strategy: { mode: 'single' }, targets: [{ provider: 'bedrock', aws_secret_access_key: 'sk-planted-secret' }] },
      },
      'config.targets[0].aws_secret_access_key: credentials are not allowed in saved configs',
    ],
    [
      'a password in a host',
      { name: 'x', config: { targets: [{ provider: 'openai', custom_host: 'https://ada:sk-planted-secret@example.com/v1' }] } },
      'config.targets[0].custom_host: must not contain a user name or password',
    ],
    [
      'a query of a host',
      { name: 'x', config: { provider: 'openai', custom_host: 'https://example.com/v1?key=sk-planted-secret' } },
      'config.custom_host: must not have a query',
    ],
    [
      'credentials of a partner in a check',
      {
        name: 'x',
        config: { provider: '@mock', input_guardrails: [{ 'lasso.classify': { credentials: { apiKey: 'sk-planted-secret' } } }] },
      },
      'config.input_guardrails[0].lasso.classify.credentials: secrets are not allowed in saved configs',
    ],
    [
      'a header with a credential in a disabled check of a target',
      {
        name: 'x',
        config: {
          strategy: { mode: 'single' },
          targets: [
            {
              provider: '@mock',
              after_request_hooks: [
                {
                  type: 'guardrail',
                  id: 'g',
                  checks: [
                    {
                      id: 'default.webhook',
                      is_enabled: false,
                      parameters: { webhookURL: 'https://example.com', headers: { Authorization: 'Bearer planted' } },
                    },
                  ],
                },
              ],
            },
          ],
        },
      },
      'config.targets[0].after_request_hooks[0].checks[0].parameters.headers.Authorization: secrets are not allowed in saved configs',
    ],
    [
      'a header with a credential in a text of headers',
      {
        name: 'x',
        config: {
          provider: '@mock',
          input_guardrails: [{ 'default.webhook': { headers: '{"authorization":"Bearer planted"}' } }],
        },
      },
      'config.input_guardrails[0].default.webhook.headers.authorization: secrets are not allowed in saved configs',
    ],
    ['text that is no JSON', { name: 'x', config: '{"a":' }, 'config: invalid JSON at position 5'],
    ['a slug with a slash', { name: 'x', slug: 'a/b', config: {} }, 'slug: '],
    ['a name that is too long', { name: 'x'.repeat(256), config: {} }, 'name: at most 255 characters'],
  ];

  it.each(cases)('have an error that names the field: %s', async (_, body, start) => {
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/configs', { body }), 400, 'AB01', true);
    expect(reply.body.data.errors[0]).toMatch(start === '' ? /./ : new RegExp(`^${start.replace(/[.[\]@]/g, '\\$&')}`));
    expect(reply.body.data.message).toBe(reply.body.data.errors[0]);
    expect(JSON.stringify(reply.body)).not.toContain('sk-planted-secret');
  });

  it('have an error for every issue at once', async () => {
    const body = { name: '', config: 5, colour: 1 };
    const reply = await plane.ask('POST', '/configs', { body });
    expect(reply.body.data.errors).toHaveLength(3);
  });

  it('include a slug that is taken: 409', async () => {
    const body = { name: 'Twice', slug: 'twice', config: { provider: '@mock' } };
    expect((await plane.ask('POST', '/configs', { body })).status).toBe(200);
    await expectRefusal(plane, () => plane.ask('POST', '/configs', { body }), 409, 'AB07', true);
  });

  it('cannot be archived if they are a default or keys refer to them: 409', async () => {
    await plane.ask('POST', '/configs', {
      body: { name: 'D', slug: 'the-default', config: { provider: '@mock' }, isDefault: 1 },
    });
    await expectRefusal(plane, () => plane.ask('DELETE', '/configs/the-default'), 409, 'AB07', true);
    await plane.ask('POST', '/configs', { body: { name: 'K', slug: 'of-a-key', config: { provider: '@mock' } } });
    const key = { name: 'k', scopes: ['completions.write'], defaults: { config_id: 'of-a-key' } };
    expect((await plane.ask('POST', '/api-keys/workspace/service', { body: key })).status).toBe(200);
    await expectRefusal(plane, () => plane.ask('DELETE', '/configs/of-a-key'), 409, 'AB07', true);
  });

  it('need a workspace if the organisation has several', async () => {
    const made = await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } });
    expect(made.status).toBe(200);
    const body = { name: 'x', config: { provider: 'openai' } };
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/configs', { body }), 400, 'AB01', true);
    expect(reply.body.data.message).toMatch(/^workspace_id: required/);
    const named = await plane.ask('POST', '/configs', { body: { ...body, workspace_id: made.body.slug } });
    expect(named.status).toBe(200);
    const list = await plane.ask('GET', `/configs?workspace_id=${made.body.id}`);
    expect(list.body.data.map((one: { workspace_id: string }) => one.workspace_id)).toEqual([made.body.id]);
  });
});
