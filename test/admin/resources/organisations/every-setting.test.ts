import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authSettingsBody, updateBody } from '../../../../admin/resources/organisations/schema.ts';
import { sharedSettingEntries } from '../../../../admin/resources/organisations/setting-schemas.ts';
import { updateBody as workspaceBody } from '../../../../admin/resources/workspaces/schema.ts';
import { adminRoutes } from '../../../../admin/tables.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { type Effective, ofOrganisation, ofSignIn, ofWorkspace, type Row } from './every-setting-table.ts';

const groups = ['settings', 'data_plane_security_settings', 'export_settings'] as const;
/** Settings of tokens have tests of their own. */
const ofTokens = ['jwt'];

describe('every setting', () => {
  it.each(groups)('is in the table of effects: %s of the organisation', (group) => {
    expect(Object.keys(ofOrganisation[group] ?? {}).sort()).toEqual(
      Object.keys(updateBody.entries[group].wrapped.entries).sort(),
    );
  });

  it('is in the table of effects: signing in', () => {
    const names = Object.keys(authSettingsBody.entries).filter((name) => !ofTokens.includes(name));
    expect(names.filter((name) => name !== 'organisation_id').sort()).toEqual(Object.keys(ofSignIn).sort());
  });

  it('is in the table of effects: a workspace’s own', () => {
    const all = Object.keys(workspaceBody.entries.settings.wrapped.entries);
    expect([...Object.keys(sharedSettingEntries), ...Object.keys(ofWorkspace)].sort()).toEqual(
      [...all, ...Object.keys(ofWorkspace).filter((name) => name in sharedSettingEntries)].sort(),
    );
  });

  const later = [...Object.values(ofOrganisation), ofSignIn, ofWorkspace].flatMap((rows) =>
    Object.entries(rows).flatMap(([name, row]) => ('laterPart' in row ? [{ name, ...row }] : [])),
  );
  it.each(later)('has a reason if it is without effect: $name, $laterPart', ({ routes }) => {
    const there = adminRoutes.map((route) => `${route.method} ${route.path}`);
    expect(routes.filter((route) => there.includes(route))).toEqual([]);
  });
});

type Named = Effective & { readonly name: string };
const effective = (rows: Readonly<Record<string, Row>> = {}): Named[] =>
  Object.entries(rows).flatMap(([name, row]) => ('laterPart' in row ? [] : [{ name, ...row }]));

describe.each(ruleDatabases)('each setting has its effect, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
  });
  afterAll(() => plane?.close());

  const put = async (path: string, body: unknown) => {
    const reply = await plane.ask('PUT', path, { body });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  };

  async function check({ shows, before, after }: Effective, set: () => Promise<void>, reset: () => Promise<void>): Promise<void> {
    expect(await shows(plane)).toEqual(before);
    await set();
    try {
      expect(await shows(plane)).toEqual(after);
    } finally {
      await reset();
    }
  }

  /** Values that restore the unset state of a setting. */
  const none: Readonly<Record<string, unknown>> = {
    debug_log: 1,
    debug_log_error_body: 0,
    enforce_debug_log_setting: 0,
    require_sso: false,
    require_second_factor: false,
    user_api_key_auto_create: false,
    user_api_key_auto_create_scopes: [],
    default_workspace_user_api_key_auto_create: false,
    block_inline_config: false,
    session_settings: { max_session_ttl: null },
    allowed_email_domains: [],
    user_key_metadata: 0,
    user_key_metadata_override: 0,
  };

  for (const group of groups) {
    const rows = effective(ofOrganisation[group]);
    if (rows.length === 0) continue;
    it.each(rows)(`$name of ${group}`, async (row) => {
      const send = (values: object) => put('/organisations/self', { [group]: values });
      await check(
        row,
        () => send({ [row.name]: row.value }),
        () => send({ ...(group === 'settings' ? { user_api_key_auto_create: false } : {}), [row.name]: none[row.name] ?? null }),
      );
    });
  }

  it.each(effective(ofSignIn))('$name of authentication', async (row) => {
    const send = (value: unknown) => put('/organisations/self/auth-settings', { [row.name]: value });
    await check(
      row,
      () => send(row.value),
      () => send(none[row.name]),
    );
  });

  it.each(effective(ofWorkspace))('$name of the workspace', async (row) => {
    const send = (value: unknown) => put('/workspaces/ws-default', { settings: { [row.name]: value } });
    await check(
      row,
      () => send(row.value),
      () => send(none[row.name] ?? null),
    );
  });
});
