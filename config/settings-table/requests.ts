import { identityUrlExpected } from '../identity-url.ts';
import { flag, listOf, text, wholeNumber } from '../setting-types.ts';
import { bytes, derived, list, lowerCase, milliseconds, optional, row } from './kinds.ts';

/** Header names except those of credentials, because metadata is stored and shown. */
const metadataHeaderPattern =
  /^(?!(?:authorization|proxy-authorization|cookie|set-cookie|api-key)$)(?![a-z0-9-]*(?:api-key|secret|token|password))[a-z0-9-]{1,64}$/i;
const targets = wholeNumber(1, 10_000);

export const providers = {
  requestTimeoutMs: row(
    'REQUEST_TIMEOUT',
    '600000',
    'Milliseconds until a provider’s whole response must have arrived. 0 = no limit.',
    milliseconds,
  ),
  idleTimeoutMs: row(
    'IDLE_TIMEOUT',
    '120000',
    'Milliseconds of silence after which the gateway ends a streamed reply. 0 = no limit.',
    milliseconds,
  ),
  connectTimeoutMs: row(
    'CONNECT_TIMEOUT',
    '10000',
    'Milliseconds to connect to a provider.',
    wholeNumber(1, 600_000, 'milliseconds'),
  ),
  mcpRequestTimeoutMs: row(
    'MCP_REQUEST_TIMEOUT',
    '60000',
    'Milliseconds until an MCP server replies to a message, and of silence within its reply. 0 = no limit.',
    milliseconds,
  ),
  modelToolsRoundsMax: row(
    'MODEL_TOOLS_ROUNDS',
    '10',
    'Calls of the model in one request with tools of MCP servers. The last one may call no tool.',
    wholeNumber(1, 100),
  ),
  modelToolsTimeoutMs: row(
    'MODEL_TOOLS_TIMEOUT',
    '600000',
    'Milliseconds until a request with tools of MCP servers must be complete.',
    wholeNumber(1, 86_400_000, 'milliseconds'),
  ),
  modelToolsTokensMax: row(
    'MODEL_TOOLS_TOKENS',
    '1000000',
    'Tokens of a request with tools of MCP servers, after which the model may call no further tool. 0 = no limit.',
    wholeNumber(0, 1_000_000_000),
  ),
  retryBudgetPercent: row(
    'RETRY_BUDGET',
    '20',
    'Largest share of requests that may be retries, per organisation and provider host over ten seconds.',
    wholeNumber(0, 100, 'percent'),
  ),
  retryBudgetFloor: row(
    'RETRY_BUDGET_FLOOR',
    '30',
    'Retries per ten seconds that are allowed even if RETRY_BUDGET is used up.',
    wholeNumber(0, 1_000_000),
  ),
  rootTargetsMax: row('MAX_ROOT_CONFIG_TARGETS', '100', 'Targets at the root of a config.', targets),
  conditionalRootTargetsMax: row(
    'MAX_CONDITIONAL_ROOT_CONFIG_TARGETS',
    '1000',
    'Targets at the root of a config whose strategy is conditional.',
    targets,
  ),
  nestedTargetsMax: row(
    'MAX_NESTED_CONFIG_TARGETS',
    '50',
    'Targets below one target of the root, at all depths together.',
    targets,
  ),
  trustedCustomHosts: list(
    'TRUSTED_CUSTOM_HOSTS',
    'Comma list of hosts that custom_host may name although their addresses are private, such as local models: names, names below one (*.models.internal), addresses and CIDR ranges, each with or without a port.',
    listOf(
      lowerCase(
        text(
          /^(\[[0-9A-Fa-f:.]+(\/\d{1,3})?\]|(\*\.)?[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+\/\d{1,3})(:\d{1,5})?$/,
          'a host, host:port, *.host or CIDR such as 127.0.0.1:11434',
        ),
      ),
    ),
  ),
  machineIdentity: row(
    'MACHINE_IDENTITY',
    'false',
    'Whether stored providers and secret references of every organisation may authenticate with this machine’s cloud identity (managed identity, instance role, workload token).',
    flag(),
  ),
  identityEndpoint: optional(
    'IDENTITY_ENDPOINT',
    'URL of the managed identity, which Azure App Service, Functions, Container Apps and Azure Arc set. Used if MACHINE_IDENTITY is true.',
    text(/^\S+$/, identityUrlExpected),
  ),
  identityHeader: optional(
    'IDENTITY_HEADER',
    'Secret of IDENTITY_ENDPOINT, which Azure App Service, Functions and Container Apps set.',
    text(/^[\x21-\x7e]+$/, 'visible ASCII characters'),
    { secret: true },
  ),
  imdsEndpoint: optional(
    'IMDS_ENDPOINT',
    'Set by Azure Arc: without IDENTITY_HEADER, IDENTITY_ENDPOINT is that of Azure Arc. The value is not used.',
    text(/^\S+$/, 'a URL'),
  ),
  secretReferenceTtlSeconds: row(
    'SECRET_REFERENCE_TTL_SECONDS',
    '300',
    'Seconds until the gateway reads a value from a secret manager again.',
    wholeNumber(1, 86_400, 'seconds'),
  ),
  blockInlineConfig: row(
    'BLOCK_INLINE_CONFIG',
    'false',
    'Whether requests of every organisation may use only saved configs and stored providers.',
    flag(),
  ),
  headersToMetadata: list(
    'HEADERS_TO_METADATA',
    'Comma list of request headers that become metadata. Headers that carry credentials are not allowed.',
    listOf(lowerCase(text(metadataHeaderPattern, 'the name of a header that carries no credential'))),
  ),
  metadataKeyPrefix: derived<string>(
    'METADATA_MAP_KEY_PREFIX',
    'unset',
    'Prefix of the metadata keys that HEADERS_TO_METADATA creates.',
    text(/^[A-Za-z0-9_.-]{1,32}$/, 'at most 32 letters, digits, _, . and -'),
  ),
};

export const limits = {
  jsonBodyBytesMax: row('JSON_BODY_MAX', '33554432', 'Bytes of a JSON request body.', bytes(1024, 1_073_741_824)),
  jsonValuesMax: row(
    'JSON_VALUES_MAX',
    '500000',
    'Values in a JSON request body. An object or array counts as 5. Parsing more would block other requests.',
    wholeNumber(1000, 100_000_000),
  ),
  formBytesMax: row(
    'FORM_BUFFER_MAX',
    '33554432',
    'Largest multipart body in bytes that the gateway buffers, so that it can retry and guardrails can read it. Larger ones stream to one target.',
    bytes(1024, 1_073_741_824),
  ),
  streamedBodyBytesMax: row(
    'STREAMED_BODY_MAX',
    '536870912',
    'Bytes of a request body that the gateway passes through.',
    bytes(1024, 1_099_511_627_776),
  ),
  headerBytesMax: row('HEADERS_MAX', '65536', 'Bytes of a request’s header block.', bytes(4096, 1_048_576)),
  bodyMemoryBytesMax: derived<number>(
    'BODY_MEMORY_MAX',
    '536870912, or less if memory is limited',
    'Bytes of request and reply bodies that one gateway process holds before it replies 503. Its resident memory stays below 400 MiB plus three times this, cached documents aside. The default is at least 112 MiB and fits the limit of the container, or the memory of the machine.',
    bytes(1_048_576, 1_099_511_627_776),
  ),
  requestsInFlightMax: row(
    'REQUESTS_IN_FLIGHT_MAX',
    '20000',
    'Requests that one gateway process handles at a time before it replies 503. One workspace may use seven eighths.',
    wholeNumber(1, 1_000_000),
  ),
  documentCacheEntries: row(
    'DOCUMENT_CACHE_ENTRIES',
    '50000',
    'Keys, configs and providers that each gateway process caches in memory.',
    wholeNumber(100, 10_000_000),
  ),
  spoolBytesMax: row(
    'SPOOL_MAX',
    '8589934592',
    'Bytes of unshipped records on disk before the gateway rejects requests.',
    bytes(1_048_576, 1_099_511_627_776),
  ),
};
