import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditEntry, auditEntries } from '../../../admin/audit/entity.ts';
import { createOrganisation } from '../../../admin/bootstrap/create-organisation.ts';
import type { FirstKeys } from '../../../admin/bootstrap/first-start.ts';
import { newId } from '../../../admin/db/new-id.ts';
import { type OutboxEvent, outbox } from '../../../admin/publish/entity.ts';
import { writeChange } from '../../../admin/publish/write-change.ts';
import { type ControlPlane, type ControlPlaneDeps, startControlPlane } from '../../../admin/start-control-plane.ts';
import { loadSettings } from '../../../config/load-settings.ts';
import type { Settings } from '../../../config/settings.ts';
import type { ChangeNotice } from '../../../core/contract/protocol/notices/change-notice.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { inlineAllowed } from '../../support/product/inline-allowed.ts';
import { borrowDatabase, returnDatabase } from './shared-database.ts';
import type { DatabaseName } from './test-database.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of replies; the assertions are the check
  readonly body: any;
}

export interface Ask {
  /** Default: the admin key; null sends none. */
  readonly key?: string | null;
  /** Sent as JSON. Text is sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Tenant {
  readonly organisationId: string;
  readonly adminKey: string;
  readonly workspaceKey: string;
  readonly workspaceId: string;
}

/** A control plane under test, with the keys of its first start and access to its tables. */
export interface Plane extends Tenant {
  readonly url: string;
  readonly settings: Settings;
  readonly control: ControlPlane;
  readonly log: ReturnType<typeof newMemoryLog>;
  /** Notices in the order in which they were published. */
  readonly notices: ChangeNotice[];
  ask(method: string, path: string, ask?: Ask): Promise<Reply>;
  internal(method: string, path: string, body?: unknown, key?: string): Promise<Reply>;
  /** A key of the default workspace (or of `type`) with these scopes only. */
  newKey(scopes: readonly string[], type?: 'organisation/service' | 'workspace/service'): Promise<string>;
  /** A second organisation on the same database. */
  newTenant(): Promise<Tenant>;
  lastAudit(): Promise<AuditEntry>;
  auditCount(): Promise<number>;
  events(): Promise<OutboxEvent[]>;
  close(): Promise<void>;
}

/** Starts a control plane on a free port, and on an empty database that no other control plane uses. */
export async function startPlane(
  name: DatabaseName,
  env: Readonly<Record<string, string>> = {},
  deps: Pick<ControlPlaneDeps, 'clock' | 'resolveTxt'> = {},
): Promise<Plane> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-admin-'));
  const shared = env.DATABASE_URL ? null : await borrowDatabase(name);
  const settings = testSettings(dataDir, { ...(shared?.url ? { DATABASE_URL: shared.url } : {}), ...env });
  const plane = await startPlaneWith(settings, shared ? { ...deps, database: shared.database } : deps);
  return {
    ...plane,
    async close() {
      await plane.close();
      if (shared) returnDatabase(name, shared);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Settings as a process reads them, with a free port for the control plane. */
export function testSettings(dataDir: string, env: Readonly<Record<string, string>>): Settings {
  const key = () => randomBytes(32).toString('base64');
  const all = { DATA_DIR: dataDir, ENCRYPTION_KEY: key(), CLUSTER_KEY: key(), LOG_LEVEL: 'silent', ...inlineAllowed, ...env };
  return { ...loadSettings(all), controlPlanePort: 0 };
}

/** Starts with these settings. `close` keeps the data. */
export async function startPlaneWith(
  settings: Settings,
  deps: Pick<ControlPlaneDeps, 'clock' | 'database' | 'resolveTxt'> = {},
): Promise<Plane> {
  const log = newMemoryLog();
  const notices: ChangeNotice[] = [];
  const control = await startControlPlane(settings, {
    log,
    publish: (notice) => void notices.push(notice),
    strictReplies: true,
    // Databases that the caller opened do not hang. See `timeoutMs` in shared-database.ts.
    ...(deps.database ? { requestDeadlineMs: 60_000 } : {}),
    ...deps,
  });
  const url = `http://127.0.0.1:${control.port}`;
  const first = JSON.parse(await readFile(join(settings.dataDir, 'first-keys.json'), 'utf8')) as FirstKeys;
  const { database, vault, apiKeyPepper, auditKey } = control.services;

  async function send(method: string, target: string, headers: Record<string, string>, body: unknown): Promise<Reply> {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const init =
      text === undefined
        ? { method, headers }
        : { method, headers: { 'content-type': 'application/json', ...headers }, body: text };
    const reply = await fetch(target, init);
    return { status: reply.status, headers: reply.headers, body: await reply.json() };
  }

  const ask: Plane['ask'] = (method, path, { key = first.admin_key, body, headers = {} } = {}) =>
    send(method, `${url}/v1${path}`, { ...(key === null ? {} : { 'x-svc-api-key': key }), ...headers }, body);

  const organisationId = (await ask('GET', '/organisations/self')).body.data.id as string;
  return {
    url,
    settings,
    control,
    log,
    notices,
    organisationId,
    adminKey: first.admin_key,
    workspaceKey: first.workspace_key,
    workspaceId: first.workspace_id,
    ask,
    internal: (method, path, body, key = settings.clusterKeyText) =>
      send(method, `${url}/internal/v1${path}`, { authorization: `Bearer ${key}` }, body),
    async newKey(scopes, type = 'workspace/service') {
      const tenant = type === 'workspace/service' ? { workspace_id: first.workspace_id } : {};
      const made = await ask('POST', `/api-keys/${type}`, { body: { name: 'test key', scopes, ...tenant } });
      if (made.status !== 200) throw new Error(`no key: ${JSON.stringify(made.body)}`);
      return made.body.key as string;
    },
    async newTenant() {
      const id = newId();
      const sent = { id, name: 'Other', adminKey: null, workspaceKey: null, blockInlineConfig: false };
      const made = await writeChange(database.em(), auditKey, systemAudit(id), null, (change) =>
        createOrganisation(change, vault, apiKeyPepper, sent),
      );
      return { organisationId: id, ...made };
    },
    lastAudit: () =>
      database.em().findOneOrFail(auditEntries, { id: { $ne: null } }, { orderBy: { createdAt: 'desc', seq: 'desc' } }),
    auditCount: () => database.em().count(auditEntries),
    events: () => database.em().find(outbox, {}, { orderBy: { revision: 'asc' } }),
    close: () => control.close(),
  };
}

function systemAudit(organisationId: string) {
  return {
    organisationId,
    workspaceId: null,
    method: 'POST',
    uri: '/',
    requestId: newId(),
    requestBody: null,
    queryParams: {},
    userId: null,
    userType: 'system' as const,
    resourceType: 'organisations',
    action: 'create',
    clientIp: 'local',
  };
}
