import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

describe.each(databases)('integrations that are refused, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const base = { name: 'x', ai_provider_id: 'openai' };
  const cases: [string, unknown, string][] = [
    ['no provider type', { name: 'x' }, 'ai_provider_id: required'],
    ['an unknown provider type', { ...base, ai_provider_id: 'opnai' }, 'ai_provider_id: no provider type of this name'],
    ['an unknown setting', { ...base, configurations: { colour: 1 } }, 'configurations.colour: unknown key'],
    ['a setting of another provider', { ...base, configurations: { aws_region: 'x' } }, 'configurations.aws_region: unknown key'],
    [
      'a custom host that is no URL',
      { ...base, configurations: { custom_host: 'localhost' } },
      'configurations.custom_host: must be an http',
    ],
    [
      'a custom host with a password',
      { ...base, configurations: { custom_host: 'http://u:p@h.example/' } },
      'configurations.custom_host: must be an http',
    ],
    [
      'a custom header that the gateway sets itself',
      { ...base, configurations: { custom_headers: { Host: 'x' } } },
      'configurations.custom_headers.Host: this header is set by the gateway',
    ],
    [
      'a custom header that splits the request',
      { ...base, configurations: { custom_headers: { 'x-a': 'a\r\nb: c' } } },
      'configurations.custom_headers.x-a: not a header value',
    ],
    [
      'missing settings that the provider needs',
      { name: 'x', ai_provider_id: 'bedrock' },
      'configurations.aws_auth_type: required for bedrock',
    ],
    ['a key of two lines', { ...base, key: 'sk-planted\nsecret' }, 'key: must be one line'],
    [
      'limits, which nothing would keep',
      { ...base, secret_mappings: [{ target_field: 'key' }] },
      'secret_mappings: this build does not',
    ],
  ];

  it.each(cases)('refuses %s and says where', async (_, body, start) => {
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/integrations', { body }), 400, 'AB01', true);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
    expect(JSON.stringify(reply.body)).not.toContain('planted');
  });

  it('refuses a slug that is taken with 409', async () => {
    await expectRefusal(plane, () => plane.ask('POST', '/integrations', { body: { ...base, slug: 'mock' } }), 409, 'AB07', true);
  });
});
