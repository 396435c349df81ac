import { readFile } from 'node:fs/promises';
import type { SignServices, TokenRequest } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import { isText, type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { assumeRoleWithToken } from './aws-assume-role.ts';
import type { AwsIdentity } from './aws-sign.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const containerHost = 'http://169.254.170.2';
const instanceHost = 'http://169.254.169.254';
const instanceTokenSeconds = 21_600;

/**
 * Returns the identity that AWS gives the machine of this gateway, in the order of the AWS SDKs: the service account of a pod
 * (web identity token), the task or pod (container endpoint), the instance (metadata service version 2). Keys in environment
 * variables are not used. Throws GatewayError, `forbidden` if none of them may be used.
 */
export async function machineIdentity(
  services: SignServices,
  region: string,
  environment: Environment = process.env,
): Promise<AwsIdentity> {
  if (!services.machineIdentity) {
    throw new GatewayError('forbidden', {
      message: 'The identity of this machine can be used by stored providers only, and only if MACHINE_IDENTITY is true',
    });
  }
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: roleArn } = environment;
  if (tokenFile && roleArn) {
    return assumeRoleWithToken({ roleArn, externalId: null, region }, await secretFile(tokenFile), services);
  }
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = environment;
  if (relative || full) {
    const url = relative ? `${containerHost}${relative}` : (full as string);
    const request: TokenRequest = { url, method: 'GET', headers: await containerHeaders(environment), body: null };
    const reply = await ask(services, request).catch((error) => Promise.reject(namingVariable(error, url)));
    return identityOf(jsonOf(reply));
  }
  return instanceIdentity(services);
}

/** The gate of metadata services refuses other addresses as `forbidden`. That is an error of the deployment, not of the client. */
function namingVariable(error: unknown, url: string): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'forbidden') return error;
  const expected = 'expected a URL of 169.254.170.2, 169.254.170.23 or [fd00:ec2::23]';
  return new GatewayError('unavailable', {
    message: 'This machine has no AWS identity',
    detail: `AWS_CONTAINER_CREDENTIALS_FULL_URI: got ${url.slice(0, 200)}, ${expected}`,
    cause: error,
  });
}

/** The token of the pod identity agent; read each time, because it is replaced while the pod lives. */
async function containerHeaders(environment: Environment): Promise<HeaderList> {
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file, AWS_CONTAINER_AUTHORIZATION_TOKEN: token } = environment;
  const value = file ? await secretFile(file) : token;
  return value ? ['authorization', value] : [];
}

/** docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html, version 2 only. */
async function instanceIdentity(services: SignServices): Promise<AwsIdentity> {
  const ttl = ['x-aws-ec2-metadata-token-ttl-seconds', String(instanceTokenSeconds)];
  const url = `${instanceHost}/latest/api/token`;
  const token = await ask(services, { url, method: 'PUT', headers: ttl, body: null });
  const headers = ['x-aws-ec2-metadata-token', token.trim()];
  const roles = `${instanceHost}/latest/meta-data/iam/security-credentials/`;
  const [role = ''] = (await ask(services, { url: roles, method: 'GET', headers, body: null })).trim().split('\n');
  const keys = await ask(services, { url: `${roles}${encodeURIComponent(role)}`, method: 'GET', headers, body: null });
  return identityOf(jsonOf(keys));
}

async function ask(services: SignServices, request: TokenRequest): Promise<string> {
  const { status, body } = await services.fetch({ ...request, metadata: true });
  if (status === 200) return Buffer.from(body).toString('utf8');
  throw new GatewayError('unavailable', {
    message: 'This machine has no AWS identity',
    detail: `${new URL(request.url).pathname} replied with status ${status}`,
  });
}

function identityOf(keys: JsonObject): AwsIdentity {
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken, Expiration: expiration } = keys;
  const expiresAtMs = Date.parse(String(expiration));
  const readable = [accessKeyId, secretAccessKey, sessionToken].every(isText);
  if (!readable || Number.isNaN(expiresAtMs)) throw unreadable();
  return {
    accessKeyId: accessKeyId as string,
    secretAccessKey: secretAccessKey as string,
    sessionToken: sessionToken as string,
    expiresAtMs,
  };
}

function jsonOf(text: string): JsonObject {
  const value = parseObject(text);
  if (value === null) throw unreadable();
  return value;
}

async function secretFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new GatewayError('unavailable', {
      message: 'This machine has no AWS identity',
      cause,
      detail: `cannot read ${path}`,
    });
  }
}

function unreadable(): GatewayError {
  return new GatewayError('unavailable', { message: 'This machine has no AWS identity', detail: 'unreadable reply' });
}
