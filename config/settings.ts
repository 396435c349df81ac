/** Process settings, read once at start from the environment. Units are in the names; empty lists mean "none". */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly controlPlaneHost: string;
  readonly controlPlanePort: number;
  /** Where gateways reach the control plane, no trailing slash. */
  readonly controlPlaneUrl: string;
  readonly role: 'all' | 'gateway' | 'control-plane';
  readonly gatewayProcesses: number;
  /** How long the event loop of a gateway may stand still before the supervisor kills it; 0 = for ever. */
  readonly watchdogMs: number;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly dbPoolSize: number;
  readonly natsUrl: string | null;
  /** 32 bytes. */
  readonly encryptionKey: Uint8Array;
  /** 32 bytes; its base64 text (`clusterKeyText`) is the bearer of the internal API. */
  readonly clusterKey: Uint8Array;
  readonly clusterKeyText: string;
  readonly bootstrapAdminKey: string | null;
  readonly bootstrapWorkspaceKey: string | null;
  readonly bootstrapOwnerEmail: string | null;
  /** Control-plane requests per minute and process; 0 = no limit. */
  readonly adminRequestsPerKey: number;
  readonly adminRequestsPerAddress: number;
  /** Origin (and path, if any) that browsers see, no trailing slash. */
  readonly publicUrl: string;
  readonly smtpUrl: string | null;
  readonly smtpFrom: string;
  readonly inviteSeconds: number;
  readonly sessionIdleSeconds: number;
  /** Lower-case, ends with `-`: `x-svc-`. */
  readonly headerPrefix: string;
  readonly headerPrefixAliases: readonly string[];
  /** Addresses and CIDR ranges of proxies whose word about the caller is believed; empty = none. */
  readonly trustedProxies: readonly string[];
  /** Lower-case name of the header in which they tell its country; null = none does. */
  readonly countryHeader: string | null;
  /** `host`, `host:port`, or CIDR entries exempt from the private-address refusal. */
  readonly trustedCustomHosts: readonly string[];
  /** Whether stored providers may be called as the machine the gateway runs on. */
  readonly machineIdentity: boolean;
  /** Saved-only mode for everybody: requests bring no config, provider or host of their own. */
  readonly blockInlineConfig: boolean;
  readonly bootstrapBlockInlineConfig: boolean;
  /** Lower-case names of client headers that become metadata; empty = none. */
  readonly headersToMetadata: readonly string[];
  /** What stands before the header's name in metadata. */
  readonly metadataKeyPrefix: string;
  /** Whether configs with several targets may be used for files, batches and fine-tuning jobs. */
  readonly keptOnManyTargets: boolean;
  /** Bytes of one file in the service's own store. */
  readonly fileBytesMax: number;
  /** Files of one workspace there, and their bytes together. */
  readonly workspaceFilesMax: number;
  readonly workspaceFileBytesMax: number;
  /** Where jobs of the control plane reach a gateway, no trailing slash. */
  readonly gatewayUrl: string;
  /** How many lines of a batch are sent at a time, and how often. */
  readonly batchBucketLines: number;
  readonly batchIntervalMs: number;
  /** How soon a provider is asked again whether a batch it runs is over. */
  readonly batchPollMs: number;
  readonly jobLeaseMs: number;
  readonly requestTimeoutMs: number;
  /** Longest silence of a streamed reply. */
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Retries as a share of requests that may be retried, per organisation and provider host over ten seconds: 0 to 100. */
  readonly retryBudgetPercent: number;
  /** Retries within these ten seconds that are allowed whatever the traffic. */
  readonly retryBudgetFloor: number;
  /** Targets at the root of a config, at the root of a conditional one, and below any one target of the root. */
  readonly rootTargetsMax: number;
  readonly conditionalRootTargetsMax: number;
  readonly nestedTargetsMax: number;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  /** `auto`: `pretty` if standard output is a terminal, `json` otherwise. */
  readonly logFormat: 'auto' | 'json' | 'pretty';
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
  /** Origins allowed by CORS; `*` for any; empty = CORS off. */
  readonly corsOrigins: readonly string[];
  /** Files or package names of third-party plugins. */
  readonly plugins: readonly string[];
  /** Longest time one call of an asynchronous hook of a third-party plugin may take. */
  readonly hookTimeoutMs: number;
  /** Between a stop signal, which makes /ready 503, and the close of the listener. */
  readonly drainDelayMs: number;
  readonly drainTimeoutMs: number;
  /** WebSocket sessions one gateway process has at a time. */
  readonly realtimeSessionsMax: number;
  /** Of one process; 0 = no limit beside that. */
  readonly realtimeSessionsPerOrganisationMax: number;
  readonly realtimeSessionsPerWorkspaceMax: number;
  readonly realtimeSessionsPerKeyMax: number;
  /** Longest WebSocket message, either way. */
  readonly realtimeMessageBytesMax: number;
  /** Longest silence of both sides of a session; 0 = no limit. */
  readonly realtimeIdleMs: number;
  /** Longest session; 0 = no limit. */
  readonly realtimeTotalMs: number;
  /** How long sessions may go on after a stop signal. */
  readonly realtimeDrainMs: number;
  /** Between two writings of what an open session has used. */
  readonly realtimeRecordMs: number;
  readonly jsonBodyBytesMax: number;
  readonly jsonValuesMax: number;
  /** Up to this a multipart body is kept; a larger one streams through. */
  readonly formBytesMax: number;
  /** Bodies held by one gateway process, all requests together. */
  readonly bodyMemoryBytesMax: number;
  readonly streamedBodyBytesMax: number;
  readonly headerBytesMax: number;
  /** Requests a gateway process works on at once before it answers 503 overloaded. */
  readonly requestsInFlightMax: number;
  readonly documentCacheEntries: number;
  /** How long a value of a secret manager is used before it is read again. */
  readonly secretReferenceTtlSeconds: number;
  /** Days the control plane keeps request records; 0 = for ever. */
  readonly recordRetentionDays: number;
  readonly spoolBytesMax: number;
  /** The uWebSockets.js binary: `auto` prefers the newer package; a path loads that `.node` file. */
  readonly uwsBinary: string;
  /** `auto` closes a connection after a request without a body while the binary accepts empty header names. */
  readonly keepAliveWithoutBody: 'auto' | 'on';
  readonly metrics: boolean;
  /** Bearer that GET /metrics requires; null = none. */
  readonly metricsToken: string | null;
}
