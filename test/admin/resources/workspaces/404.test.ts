import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../../admin/db/new-id.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('workspaces of other callers, on %s', (database) => {
  let plane: Plane;
  let foreign: string;
  let second: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    foreign = (await plane.newTenant()).workspaceId;
    second = (await plane.ask('POST', '/workspaces', { body: { name: 'Second' } })).body.id;
  });
  afterAll(() => plane?.close());

  it('are not found', async () => {
    for (const [id, key] of [
      [foreign, plane.adminKey],
      [foreign, plane.workspaceKey],
      [second, plane.workspaceKey],
      ['ws-none', plane.adminKey],
    ] as const) {
      await expectRefusal(plane, () => plane.ask('GET', `/workspaces/${id}`, { key }), 404, 'AB08', false);
      await expectRefusal(plane, () => plane.ask('PUT', `/workspaces/${id}`, { key, body: { name: 'x' } }), 404, 'AB08', true);
    }
    for (const id of [foreign, 'ws-none']) {
      await expectRefusal(plane, () => plane.ask('DELETE', `/workspaces/${id}`, { body: { name: 'x' } }), 404, 'AB08', true);
    }
  });

  it('cannot refer to missing items', async () => {
    const put = (defaults: unknown) => () => plane.ask('PUT', `/workspaces/${second}`, { body: { defaults } });
    const config = { name: 'c', config: { provider: '@mock' }, workspace_id: 'ws-default' };
    const elsewhere = (await plane.ask('POST', '/configs', { body: config })).body.data.slug;
    await expectRefusal(plane, put({ user_api_key_config: 'pc-none' }), 404, 'AB02', true);
    await expectRefusal(plane, put({ user_api_key_config: elsewhere }), 404, 'AB02', true);
    const reply = await expectRefusal(plane, put({ input_guardrails: ['pg-none'] }), 404, 'AB02', true);
    expect(reply.body.data.message).toBe('defaults.input_guardrails[0]: Guardrail pg-none not found');
    await expectRefusal(plane, put({ output_guardrails: ['pg-none'] }), 404, 'AB02', true);
    const create = { name: 'Third', users: [{ id: newId() }] };
    await expectRefusal(plane, () => plane.ask('POST', '/workspaces', { body: create }), 404, 'AB02', true);
  });
});
