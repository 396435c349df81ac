import { login, newPerson, type Person } from '../../support/people.ts';
import type { Plane } from '../../support/plane.ts';
import { scimClient } from '../../support/scim-client.ts';
import { arrive, newConnection } from '../../support/sign-in.ts';

/** A setting and its effect. */
export interface Effective {
  /** The value that is sent. */
  readonly value: unknown;
  /** The visible effect, at the level that has the setting. */
  readonly shows: (plane: Plane) => Promise<unknown>;
  readonly before: unknown;
  readonly after: unknown;
}

/** A setting that is stored for later, with the reason why nothing can apply it yet. */
interface LaterPart {
  readonly laterPart: string;
  /** Routes that will apply it. As soon as one of them exists, the setting must have an effect. */
  readonly routes: readonly string[];
}

export type Row = Effective | LaterPart;

let count = 0;

/** A new workspace, in addition to the default one that every user joins. */
async function newWorkspace(plane: Plane): Promise<string> {
  return (await plane.ask('POST', '/workspaces', { body: { name: `Workspace ${++count}` } })).body.id;
}

async function newUserKey(plane: Plane, more: object = {}, workspaceId = plane.workspaceId, userId?: string) {
  const user = userId ?? (await newPerson(plane, 'member', [{ id: workspaceId, role: 'member' }])).id;
  const body = { name: 'K', scopes: ['completions.write'], user_id: user, workspace_id: workspaceId, ...more };
  const made = await plane.ask('POST', '/api-keys/workspace/user', { body });
  if (made.status !== 200) return made.status;
  return (await plane.ask('GET', `/api-keys/${made.body.id}`)).body;
}

/** Returns the scopes of the keys that a new member gets. */
async function keysOfJoiner(plane: Plane, workspaceId: string): Promise<unknown> {
  const { id } = await newPerson(plane, 'member', [{ id: workspaceId, role: 'member' }]);
  const { data } = (await plane.ask('GET', `/api-keys?workspace_id=${workspaceId}&user_id=${id}`)).body;
  return data.map((key: { scopes: string[] }) => key.scopes.length);
}

async function documentSetting(plane: Plane, name: string): Promise<unknown> {
  const { document } = (await plane.internal('GET', `/documents/workspace/${plane.workspaceId}`)).body;
  return document.settings[name];
}

const secondsOfLife = async (plane: Plane) => {
  const key = await newUserKey(plane);
  return key.expires_at && Math.round((Date.parse(key.expires_at) - Date.parse(key.created_at)) / 1_000);
};

/** Returns the status of the sign-in of a user whom only the identity provider has. */
async function statusOfNewcomer(plane: Plane): Promise<number> {
  const connectionId = await newConnection(plane);
  return arrive(plane, { connectionId, subject: `newcomer-${++count}` }).then(
    () => 200,
    (error: { status: number }) => error.status,
  );
}

async function statusOfSecondKey(plane: Plane): Promise<unknown> {
  const { id } = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
  await newUserKey(plane, {}, plane.workspaceId, id);
  const second = await newUserKey(plane, {}, plane.workspaceId, id);
  return typeof second === 'number' ? second : 200;
}

const schema = { type: 'object', additionalProperties: true, properties: { team: { type: 'string' } }, required: ['team'] };

async function invite(plane: Plane): Promise<number> {
  const body = { email: `someone-${++count}@example.com`, role: 'member', workspaces: [] };
  return (await plane.ask('POST', '/admin/users/invites', { body })).status;
}

/** Settings of `PUT /organisations/self`, by group. Security settings are in `test/admin/access`. */
export const ofOrganisation: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  settings: {
    debug_log: { value: 0, shows: (plane) => documentSetting(plane, 'debugLog'), before: true, after: false },
    // The effect of both in gateways is tested in test/plugins/record/contents.test.ts.
    debug_log_error_body: {
      value: 1,
      shows: (plane) => documentSetting(plane, 'keepErrorBodies'),
      before: false,
      after: true,
    },
    enforce_debug_log_setting: {
      value: 1,
      shows: (plane) => documentSetting(plane, 'ignoreDebugHeader'),
      before: false,
      after: true,
    },
    user_api_key_rotation_period: {
      value: 'weekly',
      shows: async (plane) => (await newUserKey(plane)).rotation_policy?.rotation_period_days ?? null,
      before: null,
      after: 7,
    },
    user_api_key_ttl: { value: 3_600, shows: secondsOfLife, before: null, after: 3_600 },
    user_api_key_count: { value: 1, shows: statusOfSecondKey, before: 200, after: 403 },
    user_api_key_auto_create: {
      value: true,
      shows: async (plane) => ((await keysOfJoiner(plane, await newWorkspace(plane))) as number[]).length,
      before: 0,
      after: 1,
    },
    user_api_key_auto_create_scopes: {
      value: ['completions.write'],
      // Applies only to users who are given a key.
      shows: async (plane) => {
        await plane.ask('PUT', '/organisations/self', { body: { settings: { user_api_key_auto_create: true } } });
        return ((await keysOfJoiner(plane, await newWorkspace(plane))) as number[])[0] === 1;
      },
      before: false,
      after: true,
    },
    default_workspace_user_api_key_auto_create: {
      value: true,
      shows: async (plane) => ((await keysOfJoiner(plane, plane.workspaceId)) as number[]).length,
      before: 0,
      after: 1,
    },
    // The effect in gateways is tested in test/plugins/cache/organisation-ttl.test.ts.
    cache_similarity_threshold: {
      value: 0.97,
      shows: (plane) => documentSetting(plane, 'cacheSimilarityThreshold'),
      before: null,
      after: 0.97,
    },
    // The effect is tested in test/admin/resources/logs/retention.test.ts.
    log_retention_days: {
      value: 6,
      shows: async (plane) => (await plane.ask('GET', '/organisations/self')).body.data.settings.log_retention_days,
      before: null,
      after: 6,
    },
    // The same.
    log_body_retention_days: {
      value: 5,
      shows: async (plane) => (await plane.ask('GET', '/organisations/self')).body.data.settings.log_body_retention_days,
      before: null,
      after: 5,
    },
    cache_ttl: { value: 600, shows: (plane) => documentSetting(plane, 'cacheTtlSeconds'), before: null, after: 600 },
    api_key_metadata_schema: {
      value: schema,
      shows: async (plane) => {
        const body = { name: 'K', scopes: ['completions.write'], workspace_id: plane.workspaceId };
        return (await plane.ask('POST', '/api-keys/workspace/service', { body })).status;
      },
      before: 200,
      after: 400,
    },
    workspace_metadata_schema: {
      value: schema,
      shows: async (plane) => (await plane.ask('POST', '/workspaces', { body: { name: `Workspace ${++count}` } })).status,
      before: 200,
      after: 400,
    },
  },
  // The effect in gateways is tested in test/plugins/config-resolution/saved-only.test.ts.
  data_plane_security_settings: {
    block_inline_config: {
      value: true,
      shows: (plane) => documentSetting(plane, 'blockInlineConfig'),
      before: false,
      after: true,
    },
  },
  export_settings: {
    deniedFields: {
      value: ['cost'],
      shows: async (plane) => {
        const body = { workspace_id: plane.workspaceId, filters: {}, requested_data: ['cost'] };
        return (await plane.ask('POST', '/logs/exports', { body })).status;
      },
      before: 200,
      after: 400,
    },
  },
};

/** Settings of `PUT /organisations/{id}/auth-settings`. Tokens have tests of their own. */
export const ofSignIn: Readonly<Record<string, Row>> = {
  // Each part has its effect in test/admin/resources/scim/groups.test.ts.
  scim: { value: { workspace_prefix: 'team-' }, shows: rolesByName, before: 0, after: 1 },
  session_settings: {
    value: { max_session_ttl: 900 },
    // New sessions end earlier. The end of older sessions needs a clock: test/admin/identity/login.test.ts.
    shows: async (plane) => {
      const { token } = await newPerson(plane);
      const { expires_at } = (await plane.ask('GET', '/auth/self', { key: token })).body.session;
      return Date.parse(expires_at) - Date.now() <= 900_000;
    },
    before: false,
    after: true,
  },
  allowed_email_domains: { value: [{ domain: 'example.org' }], shows: invite, before: 200, after: 400 },
  disable_auto_provision_user: { value: true, shows: statusOfNewcomer, before: 200, after: 401 },
  require_sso: {
    value: true,
    shows: async (plane) => {
      const [owner, member] = [await newPerson(plane, 'owner'), await newPerson(plane)];
      return [
        (await login(plane, owner.email, owner.password)).status,
        (await login(plane, member.email, member.password)).status,
      ];
    },
    before: [200, 200],
    after: [200, 403],
  },
  require_second_factor: {
    value: true,
    shows: async (plane) => {
      enrolling ??= await newPerson(plane);
      return (await login(plane, enrolling.email, enrolling.password)).body.object;
    },
    before: 'session',
    after: 'second_factor_enrolment_required',
  },
};

/** A user from before a second factor was required. */
let enrolling: Person | undefined;

/** Settings of a workspace. Their effect in gateways is tested in test/plugins/config-resolution/metadata.test.ts. */
export const ofWorkspace: Readonly<Record<string, Row>> = {
  user_key_metadata: { value: 1, shows: (plane) => documentSetting(plane, 'userKeyMetadata'), before: false, after: true },
  user_key_metadata_override: {
    value: 1,
    shows: (plane) => documentSetting(plane, 'userKeyMetadataOverride'),
    before: false,
    after: true,
  },
  user_api_key_ttl: { value: 7_200, shows: secondsOfLife, before: null, after: 7_200 },
  user_api_key_count: { value: 1, shows: statusOfSecondKey, before: 200, after: 403 },
};

let groups = 0;

/** Number of mappings that a new group named `team-…` makes. */
async function rolesByName(plane: Plane): Promise<number> {
  const count = async () => (await plane.ask('GET', '/scim/workspaces')).body.total_count as number;
  const before = await count();
  const scim = await scimClient(plane);
  await scim('POST', '/Groups', { displayName: `team-${++groups}-role-member` });
  return (await count()) - before;
}
