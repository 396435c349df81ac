import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesMissingScopes } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

refusesMissingScopes('workspaces', [
  { method: 'GET', path: '/workspaces' },
  { method: 'POST', path: '/workspaces', body: { name: 'x' } },
  { method: 'GET', path: '/workspaces/ws-default' },
  { method: 'PUT', path: '/workspaces/ws-default', body: { name: 'x' } },
  { method: 'DELETE', path: '/workspaces/ws-default', body: { name: 'x' } },
]);

describe.each(ruleDatabases)('workspaces, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const put = (body: unknown, key = plane.adminKey) => plane.ask('PUT', '/workspaces/ws-default', { key, body });

  it.each([
    [{ settings: { debug_log: 0 } }, 'settings.debug_log'],
    [{ settings: { debug_log_error_body: 1 } }, 'settings.debug_log_error_body'],
    [{ settings: { user_api_key_rotation_period: 7 } }, 'settings.user_api_key_rotation_period'],
    [{ settings: { user_api_key_auto_create: true } }, 'settings.user_api_key_auto_create'],
    [{ security_settings: { membersViewLogs: false } }, 'security_settings.membersViewLogs'],
    [{ security_settings: { membersWriteApiKeys: true } }, 'security_settings.membersWriteApiKeys'],
    [{ data_plane_security_settings: { block_inline_config: true } }, 'data_plane_security_settings.block_inline_config'],
    [{ export_settings: { deniedFields: ['cost'] } }, 'export_settings.deniedFields'],
  ])('workspaces: %j cannot be overridden unless the organisation allows it', async (body, path) => {
    const reply = await expectRefusal(plane, () => put(body), 403, 'AB03', true);
    expect(reply.body.data.message).toContain(path);
  });

  it('accept their own reply', async () => {
    const { settings, security_settings, data_plane_security_settings, export_settings, name, description } = (
      await plane.ask('GET', '/workspaces/ws-default')
    ).body;
    const body = { settings, security_settings, data_plane_security_settings, export_settings, name, description };
    expect(await put(body)).toMatchObject({ status: 200 });
  });

  it('cannot raise their own limits', async () => {
    const limits = {
      usage_limits: [{ type: 'cost', credit_limit: 10 }],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
      reject_unmetered_requests: true,
    };
    expect((await put(limits)).status).toBe(200);
    const looser = [{ usage_limits: [] }, { usage_limits: [{ credit_limit: 11 }] }, { rate_limits: [] }];
    for (const body of [...looser, { reject_unmetered_requests: false }]) {
      await expectRefusal(plane, () => put(body, plane.workspaceKey), 403, 'AB03', true);
    }
    expect((await put({ ...limits, description: 'same limits' }, plane.workspaceKey)).status).toBe(200);
  });

  it('are visible to the organisation only after deletion', async () => {
    await expectRefusal(
      plane,
      () => plane.ask('GET', '/workspaces?status=archived', { key: plane.workspaceKey }),
      403,
      'AB03',
      false,
    );
  });
});
