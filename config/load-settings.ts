import { availableParallelism } from 'node:os';
import * as v from 'valibot';
import { bodyMemoryDefault } from './body-memory-default.ts';
import { isIdentityUrl } from './identity-url.ts';
import { memoryBytes } from './memory-bytes.ts';
import type { Settings } from './settings.ts';
import { type Setting, type SettingKey, type SettingValues, settingsTable } from './settings-table.ts';

/** Environment variables by name, as in `process.env`. An empty text counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Invalid settings. One line per error: name, given value, expected value. No line holds a secret. */
export class SettingsError extends Error {
  readonly issues: readonly string[];

  constructor(issues: readonly string[], options?: ErrorOptions) {
    super(issues.join('\n'), options);
    this.name = 'SettingsError';
    this.issues = issues;
  }
}

/**
 * Reads and checks every setting. The only file access checks that the TLS files can be read; creates nothing. Throws
 * SettingsError with all errors at once.
 */
export function loadSettings(env: Environment): Settings {
  const { values, issues } = readValues(env);
  for (const key of ['encryptionKey', 'clusterKey'] as const) {
    if (!given(env, key)) issues.push(issue(key, 'not set'));
  }
  if (issues.length > 0) throw new SettingsError(issues);
  return complete(values, env);
}

/** Returns all errors that do not depend on keys yet to be generated; empty if there are none. */
export function issuesBeforeKeys(env: Environment): string[] {
  const { values, issues } = readValues(env);
  if (values.role === 'all' || values.role === undefined) return issues;
  for (const key of ['encryptionKey', 'clusterKey'] as const) {
    if (!given(env, key)) issues.push(`${issue(key, 'not set')}; with ROLE=${values.role} all machines need the same key`);
  }
  return issues;
}

/** Parsed values before derived defaults: null = unset, absent = invalid. */
type Values = { [Key in SettingKey]?: SettingValues[Key] | null };

function readValues(env: Environment): { values: Values; issues: string[] } {
  const values: Record<string, unknown> = {};
  const issues: string[] = [];
  for (const [key, row] of Object.entries(settingsTable) as [SettingKey, Setting<unknown>][]) {
    const text = given(env, key) ?? row.default;
    if (text === null) {
      values[key] = null;
      continue;
    }
    const result = v.safeParse(row.type.schema, text);
    if (result.success) values[key] = result.output;
    else issues.push(issue(key, row.secret ? 'the value is invalid' : `got ${JSON.stringify(shown(text))}`));
  }
  return { values: values as Values, issues: issues.concat(conflicts(values as Values)) };
}

/** Returns the errors between settings that are valid on their own. An invalid value is undefined here and not checked again. */
function conflicts(values: Values): string[] {
  const issues: string[] = [];
  if (values.tlsCert && values.tlsKey === null) issues.push(issue('tlsKey', 'not set although TLS_CERT is set'));
  if (values.tlsKey && values.tlsCert === null) issues.push(issue('tlsCert', 'not set although TLS_KEY is set'));
  if (values.encryptionKey && values.encryptionKeyPrevious && sameKey(values.encryptionKey, values.encryptionKeyPrevious)) {
    issues.push('ENCRYPTION_KEY_PREVIOUS: equals ENCRYPTION_KEY, expected the earlier key');
  }
  if (values.countryHeader && values.trustedProxies === null) {
    issues.push(issue('countryHeader', 'TRUSTED_PROXIES is not set, so the header of no proxy is trusted'));
  }
  // Without MACHINE_IDENTITY nothing calls it, so a platform may set any other endpoint.
  if (values.machineIdentity && values.identityEndpoint && !isIdentityUrl(values.identityEndpoint)) {
    issues.push(issue('identityEndpoint', `got ${JSON.stringify(shown(values.identityEndpoint))}`));
  }
  if (values.otelContent === 'span_only' && values.logBodies === 'off') {
    issues.push(issue('otelContent', 'LOG_BODIES is off, so there is no content to export'));
  }
  // Gateways only send the bodies.
  if (values.role !== 'gateway' && values.logBodies === 'object_store' && values.objectStore === null) {
    issues.push(issue('objectStore', 'not set although LOG_BODIES is object_store'));
  }
  if (values.s3AccessKeyId && values.s3SecretAccessKey === null) {
    issues.push(issue('s3SecretAccessKey', 'not set although S3_ACCESS_KEY_ID is set'));
  }
  if (values.s3SecretAccessKey && values.s3AccessKeyId === null) {
    issues.push(issue('s3AccessKeyId', 'not set although S3_SECRET_ACCESS_KEY is set'));
  }
  if (
    values.deploymentStaleSeconds &&
    values.deploymentRemovedSeconds &&
    values.deploymentRemovedSeconds < values.deploymentStaleSeconds
  ) {
    issues.push(
      `DEPLOYMENT_REMOVED_AFTER: got "${values.deploymentRemovedSeconds}", expected at least DEPLOYMENT_STALE_AFTER (${values.deploymentStaleSeconds})`,
    );
  }
  if (values.role === 'all' && values.port && values.port === values.controlPlanePort) {
    issues.push(`CONTROL_PLANE_PORT: got "${values.port}", expected another port than PORT`);
  }
  return issues;
}

function sameKey(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function complete(values: Values, env: Environment): Settings {
  const all = values as SettingValues;
  const publicUrl = values.publicUrl ?? `${values.tlsCert ? 'https' : 'http'}://${hostToReach(all.host)}:${all.port}`;
  const gatewayProcesses = values.gatewayProcesses ?? Math.max(2, availableParallelism() - 1);
  const controlPlanes = all.role === 'all' ? 1 : 0;
  const controlPlaneHost = values.controlPlaneHost ?? (all.role === 'control-plane' ? all.host : '127.0.0.1');
  return {
    ...all,
    controlPlaneHost,
    publicUrl,
    mcpPublicUrl: values.mcpPublicUrl ?? publicUrl,
    smtpFrom: values.smtpFrom ?? `no-reply@${new URL(publicUrl).hostname}`,
    gatewayUrl: (values.gatewayUrl ?? `${values.tlsCert ? 'https' : 'http'}://${hostToReach(all.host)}:${all.port}`).replace(
      /\/+$/,
      '',
    ),
    controlPlaneUrl: values.controlPlaneUrl ?? `http://${hostToReach(controlPlaneHost)}:${all.controlPlanePort}`,
    gatewayProcesses,
    bodyMemoryBytesMax: values.bodyMemoryBytesMax ?? bodyMemoryDefault(memoryBytes(), gatewayProcesses + controlPlanes),
    // Always in padded form, so that two machines with the same key in different spellings use the same bearer.
    clusterKeyText: Buffer.from(all.clusterKey).toString('base64'),
    databaseUrlFile: env[`${settingsTable.databaseUrl.name}_FILE`]?.trim() || null,
    natsUrlFile: env[`${settingsTable.natsUrl.name}_FILE`]?.trim() || null,
    headerPrefixAliases: (values.headerPrefixAliases ?? []).filter((alias) => alias !== all.headerPrefix),
    trustedProxies: values.trustedProxies ?? [],
    trustedCustomHosts: values.trustedCustomHosts ?? [],
    headersToMetadata: values.headersToMetadata ?? [],
    logMaskedFields: values.logMaskedFields ?? [],
    metadataKeyPrefix: values.metadataKeyPrefix ?? '',
    noProxy: values.noProxy ?? [],
    corsOrigins: values.corsOrigins ?? [],
    plugins: values.plugins ?? [],
    providers: values.providers ?? [],
    metricsLabels: values.metricsLabels ?? [],
  };
}

/** A host that listens on all addresses is reached through loopback on this machine. */
function hostToReach(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function given(env: Environment, key: SettingKey): string | null {
  const text = env[settingsTable[key].name]?.trim();
  return text === undefined || text === '' ? null : text;
}

/** Removes the credentials of a URL, because settings with such URLs are shown. */
function shown(text: string): string {
  return text.slice(0, 200).replace(/:\/\/[^/@\s]*@/g, '://***@');
}

function issue(key: SettingKey, found: string): string {
  return `${settingsTable[key].name}: ${found}, expected ${settingsTable[key].type.expected}`;
}
