import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings, SettingsError } from '../../config/load-settings.ts';

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
      analyticsUrl: null,
      dbPoolSize: 12,
      natsUrl: null,
      encryptionKey: new Uint8Array(Buffer.from(keys.ENCRYPTION_KEY, 'base64')),
      encryptionKeyPrevious: null,
      databaseUrlFile: null,
      natsUrlFile: null,
      clusterKey: new Uint8Array(Buffer.from(keys.CLUSTER_KEY, 'base64')),
      clusterKeyText: keys.CLUSTER_KEY,
      bootstrapAdminKey: null,
      bootstrapWorkspaceKey: null,
      bootstrapOwnerEmail: null,
      adminRequestsPerKey: 6_000,
      adminRequestsPerAddress: 12_000,
      publicUrl: 'http://127.0.0.1:8787',
      mcpPublicUrl: 'http://127.0.0.1:8787',
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
      identityEndpoint: null,
      identityHeader: null,
      imdsEndpoint: null,
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
      modelToolsRoundsMax: 10,
      modelToolsTimeoutMs: 600_000,
      modelToolsTokensMax: 1_000_000,
      retryBudgetPercent: 20,
      retryBudgetFloor: 30,
      rootTargetsMax: 100,
      conditionalRootTargetsMax: 1000,
      nestedTargetsMax: 50,
      logLevel: 'info',
      logFormat: 'auto',
      tlsCert: null,
      tlsKey: null,
      httpsProxy: null,
      noProxy: [],
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
      bodyMemoryBytesMax: expect.any(Number),
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
      objectStore: null,
      s3Endpoint: null,
      s3Region: 'us-east-1',
      s3PathStyle: false,
      s3AccessKeyId: null,
      s3SecretAccessKey: null,
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

  it('treats an empty variable as unset', () => {
    expect(loadSettings({ ...keys, PORT: '', HOST: ' ', PLUGINS: '' })).toMatchObject({
      port: 8787,
      host: '127.0.0.1',
      plugins: [],
    });
  });

  it('names given and expected values, one line per error, all at once', () => {
    expect(issuesOf({ PORT: '70000', ROLE: 'boss', GATEWAY_PROCESSES: '1e3', METRICS: 'maybe' })).toEqual([
      'PORT: got "70000", expected a whole number from 1 to 65535',
      'ROLE: got "boss", expected one of all, gateway, control-plane',
      'GATEWAY_PROCESSES: got "1e3", expected a whole number from 1 to 1024',
      'METRICS: got "maybe", expected true or false',
    ]);
  });

  it.each([
    ['HOST', 'a b'],
    ['HOST', '99999999999999'],
    ['HOST', '300.1.1.1'],
    ['HOST', '127.0.0.1:8787'],
    ['CONTROL_PLANE_HOST', 'localhost:8788'],
    ['PUBLIC_URL', 'https://gateway.example.com/?a=b'],
    ['GATEWAY_URL', 'http://gateway#top'],
    ['CONTROL_PLANE_URL', 'ftp://x'],
    ['CONTROL_PLANE_URL', 'nothing'],
    ['HEADER_PREFIX', 'x-svc'],
    ['HEADER_PREFIX_ALIASES', 'x-ok-,bad'],
    ['TRUSTED_CUSTOM_HOSTS', 'http://localhost'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.1,proxy.example.com'],
    ['CORS_ORIGINS', 'https://app.example.com/path'],
    ['NO_PROXY', 'http://example.com'],
    ['NO_PROXY', 'example.com, a b'],
    ['NO_PROXY', '10.0.0.0/64'],
    ['NO_PROXY', '*example.com'],
    ['TLS_CERT', '/nowhere/at-all.pem'],
    ['REQUEST_TIMEOUT', '-1'],
    ['REQUEST_TIMEOUT', '10s'],
    ['HEADERS_MAX', '100'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['UWS_BINARY', 'mine'],
    ['UWS_BINARY', 'uws.node'],
    ['KEEP_ALIVE_WITHOUT_BODY', 'off'],
    ['BOOTSTRAP_OWNER_EMAIL', 'ada@example.com,grace@example.com'],
    ['BOOTSTRAP_OWNER_EMAIL', 'ada@example..com'],
    ['BOOTSTRAP_OWNER_EMAIL', 'ada[1]@example.com'],
    ['SMTP_FROM', 'Gateway <gateway@example.com>'],
    ['SMTP_FROM', 'gateway@example.com;other'],
    ['SMTP_FROM', 'gateway@example.'],
  ])('rejects %s=%s', (name, value) => {
    expect(issuesOf({ [name]: value })).toEqual([expect.stringContaining(`${name}: got ${JSON.stringify(value)}, expected `)]);
  });

  it.each([
    'proxy.example.com:3128',
    'socks5://proxy.example.com:1080',
    'http://user:secret@proxy.example.com/path',
    'http://%E0@proxy',
  ])('rejects HTTPS_PROXY=%s without repeating a credential', (value) => {
    expect(issuesOf({ HTTPS_PROXY: value })).toEqual([
      expect.stringMatching(/^HTTPS_PROXY: the value is invalid, expected a URL/),
    ]);
  });

  it('rejects gateways that are removed before they count as unhealthy', () => {
    expect(issuesOf({ DEPLOYMENT_STALE_AFTER: '100', DEPLOYMENT_REMOVED_AFTER: '99' })).toEqual([
      'DEPLOYMENT_REMOVED_AFTER: got "99", expected at least DEPLOYMENT_STALE_AFTER (100)',
    ]);
  });

  it('rejects an ENCRYPTION_KEY_PREVIOUS that equals ENCRYPTION_KEY, without repeating it', () => {
    expect(issuesOf({ ENCRYPTION_KEY_PREVIOUS: keys.ENCRYPTION_KEY })).toEqual([
      'ENCRYPTION_KEY_PREVIOUS: equals ENCRYPTION_KEY, expected the earlier key',
    ]);
  });

  it.each([
    ['http://127.0.0.1:41741/MSI/token/', true],
    ['http://169.254.129.3:8081/msi/token', true],
    ['http://172.16.0.4:8081/msi/token', true],
    ['http://localhost:42356/msi/token', true],
    ['http://[::1]:40342/metadata/identity/oauth2/token', true],
    ['https://127.0.0.1:2377/metadata/identity/oauth2/token', false],
    ['http://identity.example.com/token', false],
    ['http://8.8.8.8/token', false],
    ['http://[2606:4700::1111]/token', false],
    ['http://user:secret@127.0.0.1/token', false],
    ['http://127.0.0.1/token?resource=x', false],
    ['127.0.0.1:8081', false],
  ])('accepts an IDENTITY_ENDPOINT of this machine or its own network only: %s', (url, isValid) => {
    const issues = issuesOf({ MACHINE_IDENTITY: 'true', IDENTITY_ENDPOINT: url });
    const text =
      'expected an http URL without user, query and fragment, of localhost or a loopback, link-local or private address';
    expect(issues).toEqual(
      isValid ? [] : [expect.stringContaining(`IDENTITY_ENDPOINT: got "${url.replace(/user:secret/, '***')}", ${text}`)],
    );
    // A platform may set an endpoint of another kind, which is not used.
    expect(issuesOf({ IDENTITY_ENDPOINT: url })).toEqual([]);
  });

  it('rejects credentials in a URL that is not sent with them, without repeating them', () => {
    expect(issuesOf({ CONTROL_PLANE_URL: 'http://me:hunter2@plane' })).toEqual([
      expect.stringContaining('CONTROL_PLANE_URL: got "http://***@plane", expected a URL such as '),
    ]);
  });

  it.each([
    ['ENCRYPTION_KEY', Buffer.alloc(31, 5).toString('base64')],
    ['ENCRYPTION_KEY', 'hunter2-hunter2'],
    ['ENCRYPTION_KEY_PREVIOUS', 'hunter2-hunter2'],
    ['CLUSTER_KEY', Buffer.alloc(33, 5).toString('base64')],
    ['DATABASE_URL', 'mysql://root:hunter2-hunter2@db/x'],
    ['DATABASE_URL', 'postgresql://root:hunter2/hunter2@db/x'],
    ['DATABASE_URL', 'postgresql://root:hunter2@x/hunter2@db/x'],
    ['ANALYTICS_URL', 'clickhouse://me:hunter2-hunter2@analytics'],
    ['NATS_URL', 'nats://me:hunter2-hunter2@one:4222,tls://two:4222'],
    ['NATS_URL', 'nats://one,nats://me:hunter2-hunter2@two'],
    ['NATS_URL', 'nats://me:hunter2-hunter2@one?sslrootcert=/ca.pem'],
    ['NATS_URL', 'tls://me:hunter2-hunter2@one?sslrootcrt=/ca.pem'],
    ['NATS_URL', 'tls://me:hunter2-hunter2@10.0.0.3:4222'],
    ['NATS_URL', 'tls://me:hunter2-hunter2@one,tls://[::1]:4222'],
    ['NATS_URL', 'tls://me:hunter2-hunter2@one,tls://two?sslrootcert=/ca.pem'],
    ['SMTP_URL', 'smtp://me:hunter2-hunter2@mail.example.com?tls.rejectUnauthorized=false'],
    ['ANALYTICS_URL', 'https://me:hunter2-hunter2@clickhouse:8443/gateway?compression=1'],
    ['NATS_URL', 'http://me:hunter2-hunter2@bus'],
    ['NATS_URL', 'wss://me:hunter2-hunter2@bus'],
    ['NATS_URL', 'nats://me:hunter2-hunter2@bus,ws://other'],
    ['SMTP_URL', 'http://me:hunter2-hunter2@mail'],
    ['BOOTSTRAP_ADMIN_KEY', 'svc_ws_hunter2-hunter2'],
    ['BOOTSTRAP_WORKSPACE_KEY', 'svc_admin_hunter2-hunter2'],
  ])('rejects an invalid %s without repeating it', (name, value) => {
    const issues = issuesOf({ [name]: value });
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(new RegExp(`^${name}: the value is invalid, expected `));
    expect(issues[0]).not.toContain(value);
  });

  it('states that a DATABASE_URL with a list of hosts and ports has too many', () => {
    expect(issuesOf({ DATABASE_URL: 'postgresql://me@db1:5432,db2:5432/gateway?target_session_attrs=read-write' })).toEqual([
      expect.stringMatching(/^DATABASE_URL: the value is invalid, expected a URL with one host such as /),
    ]);
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
