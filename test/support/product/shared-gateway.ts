import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scopesByType } from '../../../admin/access/scopes.ts';
import { adminClient } from '../clients/admin-client.ts';
import { removeAfterRun, runDirectory } from '../runner/test-run.ts';
import { until } from '../until.ts';
import { type ChildRole, type GatewayOptions, pidsWithRole, type RunningGateway, startGateway } from './start-gateway.ts';

/**
 * A product that several test files share. None of them stops it or a process of it, or depends on an empty organisation. In its output
 * and its data directory they look only for their own values.
 */
export type SharedGateway = Omit<RunningGateway, 'stop' | 'kill'>;

/** Settings of the shared products that differ from the defaults. `idleMs` is that of `configured`. */
export const sharedSettings = { realtimeMessageBytesMax: 1024 * 1024, formBufferBytesMax: 2_000_000, idleMs: 2000 } as const;

/** The products of a run. Each starts when the first file asks for it, and ends with the run. */
const products = {
  /** One gateway process and the embedded database. */
  single: {
    database: 'embedded',
    env: {
      // Lives as long as the run, so that compiling its code a second time pays: a hundred seconds of CPU were spent in its control plane.
      NODE_OPTIONS: '',
      HEADER_PREFIX_ALIASES: 'x-portkey-',
      KEEP_ALIVE_WITHOUT_BODY: 'on',
      REALTIME_MESSAGE_MAX: String(sharedSettings.realtimeMessageBytesMax),
      FORM_BUFFER_MAX: String(sharedSettings.formBufferBytesMax),
      BATCH_INTERVAL: '50',
      // No proxy of the tests is in this network.
      TRUSTED_PROXIES: '10.0.0.0/8',
      COUNTRY_HEADER: 'cf-ipcountry',
      PLUGINS: 'config/examples/plugins/required-metadata.mjs',
      // Many files call from one address at once.
      ADMIN_REQUESTS_PER_KEY: '0',
      ADMIN_REQUESTS_PER_ADDRESS: '0',
    },
  },
  /** One gateway process, the database server if there is one, and settings that need a product of their own but do not disturb others. */
  configured: {
    env: {
      LOG_LEVEL: 'info',
      LOG_BODIES: 'database',
      LOG_MASKED_FIELDS: 'x-user-email',
      HEADERS_TO_METADATA: 'X-Team,x-absent',
      METADATA_MAP_KEY_PREFIX: 'header.',
      NODE_EXTRA_CA_CERTS: join(import.meta.dirname, '../tls/cert.pem'),
      TRUSTED_PROXIES: '127.0.0.0/8',
      COUNTRY_HEADER: 'cf-ipcountry',
      PLUGINS: [
        'config/examples/plugins/required-metadata.mjs',
        'test/e2e/fixtures/throwing-plugin.mjs',
        'test/e2e/fixtures/odd-plugin.mjs',
        'config/examples/plugins/allowed-topics.mjs',
      ].join(),
      PLUGIN_HOOK_TIMEOUT: '300',
      PROVIDERS: 'config/examples/providers/acme-ai/settings.mjs',
      IDLE_TIMEOUT: String(sharedSettings.idleMs),
      ADMIN_REQUESTS_PER_KEY: '0',
      ADMIN_REQUESTS_PER_ADDRESS: '0',
    },
  },
  /** Two gateway processes, and the database server if there is one. */
  pair: { env: { GATEWAY_PROCESSES: '2', ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' } },
} as const satisfies Record<string, GatewayOptions>;

export type SharedProduct = keyof typeof products;

let sharers = 0;

/** Returns a shared product of this run. The workspace and its key belong to the caller alone. */
export async function shareGateway(name: SharedProduct = 'single'): Promise<SharedGateway> {
  const { firstWorkspaceId, ...shared } = await runningProduct(name);
  const sharer = `${process.pid}-${++sharers}`;
  const { controlPlaneUrl, adminKey } = shared;
  const first = adminClient(controlPlaneUrl, adminKey, firstWorkspaceId);
  const workspaceId = String((await first.create('/admin/workspaces', { name: `Sharer ${sharer}` })).id);
  const admin = adminClient(controlPlaneUrl, adminKey, workspaceId, `int-${sharer}`);
  // As in the workspace of a first start.
  await admin.createProvider({ slug: 'mock', integration_id: 'mock' });
  const { key: workspaceKey } = await admin.createKey({ scopes: [...scopesByType['workspace-service']] });
  return { ...shared, workspaceKey, workspaceId, admin };
}

/** The data of a started product that other processes of the run need. */
interface Product extends Omit<SharedGateway, 'workspaceId' | 'workspaceKey' | 'admin' | 'output' | 'pidsOf'> {
  readonly firstWorkspaceId: string;
  /** Reason for which the start failed. */
  readonly error?: string;
}

async function runningProduct(name: SharedProduct) {
  const product = await productOf(name);
  return {
    ...product,
    output: () => readFileSync(outputOf(folderOf(name)), 'utf8'),
    pidsOf: (role: ChildRole) => pidsWithRole(product.pid, role),
  };
}

const folderOf = (name: SharedProduct): string => join(runDirectory(), `product-${name}`);
const outputOf = (folder: string): string => join(folder, 'output');

/** Returns the product. The first process that creates its folder starts it, the others wait for the file with its addresses. */
async function productOf(name: SharedProduct): Promise<Product> {
  const folder = folderOf(name);
  const file = join(folder, 'product.json');
  if (isFirst(folder)) {
    const started = await start(name, folder).catch((error: Error) => ({ error: error.message }));
    writeFileSync(`${file}.new`, JSON.stringify(started));
    renameSync(`${file}.new`, file);
  }
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as Product;
  const product = await until(read, { what: `the shared product "${name}"`, deadlineMs: 110_000 });
  if (product.error) throw new Error(`the shared product "${name}" did not start: ${product.error}`);
  return product;
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

async function start(name: SharedProduct, folder: string): Promise<Product> {
  const options: GatewayOptions = {
    ...products[name],
    parentDir: folder,
    outputFile: outputOf(folder),
    deadlineMs: 100_000,
  };
  const started = await startGateway(options);
  removeAfterRun('products', started.pid);
  const processes = Number(options.env?.GATEWAY_PROCESSES ?? 1);
  await until(() => started.pidsOf('gateway').length === processes, { what: `${processes} gateway processes` });
  const {
    origin,
    baseUrl,
    port,
    controlPlaneUrl,
    controlPlanePort,
    adminKey,
    dataDir,
    pid,
    workspaceId: firstWorkspaceId,
  } = started;
  const addresses = { origin, baseUrl, port, controlPlaneUrl, controlPlanePort };
  return { ...addresses, adminKey, dataDir, pid, firstWorkspaceId };
}
