import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { overridableSections, securityDefaults } from '../../../../admin/resources/organisations/setting-sections.ts';
import { settingGroups } from '../../../../admin/resources/workspaces/apply-settings.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

/** Two values of each setting that is not a flag; the first is the default. */
const pairs: Readonly<Record<string, readonly [unknown, unknown]>> = {
  deniedFields: [[], ['request']],
  debug_log: [1, 0],
  debug_log_error_body: [0, 1],
  user_api_key_rotation_period: [null, 7],
  user_api_key_auto_create_scopes: [[], ['completions.write']],
};

const sections = Object.entries(overridableSections).map(([section, { group, keys }]) => ({
  section,
  group: settingGroups[group],
  keys,
}));

describe.each(ruleDatabases)('a section of settings that workspaces may override, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it.each(sections)('$section', async ({ section, group, keys }) => {
    const values = (which: 0 | 1): Record<string, unknown> =>
      Object.fromEntries(
        keys.map((key) => {
          const first = (securityDefaults as Readonly<Record<string, boolean>>)[key] ?? false;
          return [key, pairs[key]?.[which] ?? (key in pairs ? null : which === 0 ? first : !first)];
        }),
      );
    const organisation = async (body: unknown) =>
      expect((await plane.ask('PUT', '/organisations/self', { body })).status).toBe(200);
    const put = (body: unknown) => plane.ask('PUT', '/workspaces/ws-default', { body });
    const here = async (id = 'ws-default') => {
      const all = (await plane.ask('GET', `/workspaces/${id}`)).body[group];
      return Object.fromEntries(keys.map((key) => [key, all[key]]));
    };

    await organisation({ [group]: values(1) });
    expect(await here()).toEqual(values(1));
    const refused = await expectRefusal(plane, () => put({ [group]: values(0) }), 403, 'AB03', true);
    expect(refused.body.data.message).toContain(`${group}.${keys[0]}`);

    // Copied to existing and new workspaces, so that later changes of the organisation do not apply to them.
    await organisation({ override_settings: { [section]: true } });
    const later = (await plane.ask('POST', '/workspaces', { body: { name: `Later ${section}` } })).body.id;
    await organisation({ [group]: values(0) });
    expect([await here(), await here(later)]).toEqual([values(1), values(1)]);

    expect((await put({ [group]: values(0) })).status).toBe(200);
    expect(await here()).toEqual(values(0));
    expect((await put({ [group]: values(1) })).status).toBe(200);
    expect(await here()).toEqual(values(1));

    await organisation({ override_settings: { [section]: false } });
    expect([await here(), await here(later)]).toEqual([values(0), values(0)]);
  });

  it('is rejected for sections of the organisation only', async () => {
    const names = Object.keys((await plane.ask('GET', '/organisations/self')).body.data.override_settings);
    expect(names.sort()).toEqual(Object.keys(overridableSections).sort());
    const put = () => plane.ask('PUT', '/workspaces/ws-default', { body: { security_settings: { membersWriteApiKeys: true } } });
    await expectRefusal(plane, put, 403, 'AB03', true);
    const open = () => plane.ask('PUT', '/organisations/self', { body: { override_settings: { api_keys: true } } });
    await expectRefusal(plane, open, 400, 'AB01', true);
  });
});
