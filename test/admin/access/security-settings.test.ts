import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopesByType } from '../../../admin/access/scopes.ts';
import { type SecuritySettingName, securityDefaults } from '../../../admin/resources/organisations/setting-sections.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { newPerson, type Person } from '../support/people.ts';
import type { Plane, Reply } from '../support/plane.ts';
import { startPlaneWithGateway } from '../support/plane-gateway.ts';
import { ruleDatabases } from '../support/test-database.ts';
import { type Caller, callers, type Enforced, securitySettings } from './security-settings-table.ts';

const enforced = (Object.entries(securitySettings) as [SecuritySettingName, Enforced][]).map(([name, row]) => ({ name, ...row }));

describe.each(ruleDatabases)(
  'each security setting allows or rejects its role, and changes nothing for others, on %s',
  (database) => {
    let plane: Plane;
    let integration: string;
    let mcpIntegration: string;
    let logId: string;
    let n = 0;
    const keys = new Map<Caller, string>();
    const people = new Map<Caller, Person>();
    beforeAll(async () => {
      plane = await startPlaneWithGateway(database, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
      const { workspaceId, organisationId } = plane;
      const path = (role: 'admin' | 'manager' | 'member' | 'viewer') => newPerson(plane, 'member', [{ id: workspaceId, role }]);
      people.set('owner', await newPerson(plane, 'owner'));
      people.set('admin', await newPerson(plane, 'admin'));
      people.set('ws admin', await path('admin'));
      people.set('ws manager', await path('manager'));
      people.set('ws member', await path('member'));
      people.set('ws viewer', await path('viewer'));
      for (const [caller, { token }] of people) keys.set(caller, token);
      for (const role of ['manager', 'member'] as const) {
        const owner = people.get(`ws ${role}`) as Person;
        people.set(`key of a ${role}`, owner);
        keys.set(`key of a ${role}`, await keyOf(owner));
      }
      keys.set('service key', plane.workspaceKey);
      const body = { workspace_id: workspaceId, name: 'I', slug: 'of-workspace', ai_provider_id: 'openai', key: 'sk-x' };
      integration = (await plane.ask('POST', '/integrations', { body })).body.slug;
      const mcp = {
        workspace_id: workspaceId,
        name: 'M',
        url: 'https://mcp.example.com/mcp',
        auth_type: 'none',
        transport: 'http',
      };
      mcpIntegration = (await plane.ask('POST', '/mcp-integrations', { body: mcp })).body.slug;
      const record = sampleRecord({ organisationId, workspaceId, metadata: { team: 'a' } });
      logId = record.id;
      expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 1 });
    });
    afterAll(() => plane?.close());

    /** A key with all scopes that keys of users can hold. If it is rejected, the role of its owner is the reason. */
    async function keyOf({ id }: Person): Promise<string> {
      const body = { name: 'K', scopes: [...scopesByType['workspace-user']], user_id: id, workspace_id: plane.workspaceId };
      const made = await plane.ask('POST', '/api-keys/workspace/user', { body });
      expect(made.status, JSON.stringify(made.body)).toBe(200);
      return made.body.key;
    }

    async function save(security_settings: Readonly<Record<SecuritySettingName, boolean>>): Promise<void> {
      expect((await plane.ask('PUT', '/organisations/self', { body: { security_settings } })).status).toBe(200);
    }

    /** Returns for each request whether it was allowed. Rejected requests get 403, or 404 if the resource is hidden. */
    async function asked(caller: Caller, { asks, hides }: Enforced): Promise<boolean[]> {
      const userId = people.get(caller)?.id ?? null;
      const scope = { workspaceId: plane.workspaceId, integration, mcpIntegration, logId, userId, n: ++n };
      const replies: boolean[] = [];
      for (const [method, path, body] of asks(scope)) {
        const key = keys.get(caller) ?? '';
        const reply: Reply = await plane.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
        expect([200, 400, 403, 404], `${caller}: ${method} ${path} gave ${JSON.stringify(reply.body)}`).toContain(reply.status);
        replies.push(reply.status === 200 && !hides?.(reply.body));
      }
      return replies;
    }

    async function repliesTo(row: Enforced, asking: readonly Caller[]): Promise<ReadonlyMap<Caller, boolean[]>> {
      const found = new Map<Caller, boolean[]>();
      for (const one of asking) found.set(one, await asked(one, row));
      return found;
    }

    /** Replies under the default settings, by what is asked. Several settings decide about the same requests. */
    const usual: { row: Enforced; replies: ReadonlyMap<Caller, boolean[]> }[] = [];

    async function usualReplies(row: Enforced): Promise<ReadonlyMap<Caller, boolean[]>> {
      const found = usual.find((one) => one.row.asks === row.asks && one.row.hides === row.hides);
      if (found) return found.replies;
      await save(securityDefaults);
      const replies = await repliesTo(row, callers);
      usual.push({ row, replies });
      return replies;
    }

    it.each(enforced)('$name', async (row) => {
      const byDefault = await usualReplies(row);
      const asking = callersOf(row);
      await save({ ...securityDefaults, [row.name]: !securityDefaults[row.name] });
      const changed = await repliesTo(row, asking);
      const [whenTrue, whenFalse] = securityDefaults[row.name] ? [byDefault, changed] : [changed, byDefault];
      const all = (value: boolean) =>
        row.asks({ workspaceId: '', integration: '', mcpIntegration: '', logId: '', userId: null, n }).map(() => value);
      const expected = asking.map((one) =>
        row.decidesFor.includes(one) ? [one, all(true), all(false)] : [one, byDefault.get(one), byDefault.get(one)],
      );
      expect(asking.map((one) => [one, whenTrue.get(one), whenFalse.get(one)])).toEqual(expected);
      expect(whenFalse.get('owner')).toEqual(all(true));
    });
  },
);

/** The roles that most settings apply to, and the owner, who is never rejected. */
const always: readonly Caller[] = ['owner', 'ws manager', 'ws member'];

/**
 * Returns the callers that ask with and without a setting: those above, those that the setting applies to, and every third other one, a different third for
 * each setting. With LONG_TESTS every caller asks.
 */
function callersOf(row: (typeof enforced)[number]): readonly Caller[] {
  if (process.env.LONG_TESTS) return callers;
  const asking = new Set([...always, ...row.decidesFor]);
  const others = callers.filter((one) => !asking.has(one));
  const turn = enforced.indexOf(row) % 3;
  return [...asking, ...others.filter((_, at) => at % 3 === turn)];
}
