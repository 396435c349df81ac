import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  additionalProperties: true,
  properties: {
    team: { type: 'string', enum: ['red', 'blue'] },
    cost_centre: { type: 'string', pattern: '^[0-9]{4}$' },
    region: { type: 'string', pattern: '^[a-z]{2}$' },
  },
  required: ['team'],
};

describe.each(ruleDatabases)('metadata schemas, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    const settings = { workspace_metadata_schema: schema, api_key_metadata_schema: schema };
    expect((await plane.ask('PUT', '/organisations/self', { body: { settings } })).status).toBe(200);
  });
  afterAll(() => plane?.close());

  const workspace = (metadata?: unknown) => () =>
    plane.ask('POST', '/workspaces', { body: { name: 'New', ...(metadata ? { defaults: { metadata } } : {}) } });

  it('are returned as they were sent', async () => {
    expect((await plane.ask('GET', '/organisations/self')).body.data.settings.workspace_metadata_schema).toEqual(schema);
  });

  it('accept new workspaces that match, with further keys', async () => {
    expect((await workspace({ team: 'red', cost_centre: '1234', region: 'eu', other: 'x' })()).status).toBe(200);
  });

  it.each([
    ['nothing', undefined, 'required'],
    ['a value that is not listed', { team: 'green' }, 'defaults.metadata.team'],
    ['a value that misses the pattern', { team: 'red', cost_centre: 'abc' }, 'defaults.metadata.cost_centre'],
    ['a value that misses another pattern', { team: 'red', region: '1234' }, 'defaults.metadata.region'],
  ])('metadata schemas: new workspaces with %s are rejected', async (_what, metadata, words) => {
    const reply = await expectRefusal(plane, workspace(metadata), 400, 'AB01', true);
    expect(reply.body.data.errors.join('\n')).toContain(words);
    expect(JSON.stringify(reply.body)).not.toMatch(/green|abc/);
  });

  it('ignore existing items until their metadata changes', async () => {
    const put = (body: unknown) => () => plane.ask('PUT', '/workspaces/ws-default', { body });
    expect((await put({ description: 'still without a team' })()).status).toBe(200);
    await expectRefusal(plane, put({ defaults: { metadata: { team: 'green' } } }), 400, 'AB01', true);
    expect((await put({ defaults: { metadata: { team: 'blue' } } })()).status).toBe(200);
  });

  it('apply to new keys too', async () => {
    const key = (metadata: unknown) => () =>
      plane.ask('POST', '/api-keys/workspace/service', {
        body: { name: 'k', workspace_id: 'ws-default', scopes: ['completions.write'], defaults: { metadata } },
      });
    await expectRefusal(plane, key({ team: 'green' }), 400, 'AB01', true);
    expect((await key({ team: 'red' })()).status).toBe(200);
  });
});
