import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings, SettingsError } from '../../config/load-settings.ts';
import { misspeltSettings } from '../../config/misspelt-settings.ts';
import { settingsTable } from '../../config/settings-table.ts';

const keys = { ENCRYPTION_KEY: randomBytes(32).toString('base64'), CLUSTER_KEY: randomBytes(32).toString('base64') };

function issuesOf(env: Record<string, string>): readonly string[] {
  try {
    loadSettings({ ...keys, ...env });
  } catch (error) {
    if (error instanceof SettingsError) return error.issues;
    throw error;
  }
  return [];
}

describe('loadSettings', () => {
  it('rejects content in spans without bodies in logs', () => {
    const content = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'span_only' };
    expect(issuesOf(content)).toEqual([expect.stringContaining('LOG_BODIES is off')]);
    expect(issuesOf({ ...content, LOG_BODIES: 'database' })).toEqual([]);
  });

  it('fills every setting with its documented default', () => {
    expect(loadSettings(keys)).toEqual({
      host: '127.0.0.1',
      port: 8787,
      controlPlaneHost: '127.0.0.1',
      controlPlanePort: 8788,
      controlPlaneUrl: 'http://127.0.0.1:8788',
      role: 'all',
      gatewayProcesses: Math.max(2, availableParallelism() - 1),
      watchdogMs: 10_000,
      dataDir: resolve('.data'),
      databaseUrl: null,
      dbPoolSize: 12,
      natsUrl: null,
      encryptionKey: new Uint8Array(Buffer.from(keys.ENCRYPTION_KEY, 'base64')),
      clusterKey: new Uint8Array(Buffer.from(keys.CLUSTER_KEY, 'base64')),
      clusterKeyText: keys.CLUSTER_KEY,
      bootstrapAdminKey: null,
      bootstrapWorkspaceKey: null,
      bootstrapOwnerEmail: null,
      adminRequestsPerKey: 6_000,
      adminRequestsPerAddress: 12_000,
      publicUrl: 'http://127.0.0.1:8787',
      smtpUrl: null,
      smtpFrom: 'no-reply@127.0.0.1',
      inviteSeconds: 604_800,
      sessionIdleSeconds: 43_200,
      headerPrefix: 'x-svc-',
      headerPrefixAliases: [],
      trustedProxies: [],
      countryHeader: null,
      trustedCustomHosts: [],
      machineIdentity: false,
      blockInlineConfig: false,
      bootstrapBlockInlineConfig: true,
      headersToMetadata: [],
      metadataKeyPrefix: '',
      storedOnManyTargets: false,
      fileBytesMax: 536_870_912,
      workspaceFilesMax: 100_000,
      workspaceFileBytesMax: 107_374_182_400,
      gatewayUrl: 'http://127.0.0.1:8787',
      batchBucketLines: 25,
      batchIntervalMs: 5_000,
      batchPollMs: 60_000,
      jobLeaseMs: 15_000,
      requestTimeoutMs: 600_000,
      idleTimeoutMs: 120_000,
      connectTimeoutMs: 10_000,
      mcpRequestTimeoutMs: 60_000,
      retryBudgetPercent: 20,
      retryBudgetFloor: 30,
      rootTargetsMax: 100,
      conditionalRootTargetsMax: 1000,
      nestedTargetsMax: 50,
      logLevel: 'info',
      logFormat: 'auto',
      tlsCert: null,
      tlsKey: null,
      corsOrigins: [],
      plugins: [],
      providers: [],
      hookTimeoutMs: 2000,
      cacheShared: true,
      cacheStoreTimeoutMs: 50,
      cacheMemoryBytesMax: 67_108_864,
      semanticEmbeddingProvider: null,
      semanticEmbeddingModel: 'text-embedding-3-small',
      semanticEmbeddingDimensions: 0,
      semanticThreshold: 0.95,
      semanticTimeoutMs: 500,
      workerThreads: 1,
      workerQueueMax: 1000,
      workerTaskMs: 5000,
      workerMemoryMegabytes: 256,
      drainDelayMs: 0,
      drainTimeoutMs: 30_000,
      realtimeSessionsMax: 1000,
      realtimeSessionsPerOrganisationMax: 500,
      realtimeSessionsPerWorkspaceMax: 500,
      realtimeSessionsPerKeyMax: 250,
      realtimeMessageBytesMax: 16 * 1024 * 1024,
      realtimeIdleMs: 600_000,
      realtimeTotalMs: 7_200_000,
      realtimeDrainMs: 10_000,
      realtimeRecordMs: 10_000,
      jsonBodyBytesMax: 32 * 1024 * 1024,
      jsonValuesMax: 500_000,
      formBytesMax: 32 * 1024 * 1024,
      bodyMemoryBytesMax: 512 * 1024 * 1024,
      streamedBodyBytesMax: 512 * 1024 * 1024,
      headerBytesMax: 65_536,
      requestsInFlightMax: 20_000,
      documentCacheEntries: 50_000,
      secretReferenceTtlSeconds: 300,
      recordRetentionDays: 90,
      logExportDays: 7,
      analyticsRetentionDays: 400,
      spoolBytesMax: 8 * 1024 * 1024 * 1024,
      uwsBinary: 'auto',
      keepAliveWithoutBody: 'auto',
      metrics: true,
      metricsToken: null,
      metricsLabels: [],
      metricsSeriesMax: 1000,
      logBodies: 'off',
      logBodyBytesMax: 262_144,
      logQueueBytesMax: 32 * 1024 * 1024,
      logMaskedFields: [],
      otelDisabled: false,
      otlpUrl: null,
      otlpTracesUrl: null,
      otlpMetricsUrl: null,
      otlpLogsUrl: null,
      otlpHeaders: null,
      otlpProtocol: 'http/json',
      otlpCompression: 'none',
      otlpTimeoutMs: 10_000,
      otelTraces: 'otlp',
      otelMetrics: 'otlp',
      otelLogs: 'none',
      traceContextToProviders: false,
      otelServiceName: 'svc-gateway',
      otelResource: null,
      otelQueueMax: 8192,
      otelBatchMax: 512,
      otelDelayMs: 5000,
      otelMetricMs: 60_000,
      otelContent: 'no_content',
      otelContentCharsMax: 32_768,
      deployment: 'default',
      deploymentTags: null,
      deploymentSourceType: 'self_hosted',
      deploymentOrganisation: null,
      deploymentStaleSeconds: 90,
      deploymentRemovedSeconds: 86_400,
    });
  });

  it('keeps the control plane on loopback beside gateways, and on HOST if it runs alone', () => {
    expect(loadSettings({ ...keys, HOST: '0.0.0.0' }).controlPlaneHost).toBe('127.0.0.1');
    expect(loadSettings({ ...keys, HOST: '0.0.0.0', ROLE: 'control-plane' }).controlPlaneHost).toBe('0.0.0.0');
    expect(loadSettings({ ...keys, CONTROL_PLANE_HOST: '::1' }).controlPlaneUrl).toBe('http://[::1]:8788');
  });

  it('reads every setting from its environment variable', () => {
    const folder = mkdtempSync(join(tmpdir(), 'settings-'));
    const pem = join(folder, 'file.pem');
    writeFileSync(pem, 'pem');
    const env = {
      ...keys,
      HOST: '::1',
      PORT: '1234',
      CONTROL_PLANE_HOST: '10.0.0.5',
      CONTROL_PLANE_PORT: '1235',
      CONTROL_PLANE_URL: 'https://control.example.com:9000//',
      ROLE: 'Gateway',
      GATEWAY_PROCESSES: '3',
      WATCHDOG_TIMEOUT: '500',
      DATA_DIR: folder,
      DATABASE_URL: 'postgresql://user:word@db:5432/gateway',
      DB_POOL_SIZE: '20',
      NATS_URL: 'nats://bus:4222, nats://other:4222/',
      BOOTSTRAP_ADMIN_KEY: `svc_admin_${'a'.repeat(12)}_${'b'.repeat(46)}`,
      BOOTSTRAP_WORKSPACE_KEY: `svc_ws_${'a'.repeat(12)}_${'b'.repeat(46)}`,
      BOOTSTRAP_OWNER_EMAIL: 'owner@example.com',
      PUBLIC_URL: 'https://gateway.example.com/',
      SMTP_URL: 'smtps://user:password@mail.example.com',
      SMTP_FROM: 'gateway@example.com',
      INVITE_TTL: '3600',
      SESSION_IDLE_TIMEOUT: '900',
      ADMIN_REQUESTS_PER_KEY: '11',
      ADMIN_REQUESTS_PER_ADDRESS: '12',
      HEADER_PREFIX: 'X-Acme-',
      HEADER_PREFIX_ALIASES: 'x-one-, X-Two-,x-acme-',
      TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      COUNTRY_HEADER: 'CF-IPCountry',
      TRUSTED_CUSTOM_HOSTS: 'localhost:11434, 127.0.0.1,10.0.0.0/8,[::1]:80,fd00::/8',
      MACHINE_IDENTITY: 'on',
      BLOCK_INLINE_CONFIG: 'on',
      BOOTSTRAP_BLOCK_INLINE_CONFIG: 'off',
      HEADERS_TO_METADATA: 'X-Team, x-cost-centre',
      METADATA_MAP_KEY_PREFIX: 'header.',
      FILES_ON_MANY_TARGETS: 'on',
      FILE_MAX: '2048',
      WORKSPACE_FILES_MAX: '5',
      WORKSPACE_FILE_BYTES_MAX: '4096',
      GATEWAY_URL: 'http://10.0.0.4:8787/',
      BATCH_BUCKET_LINES: '7',
      BATCH_INTERVAL: '8',
      BATCH_POLL_INTERVAL: '10',
      JOB_LEASE: '3000',
      REQUEST_TIMEOUT: '1',
      IDLE_TIMEOUT: '0',
      CONNECT_TIMEOUT: '3',
      MCP_REQUEST_TIMEOUT: '4',
      RETRY_BUDGET: '50',
      RETRY_BUDGET_FLOOR: '0',
      MAX_ROOT_CONFIG_TARGETS: '7',
      MAX_CONDITIONAL_ROOT_CONFIG_TARGETS: '8',
      MAX_NESTED_CONFIG_TARGETS: '9',
      LOG_LEVEL: 'DEBUG',
      LOG_FORMAT: 'Pretty',
      TLS_CERT: pem,
      TLS_KEY: pem,
      CORS_ORIGINS: 'https://app.example.com,http://localhost:3000',
      PLUGINS: './mine.ts, some-package',
      PROVIDERS: './provider.mjs',
      PLUGIN_HOOK_TIMEOUT: '750',
      CACHE_SHARED: 'false',
      CACHE_STORE_TIMEOUT: '80',
      CACHE_MEMORY_MAX: '2000000',
      SEMANTIC_CACHE_EMBEDDING_PROVIDER: '@embeddings',
      SEMANTIC_CACHE_EMBEDDING_MODEL: 'text-embedding-3-large',
      SEMANTIC_CACHE_EMBEDDING_DIMENSIONS: '256',
      SEMANTIC_CACHE_SIMILARITY_THRESHOLD: '0.97',
      SEMANTIC_CACHE_TIMEOUT: '300',
      WORKER_THREADS: '3',
      WORKER_QUEUE: '50',
      WORKER_TASK_TIMEOUT: '700',
      WORKER_MEMORY: '512',
      DRAIN_DELAY: '6',
      DRAIN_TIMEOUT: '5',
      REALTIME_SESSIONS_MAX: '9',
      REALTIME_SESSIONS_PER_ORGANISATION: '8',
      REALTIME_SESSIONS_PER_WORKSPACE: '7',
      REALTIME_SESSIONS_PER_KEY: '0',
      REALTIME_MESSAGE_MAX: '1024',
      REALTIME_IDLE_TIMEOUT: '0',
      REALTIME_SESSION_TIMEOUT: '6',
      REALTIME_DRAIN_TIMEOUT: '4',
      REALTIME_RECORD_INTERVAL: '200',
      JSON_BODY_MAX: '2048',
      JSON_VALUES_MAX: '3000',
      FORM_BUFFER_MAX: '3072',
      BODY_MEMORY_MAX: '2097152',
      STREAMED_BODY_MAX: '4096',
      HEADERS_MAX: '8192',
      REQUESTS_IN_FLIGHT_MAX: '7',
      DOCUMENT_CACHE_ENTRIES: '100',
      SECRET_REFERENCE_TTL_SECONDS: '60',
      RECORD_RETENTION_DAYS: '7',
      LOG_EXPORT_DAYS: '30',
      ANALYTICS_RETENTION_DAYS: '8',
      SPOOL_MAX: '2000000',
      UWS_BINARY: '/opt/uws.node',
      KEEP_ALIVE_WITHOUT_BODY: 'on',
      METRICS_TOKEN: 'metrics-token-0123',
      METRICS_LABELS: 'model, metadata.team_name',
      METRICS_SERIES_MAX: '50',
      LOG_BODIES: 'database',
      LOG_BODY_MAX: '2048',
      LOG_BODIES_QUEUE: '70000',
      LOG_MASKED_FIELDS: 'X-User-Email, patient_name',
      OTEL_SDK_DISABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/otlp?key=a',
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://collector:9090/api/v1/otlp/v1/metrics',
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://collector:3100/otlp/v1/logs',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi, x-scope = a',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_TIMEOUT: '3000',
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'otlp',
      TRACE_CONTEXT_TO_PROVIDERS: 'true',
      OTEL_SERVICE_NAME: 'gateway of the shop',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production,team=a%2Cb',
      OTEL_BSP_MAX_QUEUE_SIZE: '100',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '50',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_METRIC_EXPORT_INTERVAL: '10000',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY',
      OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT: '1000',
      DEPLOYMENT_NAME: 'eu_1',
      DEPLOYMENT_TAGS: 'region=eu-west-1, team=a%2Cb',
      DEPLOYMENT_SOURCE_TYPE: 'helm',
      DEPLOYMENT_ORGANISATION: '00000000-0000-4000-8000-000000000001',
      DEPLOYMENT_STALE_AFTER: '30',
      DEPLOYMENT_REMOVED_AFTER: '60',
      METRICS: 'off',
    };
    const names = Object.values(settingsTable).map((row) => row.name);
    expect(Object.keys(env).sort()).toEqual([...names].sort());
    expect(loadSettings(env)).toMatchObject({
      host: '::1',
      port: 1234,
      controlPlaneHost: '10.0.0.5',
      controlPlanePort: 1235,
      controlPlaneUrl: 'https://control.example.com:9000',
      role: 'gateway',
      gatewayProcesses: 3,
      watchdogMs: 500,
      dataDir: folder,
      databaseUrl: 'postgresql://user:word@db:5432/gateway',
      dbPoolSize: 20,
      natsUrl: 'nats://bus:4222,nats://other:4222',
      bootstrapAdminKey: env.BOOTSTRAP_ADMIN_KEY,
      bootstrapWorkspaceKey: env.BOOTSTRAP_WORKSPACE_KEY,
      bootstrapOwnerEmail: 'owner@example.com',
      publicUrl: 'https://gateway.example.com',
      smtpUrl: 'smtps://user:password@mail.example.com',
      smtpFrom: 'gateway@example.com',
      inviteSeconds: 3_600,
      sessionIdleSeconds: 900,
      adminRequestsPerKey: 11,
      adminRequestsPerAddress: 12,
      headerPrefix: 'x-acme-',
      headerPrefixAliases: ['x-one-', 'x-two-'],
      trustedProxies: ['10.0.0.0/8', '::1'],
      countryHeader: 'cf-ipcountry',
      trustedCustomHosts: ['localhost:11434', '127.0.0.1', '10.0.0.0/8', '[::1]:80', 'fd00::/8'],
      blockInlineConfig: true,
      bootstrapBlockInlineConfig: false,
      headersToMetadata: ['x-team', 'x-cost-centre'],
      metadataKeyPrefix: 'header.',
      storedOnManyTargets: true,
      fileBytesMax: 2048,
      workspaceFilesMax: 5,
      workspaceFileBytesMax: 4096,
      gatewayUrl: 'http://10.0.0.4:8787',
      batchBucketLines: 7,
      batchIntervalMs: 8,
      batchPollMs: 10,
      jobLeaseMs: 3_000,
      requestTimeoutMs: 1,
      idleTimeoutMs: 0,
      connectTimeoutMs: 3,
      mcpRequestTimeoutMs: 4,
      retryBudgetPercent: 50,
      retryBudgetFloor: 0,
      rootTargetsMax: 7,
      conditionalRootTargetsMax: 8,
      nestedTargetsMax: 9,
      logLevel: 'debug',
      logFormat: 'pretty',
      tlsCert: pem,
      tlsKey: pem,
      corsOrigins: ['https://app.example.com', 'http://localhost:3000'],
      plugins: ['./mine.ts', 'some-package'],
      providers: ['./provider.mjs'],
      hookTimeoutMs: 750,
      cacheShared: false,
      cacheStoreTimeoutMs: 80,
      cacheMemoryBytesMax: 2_000_000,
      semanticEmbeddingProvider: '@embeddings',
      semanticEmbeddingModel: 'text-embedding-3-large',
      semanticEmbeddingDimensions: 256,
      semanticThreshold: 0.97,
      semanticTimeoutMs: 300,
      workerThreads: 3,
      workerQueueMax: 50,
      workerTaskMs: 700,
      workerMemoryMegabytes: 512,
      drainDelayMs: 6,
      drainTimeoutMs: 5,
      realtimeSessionsMax: 9,
      realtimeSessionsPerOrganisationMax: 8,
      realtimeSessionsPerWorkspaceMax: 7,
      realtimeSessionsPerKeyMax: 0,
      realtimeMessageBytesMax: 1024,
      realtimeIdleMs: 0,
      realtimeTotalMs: 6,
      realtimeDrainMs: 4,
      realtimeRecordMs: 200,
      jsonBodyBytesMax: 2048,
      jsonValuesMax: 3000,
      formBytesMax: 3072,
      bodyMemoryBytesMax: 2 * 1024 * 1024,
      streamedBodyBytesMax: 4096,
      headerBytesMax: 8192,
      requestsInFlightMax: 7,
      documentCacheEntries: 100,
      secretReferenceTtlSeconds: 60,
      recordRetentionDays: 7,
      logExportDays: 30,
      analyticsRetentionDays: 8,
      spoolBytesMax: 2_000_000,
      uwsBinary: '/opt/uws.node',
      keepAliveWithoutBody: 'on',
      metricsToken: 'metrics-token-0123',
      metricsLabels: ['model', 'metadata.team_name'],
      metricsSeriesMax: 50,
      logBodies: 'database',
      logBodyBytesMax: 2_048,
      logQueueBytesMax: 70_000,
      logMaskedFields: ['x-user-email', 'patient_name'],
      otelDisabled: true,
      otlpUrl: 'http://collector:4318',
      otlpTracesUrl: 'https://traces.example.com/otlp?key=a',
      otlpMetricsUrl: 'http://collector:9090/api/v1/otlp/v1/metrics',
      otlpLogsUrl: 'http://collector:3100/otlp/v1/logs',
      otlpHeaders: { authorization: 'Basic YTpi', 'x-scope': 'a' },
      otlpProtocol: 'http/protobuf',
      otlpCompression: 'gzip',
      otlpTimeoutMs: 3000,
      otelTraces: 'none',
      otelMetrics: 'none',
      otelLogs: 'otlp',
      traceContextToProviders: true,
      otelServiceName: 'gateway of the shop',
      otelResource: { 'deployment.environment.name': 'production', team: 'a,b' },
      otelQueueMax: 100,
      otelBatchMax: 50,
      otelDelayMs: 100,
      otelMetricMs: 10_000,
      otelContent: 'span_only',
      otelContentCharsMax: 1_000,
      deployment: 'eu_1',
      deploymentTags: { region: 'eu-west-1', team: 'a,b' },
      deploymentSourceType: 'helm',
      deploymentOrganisation: '00000000-0000-4000-8000-000000000001',
      deploymentStaleSeconds: 30,
      deploymentRemovedSeconds: 60,
      metrics: false,
    });
  });

  it('treats an empty variable as unset', () => {
    expect(loadSettings({ ...keys, PORT: '', HOST: ' ', PLUGINS: '' })).toMatchObject({
      port: 8787,
      host: '127.0.0.1',
      plugins: [],
    });
  });

  it('names given and expected values, one line per error, all at once', () => {
    expect(issuesOf({ PORT: '70000', ROLE: 'boss', GATEWAY_PROCESSES: '1e3', METRICS: 'maybe' })).toEqual([
      'PORT: got "70000", expected a whole number from 0 to 65535',
      'ROLE: got "boss", expected one of all, gateway, control-plane',
      'GATEWAY_PROCESSES: got "1e3", expected a whole number from 1 to 1024',
      'METRICS: got "maybe", expected true or false',
    ]);
  });

  it.each([
    ['HOST', 'a b'],
    ['CONTROL_PLANE_URL', 'ftp://x'],
    ['CONTROL_PLANE_URL', 'nothing'],
    ['HEADER_PREFIX', 'x-svc'],
    ['HEADER_PREFIX_ALIASES', 'x-ok-,bad'],
    ['TRUSTED_CUSTOM_HOSTS', 'http://localhost'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.1,proxy.example.com'],
    ['CORS_ORIGINS', 'https://app.example.com/path'],
    ['TLS_CERT', '/nowhere/at-all.pem'],
    ['REQUEST_TIMEOUT', '-1'],
    ['REQUEST_TIMEOUT', '10s'],
    ['HEADERS_MAX', '100'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['UWS_BINARY', 'mine'],
    ['UWS_BINARY', 'uws.node'],
    ['KEEP_ALIVE_WITHOUT_BODY', 'off'],
  ])('loadSettings: rejects %s=%s', (name, value) => {
    expect(issuesOf({ [name]: value })).toEqual([expect.stringContaining(`${name}: got ${JSON.stringify(value)}, expected `)]);
  });

  it.each([
    ['ENCRYPTION_KEY', Buffer.alloc(31, 5).toString('base64')],
    ['ENCRYPTION_KEY', 'hunter2-hunter2'],
    ['CLUSTER_KEY', Buffer.alloc(33, 5).toString('base64')],
    ['DATABASE_URL', 'mysql://root:hunter2-hunter2@db/x'],
    ['NATS_URL', 'http://me:hunter2-hunter2@bus'],
    ['NATS_URL', 'wss://me:hunter2-hunter2@bus'],
    ['NATS_URL', 'nats://me:hunter2-hunter2@bus,ws://other'],
    ['SMTP_URL', 'http://me:hunter2-hunter2@mail'],
    ['BOOTSTRAP_ADMIN_KEY', 'svc_ws_hunter2-hunter2'],
    ['BOOTSTRAP_WORKSPACE_KEY', 'svc_admin_hunter2-hunter2'],
  ])('loadSettings: rejects an invalid %s without repeating it', (name, value) => {
    const issues = issuesOf({ [name]: value });
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(new RegExp(`^${name}: the value is invalid, expected `));
    expect(issues[0]).not.toContain(value);
  });

  it('requires both keys', () => {
    expect(() => loadSettings({})).toThrow(SettingsError);
    expect(() => loadSettings({ ...keys, CLUSTER_KEY: undefined })).toThrow(/^CLUSTER_KEY: not set, expected 32 random bytes/);
  });

  it('derives one bearer text from one cluster key in any spelling', () => {
    const bytes = Buffer.from('fb'.repeat(32), 'hex');
    const spelt = [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('base64').replace('=', '')];
    expect(new Set(spelt.map((CLUSTER_KEY) => loadSettings({ ...keys, CLUSTER_KEY }).clusterKeyText))).toEqual(
      new Set([spelt[0]]),
    );
  });

  it('rejects a certificate without its key, a country header without a trusted proxy, and two listeners on one port', () => {
    const pem = join(mkdtempSync(join(tmpdir(), 'settings-')), 'file.pem');
    writeFileSync(pem, 'pem');
    expect(issuesOf({ TLS_CERT: pem })).toEqual([
      'TLS_KEY: not set although TLS_CERT is set, expected the path of a readable PEM file',
    ]);
    expect(issuesOf({ TLS_KEY: pem })).toEqual([
      'TLS_CERT: not set although TLS_KEY is set, expected the path of a readable PEM file',
    ]);
    expect(issuesOf({ COUNTRY_HEADER: 'cf-ipcountry' })).toEqual([expect.stringContaining('TRUSTED_PROXIES is not set')]);
    expect(issuesOf({ PORT: '8788' })).toEqual(['CONTROL_PLANE_PORT: got "8788", expected another port than PORT']);
  });
});

describe('misspeltSettings', () => {
  it('suggests the closest setting', () => {
    expect(
      misspeltSettings({ GATEWAY_PROCESES: '2', DATABASE_URI: 'x', LOGLEVEL: 'x', DRIAN_TIMEOUT: '1', data_dir: 'x' }),
    ).toEqual([
      'GATEWAY_PROCESES: unknown setting; did you mean GATEWAY_PROCESSES?',
      'DATABASE_URI: unknown setting; did you mean DATABASE_URL?',
      'LOGLEVEL: unknown setting; did you mean LOG_LEVEL?',
      'DRIAN_TIMEOUT: unknown setting; did you mean DRAIN_TIMEOUT?',
      'data_dir: unknown setting; did you mean DATA_DIR?',
    ]);
  });

  it('ignores known and foreign names', () => {
    const own = Object.fromEntries(Object.values(settingsTable).map((row) => [row.name, 'x']));
    const foreign = [
      'PATH',
      'HOSTNAME',
      'HOME',
      'USER',
      'PORTS',
      'SHELL',
      'NODE_ENV',
      'TERM',
      'PWD',
      'npm_package_name',
      'PGDATA',
      'TEST_DATABASE_URL',
    ];
    expect(misspeltSettings({ ...own, ...Object.fromEntries(foreign.map((name) => [name, 'x'])) })).toEqual([]);
  });
});
