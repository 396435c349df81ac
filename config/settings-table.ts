import { resolve } from 'node:path';
import * as v from 'valibot';
import {
  flag,
  isAddressOrRange,
  key32,
  listOf,
  oneOf,
  readableFile,
  type SettingType,
  text,
  url,
  wholeNumber,
} from './setting-types.ts';

/** One environment variable. The rows below are the single source of parsing, of `--help` and of the README's table. */
export interface Setting<Value> {
  readonly name: string;
  /** As a user would type it. Null: unset, and then the value is null or what `loadSettings` derives. */
  readonly default: string | null;
  /** What tables show where the default is not a fixed text. */
  readonly defaultShown?: string;
  readonly meaning: string;
  /** True when the value may hold a credential: it is then never repeated in a message. */
  readonly secret?: true;
  readonly type: SettingType<Value>;
}

const port = wholeNumber(0, 65_535);
const milliseconds = wholeNumber(0, 86_400_000, 'milliseconds');
const targets = wholeNumber(1, 10_000);
const hostPattern = /^[A-Za-z0-9._:-]+$/;
/** Header names, less those that carry credentials: metadata is kept and shown. */
const metadataHeaderPattern =
  /^(?!(?:authorization|proxy-authorization|cookie|set-cookie|api-key)$)(?![a-z0-9-]*(?:api-key|secret|token|password))[a-z0-9-]{1,64}$/i;
const prefixPattern = /^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*-$/;
const lowerCase = (type: SettingType<string>): SettingType<string> => ({
  ...type,
  schema: v.pipe(type.schema, v.toLowerCase()),
});

/** Every setting by its name in `Settings`, in the order tables show them. */
export const settingsTable = {
  host: row('HOST', '127.0.0.1', 'address the gateway listens on', text(hostPattern, 'an IP address or a host name')),
  port: row('PORT', '8787', 'port the gateway listens on; 0 takes any free one', port),
  controlPlaneHost: row(
    'CONTROL_PLANE_HOST',
    null,
    'address the control plane listens on; gateways of other machines need one they can reach',
    text(hostPattern, 'an IP address or a host name'),
    { defaultShown: '`127.0.0.1`; HOST if ROLE is control-plane' },
  ),
  controlPlanePort: row('CONTROL_PLANE_PORT', '8788', 'port the control plane listens on', port),
  controlPlaneUrl: row(
    'CONTROL_PLANE_URL',
    null,
    'where gateways reach the control plane',
    url(['http', 'https'], 'a URL such as http://10.0.0.5:8788'),
    { defaultShown: '`http://<CONTROL_PLANE_HOST>:<CONTROL_PLANE_PORT>`' },
  ),
  role: row('ROLE', 'all', 'what this machine runs', oneOf(['all', 'gateway', 'control-plane'])),
  gatewayProcesses: row('GATEWAY_PROCESSES', null, 'gateway processes that share the port', wholeNumber(1, 1024), {
    defaultShown: 'cores − 1, at least 2',
  }),
  watchdogMs: row(
    'WATCHDOG_TIMEOUT',
    '10000',
    'ms without a turn of its event loop after which a gateway process is killed and replaced; 0 = never',
    {
      schema: v.pipe(
        wholeNumber(0, 3_600_000).schema,
        v.check((ms) => ms === 0 || ms >= 500),
      ),
      expected: '0, or 500 to 3600000 milliseconds',
    },
  ),
  dataDir: row('DATA_DIR', '.data', 'folder of the embedded database, spool, last known good documents and generated keys', {
    schema: v.pipe(
      v.string(),
      v.minLength(1),
      v.transform((path) => resolve(path)),
    ),
    expected: 'the path of a folder',
  }),
  databaseUrl: row(
    'DATABASE_URL',
    null,
    'PostgreSQL 15 or newer instead of the embedded database',
    url(['postgres', 'postgresql'], 'a URL such as postgresql://user:password@host:5432/name'),
    { secret: true },
  ),
  dbPoolSize: row('DB_POOL_SIZE', '12', 'connections to PostgreSQL', wholeNumber(1, 1000)),
  natsUrl: row(
    'NATS_URL',
    null,
    'NATS instead of messages between the processes of one machine',
    url(['nats', 'tls', 'ws', 'wss'], 'a URL such as nats://host:4222'),
    { secret: true },
  ),
  encryptionKey: row('ENCRYPTION_KEY', null, 'wraps the keys of stored credentials; required unless ROLE is all', key32(), {
    secret: true,
    defaultShown: 'generated into DATA_DIR',
  }),
  clusterKey: row('CLUSTER_KEY', null, 'authenticates gateways to the control plane; required unless ROLE is all', key32(), {
    secret: true,
    defaultShown: 'generated into DATA_DIR',
  }),
  bootstrapAdminKey: row(
    'BOOTSTRAP_ADMIN_KEY',
    null,
    'the first admin key, instead of a generated one',
    text(/^svc_admin_[0-9A-Za-z]{12}_[0-9A-Za-z]{38,70}$/, 'an admin key (`npm run new:key -- admin` prints one)'),
    { secret: true },
  ),
  bootstrapWorkspaceKey: row(
    'BOOTSTRAP_WORKSPACE_KEY',
    null,
    'the first workspace key, instead of a generated one',
    text(/^svc_ws_[0-9A-Za-z]{12}_[0-9A-Za-z]{38,70}$/, 'a workspace key (`npm run new:key -- ws` prints one)'),
    { secret: true },
  ),
  bootstrapOwnerEmail: row(
    'BOOTSTRAP_OWNER_EMAIL',
    null,
    'e-mail of the first owner: the first start then also writes a link to set a password to first-keys.json',
    lowerCase(text(/^[^\s@<>"]{1,64}@[^\s@<>"]{1,189}$/, 'an e-mail address')),
  ),
  adminRequestsPerKey: row(
    'ADMIN_REQUESTS_PER_KEY',
    '6000',
    'control-plane requests of one key per minute and process; 0 = no limit',
    wholeNumber(0, 10_000_000),
  ),
  adminRequestsPerAddress: row(
    'ADMIN_REQUESTS_PER_ADDRESS',
    '12000',
    'control-plane requests of one address per minute and process, refused keys counting twentyfold; 0 = no limit',
    wholeNumber(0, 10_000_000),
  ),
  publicUrl: row(
    'PUBLIC_URL',
    null,
    'where people reach this service with a browser: in links of mails, and the origin that cookies are good for',
    url(['http', 'https'], 'a URL such as https://gateway.example.com'),
    { defaultShown: '`http(s)://<HOST>:<PORT>`' },
  ),
  smtpUrl: row(
    'SMTP_URL',
    null,
    'mail server for invites and links; without it links are only in replies. TLS is required once a password is sent',
    url(['smtp', 'smtps'], 'a URL such as smtps://user:password@mail.example.com'),
    { secret: true },
  ),
  smtpFrom: row(
    'SMTP_FROM',
    null,
    'sender of these mails',
    text(/^[^\s@<>"]+@[^\s@<>"]+$/, 'an e-mail address such as gateway@example.com'),
    { defaultShown: '`no-reply@<host of PUBLIC_URL>`' },
  ),
  inviteSeconds: row('INVITE_TTL', '604800', 'seconds until an invite expires', wholeNumber(60, 31_536_000, 'seconds')),
  sessionIdleSeconds: row(
    'SESSION_IDLE_TIMEOUT',
    '43200',
    'seconds without a request after which people must sign in again',
    wholeNumber(300, 31_536_000, 'seconds'),
  ),
  headerPrefix: row(
    'HEADER_PREFIX',
    'x-svc-',
    'prefix of the gateway’s own headers',
    lowerCase(text(prefixPattern, 'a header prefix that ends with -, such as x-svc-')),
  ),
  headerPrefixAliases: row(
    'HEADER_PREFIX_ALIASES',
    null,
    'comma list of further prefixes, accepted on requests and mirrored on replies',
    listOf(lowerCase(text(prefixPattern, 'a header prefix that ends with -'))),
  ),
  trustedProxies: row(
    'TRUSTED_PROXIES',
    null,
    'comma list of proxies in front, addresses or CIDR ranges: their `x-forwarded-for` says who calls',
    listOf({
      schema: v.pipe(v.string(), v.check(isAddressOrRange)),
      expected: 'an address or a CIDR range such as 10.0.0.0/8',
    }),
  ),
  countryHeader: row(
    'COUNTRY_HEADER',
    null,
    'header in which those proxies say from which country, for the audit trail; they must remove what clients send under it',
    lowerCase(text(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'the name of a header such as cf-ipcountry')),
  ),
  trustedCustomHosts: row(
    'TRUSTED_CUSTOM_HOSTS',
    null,
    'comma list of hosts that may be private addresses, for local models',
    listOf(
      lowerCase(
        text(
          /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+\/\d{1,3})(:\d{1,5})?$/,
          'a host, host:port or CIDR such as 127.0.0.1:11434',
        ),
      ),
    ),
  ),
  machineIdentity: row(
    'MACHINE_IDENTITY',
    'false',
    'whether stored providers may be called, and secret references read, as the machine itself, by every organisation: managed identities, instance roles, workload tokens',
    flag(),
  ),
  blockInlineConfig: row(
    'BLOCK_INLINE_CONFIG',
    'false',
    'whether requests may use saved configs and stored providers only, whatever organisations and workspaces say',
    flag(),
  ),
  bootstrapBlockInlineConfig: row(
    'BOOTSTRAP_BLOCK_INLINE_CONFIG',
    'true',
    'whether the organisation of the first start blocks inline configs and providers; the organisation setting block_inline_config changes it later',
    flag(),
  ),
  headersToMetadata: row(
    'HEADERS_TO_METADATA',
    null,
    'comma list of request headers that become metadata; none that carries credentials',
    listOf(lowerCase(text(metadataHeaderPattern, 'the name of a header that carries no credential'))),
  ),
  metadataKeyPrefix: row(
    'METADATA_MAP_KEY_PREFIX',
    null,
    'what stands before the names of those headers in metadata',
    text(/^[A-Za-z0-9_.-]{1,32}$/, 'at most 32 letters, digits, _, . and -'),
  ),
  keptOnManyTargets: row(
    'FILES_ON_MANY_TARGETS',
    'false',
    'whether configs with several targets may be used for files, batches and fine-tuning jobs',
    flag(),
  ),
  fileBytesMax: row(
    'FILE_MAX',
    '536870912',
    'bytes of one file in the service’s own store',
    wholeNumber(1024, 8_589_934_592, 'bytes'),
  ),
  workspaceFilesMax: row('WORKSPACE_FILES_MAX', '100000', 'files one workspace keeps there', wholeNumber(1, 10_000_000)),
  workspaceFileBytesMax: row(
    'WORKSPACE_FILE_BYTES_MAX',
    '107374182400',
    'bytes of all files one workspace keeps there',
    wholeNumber(1024, 1_125_899_906_842_624, 'bytes'),
  ),
  gatewayUrl: row(
    'GATEWAY_URL',
    null,
    'where the control plane reaches a gateway, to send the lines of batches',
    url(['http', 'https'], 'a URL such as http://10.0.0.4:8787'),
    { defaultShown: '`http(s)://<HOST>:<PORT>`' },
  ),
  batchBucketLines: row(
    'BATCH_BUCKET_LINES',
    '25',
    'lines of a batch that are sent to a gateway at a time',
    wholeNumber(1, 1000),
  ),
  batchIntervalMs: row('BATCH_INTERVAL', '5000', 'ms from one such bucket to the next', milliseconds),
  batchPollMs: row(
    'BATCH_POLL_INTERVAL',
    '60000',
    'ms until a provider is asked again whether a batch it runs is over; the older the batch, the longer',
    wholeNumber(10, 900_000, 'milliseconds'),
  ),
  jobLeaseMs: row(
    'JOB_LEASE',
    '15000',
    'ms after which a job (a batch, say) of a control plane that has died goes on in another one',
    wholeNumber(2000, 600_000, 'milliseconds'),
  ),
  requestTimeoutMs: row(
    'REQUEST_TIMEOUT',
    '600000',
    'ms until a provider’s whole reply must be there; 0 = no limit',
    milliseconds,
  ),
  idleTimeoutMs: row('IDLE_TIMEOUT', '120000', 'ms of silence after which a streamed reply is cut; 0 = no limit', milliseconds),
  connectTimeoutMs: row(
    'CONNECT_TIMEOUT',
    '10000',
    'ms until a connection to a provider must stand',
    wholeNumber(1, 600_000, 'milliseconds'),
  ),
  retryBudgetPercent: row(
    'RETRY_BUDGET',
    '20',
    'percent of requests that may be retries, for each organisation and provider host',
    wholeNumber(0, 100, 'percent'),
  ),
  retryBudgetFloor: row(
    'RETRY_BUDGET_FLOOR',
    '30',
    'retries within ten seconds that are allowed beyond that share',
    wholeNumber(0, 1_000_000),
  ),
  rootTargetsMax: row('MAX_ROOT_CONFIG_TARGETS', '100', 'targets at the root of a config', targets),
  conditionalRootTargetsMax: row(
    'MAX_CONDITIONAL_ROOT_CONFIG_TARGETS',
    '1000',
    'the same where its strategy is conditional',
    targets,
  ),
  nestedTargetsMax: row('MAX_NESTED_CONFIG_TARGETS', '50', 'targets below any one target of the root, at all depths', targets),
  logLevel: row(
    'LOG_LEVEL',
    'info',
    'least severe log line that is written',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  ),
  logFormat: row(
    'LOG_FORMAT',
    'auto',
    'format of log lines: json, pretty (for people), or auto: pretty on a terminal, json elsewhere',
    oneOf(['auto', 'json', 'pretty']),
  ),
  tlsCert: row('TLS_CERT', null, 'PEM file of the gateway’s certificate; together with TLS_KEY', readableFile('PEM file')),
  tlsKey: row('TLS_KEY', null, 'PEM file of its private key', readableFile('PEM file')),
  corsOrigins: row(
    'CORS_ORIGINS',
    null,
    'comma list of origins that browsers may call from; * for any',
    listOf({
      schema: v.pipe(
        v.string(),
        v.check((origin) => origin === '*' || URL.parse(origin)?.origin === origin),
      ),
      expected: 'an origin such as https://app.example.com, or *',
    }),
  ),
  plugins: row(
    'PLUGINS',
    null,
    'comma list of files or npm packages of further plugins',
    listOf(text(/^\S+$/, 'a file or package name')),
  ),
  hookTimeoutMs: row(
    'PLUGIN_HOOK_TIMEOUT',
    '2000',
    'ms that one call of a hook of such a plugin may take before its request fails; a plugin may set its own limit',
    wholeNumber(1, 600_000, 'milliseconds'),
  ),
  drainDelayMs: row(
    'DRAIN_DELAY',
    '0',
    'ms between a stop signal, from which on /ready is 503, and the close of the listener: time for load balancers to notice',
    wholeNumber(0, 600_000, 'milliseconds'),
  ),
  drainTimeoutMs: row('DRAIN_TIMEOUT', '30000', 'ms that running requests may take after a stop signal', milliseconds),
  realtimeSessionsMax: row(
    'REALTIME_SESSIONS_MAX',
    '1000',
    'WebSocket sessions one gateway process has at a time before it answers 503',
    wholeNumber(0, 1_000_000),
  ),
  realtimeSessionsPerOrganisationMax: row(
    'REALTIME_SESSIONS_PER_ORGANISATION',
    '500',
    'of these, sessions of one organisation before it is answered 429; 0 = no limit',
    wholeNumber(0, 1_000_000),
  ),
  realtimeSessionsPerWorkspaceMax: row(
    'REALTIME_SESSIONS_PER_WORKSPACE',
    '500',
    'the same of one workspace; 0 = no limit',
    wholeNumber(0, 1_000_000),
  ),
  realtimeSessionsPerKeyMax: row(
    'REALTIME_SESSIONS_PER_KEY',
    '250',
    'the same of one API key; 0 = no limit',
    wholeNumber(0, 1_000_000),
  ),
  realtimeMessageBytesMax: row(
    'REALTIME_MESSAGE_MAX',
    '16777216',
    'bytes of one WebSocket message, either way',
    wholeNumber(1024, 268_435_456, 'bytes'),
  ),
  realtimeIdleMs: row(
    'REALTIME_IDLE_TIMEOUT',
    '600000',
    'ms without a message after which a WebSocket session is closed; 0 = no limit',
    milliseconds,
  ),
  realtimeTotalMs: row('REALTIME_SESSION_TIMEOUT', '7200000', 'ms a WebSocket session may last; 0 = no limit', milliseconds),
  realtimeDrainMs: row(
    'REALTIME_DRAIN_TIMEOUT',
    '10000',
    'ms WebSocket sessions may go on after a stop signal; no longer than DRAIN_TIMEOUT',
    milliseconds,
  ),
  realtimeRecordMs: row(
    'REALTIME_RECORD_INTERVAL',
    '10000',
    'ms after which what an open WebSocket session has used is written down again: a killed process loses no more than that',
    wholeNumber(100, 3_600_000),
  ),
  jsonBodyBytesMax: row('JSON_BODY_MAX', '33554432', 'bytes of a JSON request body', wholeNumber(1024, 1_073_741_824, 'bytes')),
  jsonValuesMax: row(
    'JSON_VALUES_MAX',
    '500000',
    'values in one JSON request body, counting five for each object and array: parsing more would block other requests',
    wholeNumber(1000, 100_000_000),
  ),
  formBytesMax: row(
    'FORM_BUFFER_MAX',
    '33554432',
    'bytes up to which a multipart body is kept, so that it can be sent a second time; a larger one streams through',
    wholeNumber(1024, 1_073_741_824, 'bytes'),
  ),
  bodyMemoryBytesMax: row(
    'BODY_MEMORY_MAX',
    '536870912',
    'bytes of request and reply bodies one gateway process holds before it answers 503',
    wholeNumber(1_048_576, 1_099_511_627_776, 'bytes'),
  ),
  streamedBodyBytesMax: row(
    'STREAMED_BODY_MAX',
    '536870912',
    'bytes of a request body that is passed through',
    wholeNumber(1024, 1_099_511_627_776, 'bytes'),
  ),
  headerBytesMax: row('HEADERS_MAX', '65536', 'bytes of a request’s header block', wholeNumber(4096, 1_048_576, 'bytes')),
  requestsInFlightMax: row(
    'REQUESTS_IN_FLIGHT_MAX',
    '20000',
    'requests one gateway process works on before it answers 503',
    wholeNumber(1, 1_000_000),
  ),
  documentCacheEntries: row(
    'DOCUMENT_CACHE_ENTRIES',
    '50000',
    'keys, configs and providers each gateway process keeps in memory',
    wholeNumber(100, 10_000_000),
  ),
  secretReferenceTtlSeconds: row(
    'SECRET_REFERENCE_TTL_SECONDS',
    '300',
    'seconds a value read from a secret manager is used before it is read again',
    wholeNumber(1, 86_400, 'seconds'),
  ),
  recordRetentionDays: row(
    'RECORD_RETENTION_DAYS',
    '90',
    'days the control plane keeps request records (`GET /v1/logs`); older ones are deleted every hour; 0 = keep all',
    wholeNumber(0, 36_500, 'days'),
  ),
  spoolBytesMax: row(
    'SPOOL_MAX',
    '8589934592',
    'bytes of records that wait on disk before requests are refused',
    wholeNumber(1_048_576, 1_099_511_627_776, 'bytes'),
  ),
  uwsBinary: row(
    'UWS_BINARY',
    'auto',
    'which HTTP server binary to load: auto, uwsjs, uws-pack or the path of a `.node` file; auto prefers uwsjs',
    text(/^(?:auto|uws-pack|uwsjs|\/.+\.node)$/, 'auto, uws-pack, uwsjs or the path of a .node file'),
  ),
  keepAliveWithoutBody: row(
    'KEEP_ALIVE_WITHOUT_BODY',
    'auto',
    'auto closes a connection after a request without a body if the binary accepts empty header names; on keeps it open',
    oneOf(['auto', 'on']),
  ),
  metrics: row('METRICS', 'true', 'serve GET /metrics, on gateways and on the control plane', flag()),
  metricsToken: row(
    'METRICS_TOKEN',
    null,
    'bearer token that GET /metrics requires; without it anybody who reaches the port can read the metrics',
    text(/^[A-Za-z0-9._~+/=-]{16,200}$/, 'a token of 16 to 200 characters (`openssl rand -hex 32` prints one)'),
    { secret: true },
  ),
} as const;

export type SettingKey = keyof typeof settingsTable;

function row<Value>(
  name: string,
  fallback: string | null,
  meaning: string,
  type: SettingType<Value>,
  more: Pick<Setting<Value>, 'secret' | 'defaultShown'> = {},
): Setting<Value> {
  return { name, default: fallback, meaning, type, ...more };
}
