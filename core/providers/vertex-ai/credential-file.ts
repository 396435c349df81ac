import * as v from 'valibot';
import type { Secret } from '../../contract/values/credentials/secret.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';

/** Hosts of Google's services. */
export const googleHosts = /^([a-z0-9-]+\.)+googleapis\.com$/;

const text = v.pipe(v.string(), v.minLength(1));

const serviceAccount = v.looseObject({
  type: v.literal('service_account'),
  client_email: text,
  private_key: text,
  private_key_id: v.optional(v.string()),
  project_id: v.optional(v.string()),
  token_uri: v.optional(text, 'https://oauth2.googleapis.com/token'),
});

const authorizedUser = v.looseObject({
  type: v.literal('authorized_user'),
  client_id: text,
  client_secret: text,
  refresh_token: text,
  quota_project_id: v.optional(v.string()),
});

const externalAccount = v.looseObject({
  type: v.literal('external_account'),
  audience: text,
  subject_token_type: text,
  token_url: v.optional(text, 'https://sts.googleapis.com/v1/token'),
  service_account_impersonation_url: v.optional(text),
  service_account_impersonation: v.optional(v.looseObject({ token_lifetime_seconds: v.optional(v.number()) })),
  quota_project_id: v.optional(v.string()),
  credential_source: v.looseObject({
    file: v.optional(text),
    url: v.optional(text),
    headers: v.optional(v.record(v.string(), v.string())),
    environment_id: v.optional(v.string()),
    executable: v.optional(v.unknown()),
    format: v.optional(v.looseObject({ type: v.optional(v.string()), subject_token_field_name: v.optional(v.string()) })),
  }),
});

export type ServiceAccount = v.InferOutput<typeof serviceAccount>;
export type AuthorizedUser = v.InferOutput<typeof authorizedUser>;
export type ExternalAccount = v.InferOutput<typeof externalAccount>;
export type CredentialFile = ServiceAccount | AuthorizedUser | ExternalAccount;

const schema = v.variant('type', [serviceAccount, authorizedUser, externalAccount], (issue) => {
  return `expected service_account, external_account or authorized_user, received ${typeof issue.input === 'string' ? issue.input.slice(0, 40) : 'another type'}`;
});

const known = new WeakMap<Secret, CredentialFile>();

/**
 * Reads a credential file of Google Cloud (https://google.aip.dev/auth/4110, 4117), once for each secret. Throws GatewayError
 * `invalid_config` naming the invalid field, never its value.
 */
export function readCredentialFile(secret: Secret): CredentialFile {
  const found = known.get(secret);
  if (found) return found;
  const parsed = parse(secret.reveal());
  if (typeof parsed === 'string') throw invalidFile(parsed);
  known.set(secret, parsed);
  return parsed;
}

/** Returns the problem of a credential file's JSON, or null. Never contains its values. */
export function credentialFileProblem(json: string): string | null {
  const parsed = parse(json);
  return typeof parsed === 'string' ? parsed.replace(/, received .*$/, '') : null;
}

/** Returns the file, or a description of its problem. */
function parse(json: string): CredentialFile | string {
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch {
    return 'expected the JSON of a credential file';
  }
  const parsed = v.safeParse(schema, given);
  if (parsed.success) return sourceProblem(parsed.output) ?? parsed.output;
  const [issue] = parsed.issues;
  const path = issue.path?.map((step) => String(step.key)).join('.') ?? '';
  return path === '' || path === 'type' ? `type: ${issue.message}` : `${path}: expected text`;
}

/**
 * Returns the reason why a workload identity cannot be used, or null. The file comes from a tenant. Subject tokens grant access to any
 * recipient, so they are sent only to Google's own services. Container orchestrators store tokens below two folders, and a file must not make
 * the gateway read any other file.
 */
function sourceProblem(file: CredentialFile): string | null {
  if (file.type !== 'external_account') return null;
  const { executable, environment_id: environment, file: path, url } = file.credential_source;
  if (executable !== undefined) return 'credential_source.executable: not supported. Use url or file';
  if (environment !== undefined) return 'credential_source.environment_id: AWS as a source is not supported. Use url or file';
  if (path === undefined && url === undefined) return 'credential_source: url or file is expected';
  if (path !== undefined && (!/^\/(var\/)?run\/(secrets|service-account)\/[\w./-]+$/.test(path) || path.includes('..'))) {
    return 'credential_source.file: a token below /var/run/secrets or /var/run/service-account is expected';
  }
  for (const field of ['token_url', 'service_account_impersonation_url'] as const) {
    if (file[field] !== undefined && !isOfGoogle(file[field])) return `${field}: an https address of googleapis.com is expected`;
  }
  return null;
}

function isOfGoogle(url: string): boolean {
  const { protocol, hostname, username } = URL.parse(url) ?? {};
  return protocol === 'https:' && username === '' && googleHosts.test(hostname ?? '');
}

/** Returns the project named in a file, or null. */
export function projectIn(file: CredentialFile): string | null {
  const project = file.type === 'service_account' ? file.project_id : file.quota_project_id;
  return project === undefined || project === '' ? null : project;
}

export function invalidFile(problem: string): GatewayError {
  return new GatewayError('invalid_config', {
    message: `vertex_service_account_json: ${problem}`,
    param: 'vertex_service_account_json',
  });
}
