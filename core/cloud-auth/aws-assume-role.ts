import type { SignServices } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { retryAfterMs } from '../contract/values/http/retry-after.ts';
import { awsOrigin } from './aws-region.ts';
import type { SessionTag } from './aws-session-tags.ts';
import { type AwsIdentity, awsSigned } from './aws-sign.ts';

export interface RoleRequest {
  readonly roleArn: string;
  readonly externalId: string | null;
  /** Region whose token service is called. */
  readonly region: string;
  readonly tags?: readonly SessionTag[];
}

/** Shown in the account's audit trail. */
const sessionName = 'svc-gateway';
const durationSeconds = 3_600;

/**
 * Returns temporary keys of a role (STS AssumeRole), requested with the keys of an identity that may assume it. Throws
 * GatewayError.
 */
export async function assumeRole(role: RoleRequest, as: AwsIdentity, services: SignServices): Promise<AwsIdentity> {
  const external: Record<string, string> = role.externalId === null ? {} : { ExternalId: role.externalId };
  const body = stsBody({ Action: 'AssumeRole', RoleArn: role.roleArn, ...external, ...tagFields(role.tags ?? []) });
  const origin = awsOrigin('sts', role.region);
  const headers = await awsSigned({ method: 'POST', origin, path: '/', headers: formHeaders, body }, as, {
    service: 'sts',
    region: role.region,
    nowMs: services.now(),
  });
  return identityIn(await services.fetch({ url: `${origin}/`, method: 'POST', headers, body }));
}

/**
 * Returns temporary keys of a role for the holder of a web identity token (STS AssumeRoleWithWebIdentity), here that of a
 * Kubernetes service account. The caller must check that the identity may be used, because the request is not signed. Throws
 * GatewayError.
 */
export async function assumeRoleWithToken(role: RoleRequest, token: string, services: SignServices): Promise<AwsIdentity> {
  const body = stsBody({ Action: 'AssumeRoleWithWebIdentity', RoleArn: role.roleArn, WebIdentityToken: token });
  const url = `${awsOrigin('sts', role.region)}/`;
  return identityIn(await services.fetch({ url, method: 'POST', headers: formHeaders, body }));
}

const formHeaders = ['content-type', 'application/x-www-form-urlencoded; charset=utf-8'];

/** docs.aws.amazon.com/IAM/latest/UserGuide/id_session-tags.html; the role's trust policy must allow `sts:TagSession`. */
function tagFields(tags: readonly SessionTag[]): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [index, { key, value }] of tags.entries()) {
    fields[`Tags.member.${index + 1}.Key`] = key;
    fields[`Tags.member.${index + 1}.Value`] = value;
  }
  return fields;
}

function stsBody(fields: Readonly<Record<string, string>>): string {
  const always = { Version: '2011-06-15', RoleSessionName: sessionName, DurationSeconds: String(durationSeconds) };
  return new URLSearchParams({ ...always, ...fields }).toString();
}

/** The reply is a small XML document whose values need no unescaping: keys, base64 and a date. */
function identityIn(reply: Awaited<ReturnType<SignServices['fetch']>>): AwsIdentity {
  const text = Buffer.from(reply.body).toString('utf8');
  const read = (name: string): string | null => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.trim() || null;
  if (reply.status !== 200) {
    const code = read('Code') ?? `status ${reply.status}`;
    throw new GatewayError('upstream_status', {
      status: reply.status,
      // The full STS message names the account and its users, so it goes to the log only.
      message: `The AWS role could not be assumed: ${code}`,
      detail: read('Message') ?? text.slice(0, 500),
      retryAfterMs: retryAfterMs(reply.headers) ?? undefined,
    });
  }
  const [accessKeyId, secretAccessKey, sessionToken] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map(read);
  const expiresAtMs = Date.parse(read('Expiration') ?? '');
  if (!accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(expiresAtMs)) {
    throw new GatewayError('upstream_invalid', { message: 'The reply of the AWS token service cannot be read' });
  }
  return { accessKeyId, secretAccessKey, sessionToken, expiresAtMs };
}
