import { baseUrl, databaseUrl, emailAddress, flag, key32, plainUrl, text, wholeNumber } from '../setting-types.ts';
import { derived, host, lowerCase, optional, port, row } from './kinds.ts';

const requests = wholeNumber(0, 10_000_000);

export const controlPlane = {
  controlPlaneHost: derived<string>(
    'CONTROL_PLANE_HOST',
    '`127.0.0.1`; HOST if ROLE is control-plane',
    'Address the control plane listens on. Gateways of other machines must be able to reach it.',
    host,
  ),
  controlPlanePort: row('CONTROL_PLANE_PORT', '8788', 'Port the control plane listens on.', port),
  controlPlaneUrl: derived<string>(
    'CONTROL_PLANE_URL',
    '`http://<CONTROL_PLANE_HOST>:<CONTROL_PLANE_PORT>`',
    'URL at which gateways reach the control plane.',
    baseUrl('http://10.0.0.5:8788'),
  ),
  gatewayUrl: derived<string>(
    'GATEWAY_URL',
    '`http(s)://<HOST>:<PORT>`',
    'URL at which the control plane reaches a gateway, for integration tests and lines of batches.',
    baseUrl('http://10.0.0.4:8787'),
  ),
  publicUrl: derived<string>(
    'PUBLIC_URL',
    '`http(s)://<HOST>:<PORT>`',
    'URL at which browsers reach this service. Links in mails and the origin of session cookies use it.',
    baseUrl('https://gateway.example.com'),
  ),
  mcpPublicUrl: derived<string>(
    'MCP_PUBLIC_URL',
    'PUBLIC_URL',
    'URL at which clients reach MCP servers, if they have a host name of their own. Their addresses and tokens name it.',
    baseUrl('https://mcp.example.com'),
  ),
  databaseUrl: optional('DATABASE_URL', 'PostgreSQL 15 or newer. Unset: an embedded database in DATA_DIR.', databaseUrl(), {
    secret: true,
  }),
  analyticsUrl: optional(
    'ANALYTICS_URL',
    'ClickHouse (tested with version 26.9), for lists of logs, exports and analytics. Records are copied there from the database, which budgets still use. Unset: the database.',
    plainUrl(['http', 'https'], 'a URL such as https://user:password@clickhouse.example.com:8443/database'),
    { secret: true },
  ),
  dbPoolSize: row(
    'DB_POOL_SIZE',
    '12',
    'Connections to PostgreSQL of one control plane. Requests of organisations use at most three quarters of them, in turns.',
    wholeNumber(1, 1000),
  ),
  recordRetentionDays: row(
    'RECORD_RETENTION_DAYS',
    '90',
    'Days the control plane keeps request records (`GET /v1/logs`). It deletes older ones every hour. 0 keeps all.',
    wholeNumber(0, 36_500, 'days'),
  ),
  logExportDays: row(
    'LOG_EXPORT_DAYS',
    '7',
    'Days the control plane keeps the file of a completed log export.',
    wholeNumber(1, 3_650, 'days'),
  ),
  analyticsRetentionDays: row(
    'ANALYTICS_RETENTION_DAYS',
    '400',
    'Days the control plane keeps the sums of hours, days and weeks behind analytics, and records in ClickHouse (ANALYTICS_URL). It deletes older ones every hour. 0 keeps all.',
    wholeNumber(0, 36_500, 'days'),
  ),
  adminRequestsPerKey: row(
    'ADMIN_REQUESTS_PER_KEY',
    '6000',
    'Control-plane requests per minute and process that one key may send. 0 = no limit.',
    requests,
  ),
  adminRequestsPerAddress: row(
    'ADMIN_REQUESTS_PER_ADDRESS',
    '12000',
    'Control-plane requests per minute and process from one address. A request with a rejected key counts as 20. 0 = no limit.',
    requests,
  ),
};

export const keys = {
  encryptionKey: derived<Uint8Array>(
    'ENCRYPTION_KEY',
    'generated into DATA_DIR',
    'Key that encrypts the keys of stored credentials. Required unless ROLE is all.',
    key32(),
    { secret: true },
  ),
  encryptionKeyPrevious: optional(
    'ENCRYPTION_KEY_PREVIOUS',
    'Earlier ENCRYPTION_KEY, needed until `npm run encryption-key` has replaced it in the database.',
    key32(),
    { secret: true },
  ),
  clusterKey: derived<Uint8Array>(
    'CLUSTER_KEY',
    'generated into DATA_DIR',
    'Key with which gateways authenticate to the control plane. Required unless ROLE is all.',
    key32(),
    { secret: true },
  ),
  bootstrapAdminKey: optional(
    'BOOTSTRAP_ADMIN_KEY',
    'First admin key. Unset: the first start generates one.',
    text(/^svc_admin_[0-9A-Za-z]{12}_[0-9A-Za-z]{38,70}$/, 'an admin key (generate one with `npm run new:key -- admin`)'),
    { secret: true },
  ),
  bootstrapWorkspaceKey: optional(
    'BOOTSTRAP_WORKSPACE_KEY',
    'First workspace key. Unset: the first start generates one.',
    text(/^svc_ws_[0-9A-Za-z]{12}_[0-9A-Za-z]{38,70}$/, 'a workspace API key (generate one with `npm run new:key -- ws`)'),
    { secret: true },
  ),
  bootstrapOwnerEmail: optional(
    'BOOTSTRAP_OWNER_EMAIL',
    'E-mail address of the first owner. The first start also writes a link to set the owner’s password to first-keys.json.',
    lowerCase(emailAddress()),
  ),
  bootstrapBlockInlineConfig: row(
    'BOOTSTRAP_BLOCK_INLINE_CONFIG',
    'true',
    'Whether the organisation of the first start blocks inline configs and providers. Its setting block_inline_config changes this later.',
    flag(),
  ),
};

export const people = {
  smtpUrl: optional(
    'SMTP_URL',
    'Mail server for invites, links and notices. Mails wait in the database until it accepts them. Unset: links are only in replies. TLS is required if the URL has a password.',
    plainUrl(['smtp', 'smtps'], 'a URL such as smtps://user:password@mail.example.com'),
    { secret: true },
  ),
  smtpFrom: derived<string>('SMTP_FROM', '`no-reply@<host of PUBLIC_URL>`', 'Sender of mails.', emailAddress()),
  inviteSeconds: row('INVITE_TTL', '604800', 'Seconds until an invite expires.', wholeNumber(60, 31_536_000, 'seconds')),
  sessionIdleSeconds: row(
    'SESSION_IDLE_TIMEOUT',
    '43200',
    'Seconds without a request after which a person must sign in again.',
    wholeNumber(300, 31_536_000, 'seconds'),
  ),
};
