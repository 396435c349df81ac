import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { organisations } from '../../../admin/resources/organisations/entity.ts';
import { startControlPlane } from '../../../admin/start-control-plane.ts';
import { StartError } from '../../../admin/start-error.ts';
import { newApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { type EmptyDatabase, newEmptyDatabase } from '../support/empty-database.ts';
import { accept, tokenOf } from '../support/people.ts';
import { startPlaneWith, testSettings } from '../support/plane.ts';
import { newTestDatabase, postgresMissing, ruleDatabases } from '../support/test-database.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'svc-admin-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe.each(ruleDatabases)('the first start, on %s', (name) => {
  let database: EmptyDatabase;
  beforeEach(async () => {
    database = await newEmptyDatabase(name, dataDir);
  });
  afterEach(() => database?.drop());
  const settingsWith = (env: Readonly<Record<string, string>>) => testSettings(dataDir, { ...database.env, ...env });

  it('accepts given keys', async () => {
    const given = { BOOTSTRAP_ADMIN_KEY: newApiKey('admin').text, BOOTSTRAP_WORKSPACE_KEY: newApiKey('ws').text };
    const plane = await startPlaneWith(settingsWith(given));
    expect(plane).toMatchObject({ adminKey: given.BOOTSTRAP_ADMIN_KEY, workspaceKey: given.BOOTSTRAP_WORKSPACE_KEY });
    expect((await plane.ask('GET', '/providers', { key: given.BOOTSTRAP_WORKSPACE_KEY })).body.total).toBe(1);
    await plane.close();
  });

  it.each([
    ['', true],
    ['true', true],
    ['false', false],
  ])('sets block_inline_config from BOOTSTRAP_BLOCK_INLINE_CONFIG=%j', async (value, blocks) => {
    const first = settingsWith({ BOOTSTRAP_BLOCK_INLINE_CONFIG: value });
    const plane = await startPlaneWith(first);
    const settings = { data_plane_security_settings: { block_inline_config: blocks } };
    expect((await plane.ask('GET', '/organisations/self')).body.data).toMatchObject(settings);
    // Only the first start reads the setting.
    await plane.close();
    const later = await startPlaneWith({ ...first, bootstrapBlockInlineConfig: !blocks });
    expect((await later.ask('GET', '/organisations/self')).body.data).toMatchObject(settings);
    await later.close();
  });

  it.each([
    [{}, 'http://127.0.0.1:8787/v1'],
    [{ HOST: '::', PORT: '9000' }, 'http://127.0.0.1:9000/v1'],
    [{ ROLE: 'control-plane', GATEWAY_URL: 'http://10.0.0.20:8787' }, 'http://10.0.0.20:8787/v1'],
  ])('writes the address at which this machine reaches a gateway to first-keys.json, with %j', async (env, address) => {
    const plane = await startPlaneWith(settingsWith(env));
    expect(plane.control.firstKeys?.base_url).toBe(address);
    await plane.close();
  });

  it('creates a link for the first owner only if one is named', async () => {
    const plane = await startPlaneWith(settingsWith({ BOOTSTRAP_OWNER_EMAIL: 'Owner@Example.com' }));
    const link = plane.control.firstKeys?.owner_link ?? '';
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:8787\/v1\/auth\/link#accept-invite=svc_invite_[A-Za-z0-9_-]{43}$/);
    const reply = await accept(plane, tokenOf(link));
    expect(reply.body).toMatchObject({ user: { email: 'owner@example.com', role: 'owner' } });
    expect((await plane.ask('GET', '/admin/users', { key: reply.body.auth_token })).body.total).toBe(1);
    await plane.close();
  });

  it('rejects malformed keys and keys of the wrong kind, and leaves the database empty', async () => {
    for (const wrong of ['nonsense', newApiKey('ws').text]) {
      const settings = settingsWith({ BOOTSTRAP_ADMIN_KEY: newApiKey('admin').text });
      const start = startControlPlane({ ...settings, bootstrapAdminKey: wrong }, { log: newMemoryLog() });
      await expect(start).rejects.toThrow(StartError);
    }
    const plane = await startPlaneWith(settingsWith({}));
    expect(plane.control.firstKeys).not.toBeNull();
    await plane.close();
  });

  it('creates an organisation, a workspace, two keys and the mock provider, and nothing on later starts', async () => {
    const settings = settingsWith({});
    const first = await startPlaneWith(settings);
    const seen = await Promise.all(
      ['/admin/workspaces', '/api-keys', '/integrations', '/providers', '/configs'].map((path) => first.ask('GET', path)),
    );
    expect(seen.map((one) => one.body.total)).toEqual([1, 2, 1, 1, 0]);
    const written = JSON.parse(await readFile(join(dataDir, 'first-keys.json'), 'utf8')) as object;
    expect(written).toEqual(first.control.firstKeys);
    const refused = await first.ask('GET', '/organisations/self', { key: first.workspaceKey });
    expect(refused.status).toBe(403);
    await first.close();
    const second = await startPlaneWith(settings);
    expect(second.control.firstKeys).toBeNull();
    expect((await second.ask('GET', '/api-keys')).body.total).toBe(2);
    await second.close();
  });

  it('reads BOOTSTRAP settings: later starts warn of differences', async () => {
    const given = { BOOTSTRAP_ADMIN_KEY: newApiKey('admin').text };
    const settings = settingsWith(given);
    await (await startPlaneWith(settings)).close();
    const warnings = async (changed: object) => {
      const plane = await startPlaneWith({ ...settings, ...changed });
      await plane.close();
      return plane.log.lines.filter(({ message }) => message.includes('BOOTSTRAP'));
    };
    expect(await warnings({})).toEqual([]);
    const other = newApiKey('admin').text;
    const [line] = await warnings({ bootstrapAdminKey: other, bootstrapOwnerEmail: 'owner@example.com' });
    expect(line).toMatchObject({ level: 'warn', fields: { settings: ['BOOTSTRAP_ADMIN_KEY', 'BOOTSTRAP_OWNER_EMAIL'] } });
    expect(line?.message).toContain('npm run admin-key');
    expect(JSON.stringify(line)).not.toContain(other);
  });
});

describe('the first start of several control planes', () => {
  if (postgresMissing) console.warn(`skipped: ${postgresMissing}`);
  it.skipIf(postgresMissing !== null)('happens once if several control planes start at the same time', async () => {
    const database = await newTestDatabase();
    const settings = testSettings(dataDir, { DATABASE_URL: database.url });
    const planes = await Promise.all([0, 1, 2].map(() => startControlPlane(settings, { log: newMemoryLog() })));
    expect(planes.filter((one) => one.firstKeys !== null)).toHaveLength(1);
    expect(await planes[0]?.services.database.em().count(organisations)).toBe(1);
    for (const plane of planes) await plane.close();
    await database.drop();
  });
});
