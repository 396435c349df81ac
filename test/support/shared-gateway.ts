import { scopesByType } from '../../admin/access/scopes.ts';
import { adminClient } from './admin-client.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';
import { removeAfterRun, runDirectory } from './test-run.ts';

/** A product that several test files share. None of them reads its output, stops it or depends on an empty organisation. */
export type SharedGateway = Omit<RunningGateway, 'stop' | 'kill' | 'output' | 'dataDir' | 'pid' | 'pidsOf'>;

/** Settings of the shared product that differ from the defaults. */
export const sharedSettings = { realtimeMessageBytesMax: 1024 * 1024 } as const;

let shared: Promise<RunningGateway> | null = null;
let sharers = 0;

/** Returns the one shared product of this process, which ends with the run. The workspace and its key belong to the caller alone. */
export async function shareGateway(): Promise<SharedGateway> {
  shared ??= startShared().catch((error) => {
    shared = null;
    throw error;
  });
  const { origin, baseUrl, port, controlPlaneUrl, controlPlanePort, adminKey, admin: first } = await shared;
  const sharer = ++sharers;
  const made = await first.post('/admin/workspaces', { name: `Sharer ${sharer}` });
  if (made.status !== 200) throw new Error(`no workspace: ${JSON.stringify(made.body)}`);
  const workspaceId = String(made.body.id);
  const admin = adminClient(controlPlaneUrl, adminKey, workspaceId, `int-${sharer}`);
  const { key: workspaceKey } = await admin.createKey({ scopes: [...scopesByType['workspace-service']] });
  return { origin, baseUrl, port, controlPlaneUrl, controlPlanePort, adminKey, workspaceKey, workspaceId, admin };
}

async function startShared(): Promise<RunningGateway> {
  const env = {
    HEADER_PREFIX_ALIASES: 'x-portkey-',
    KEEP_ALIVE_WITHOUT_BODY: 'on',
    REALTIME_MESSAGE_MAX: String(sharedSettings.realtimeMessageBytesMax),
  };
  const started = await startGateway({ parentDir: runDirectory(), env, database: 'embedded' });
  removeAfterRun('products', started.pid);
  return started;
}
