import * as v from 'valibot';
import { awsIdentity } from '../cloud-auth/aws-identity.ts';
import { awsOrigin } from '../cloud-auth/aws-region.ts';
import { awsSigned } from '../cloud-auth/aws-sign.ts';
import type { MappedSecretDocument } from '../contract/protocol/credentials/secret-reference.ts';
import type { Credentials, ProviderSettings } from '../contract/provider/provider.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import { parseObject } from '../contract/values/json/json.ts';
import { unmarkedTextOf } from '../contract/values/text/utf8.ts';
import { awsSettings } from '../provider-settings/aws.ts';
import { away, errorCodeOf, refused, statusError } from './secret-error.ts';
import { checkedAuth, objectIn, required, requiredSecret, type SecretReader } from './secret-reader.ts';

const who = 'AWS Secrets Manager';
const auth = v.object({
  aws_auth_type: v.picklist(['accessKey', 'assumedRole', 'serviceRole'], 'one of accessKey, assumedRole, serviceRole'),
  aws_region: v.nullish(awsSettings.aws_region.schema),
  aws_role_arn: v.nullish(awsSettings.aws_role_arn.schema),
  aws_external_id: v.nullish(awsSettings.aws_external_id.schema),
});
/** Transient errors that AWS returns with status 400, like a refusal. */
const passing: ReadonlySet<string> = new Set(['ThrottlingException', 'RequestTimeout', 'InternalServiceError']);

/**
 * GetSecretValue (docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html): returns the current version of
 * the secret whose name or ARN is the path, from `SecretString`, or from `SecretBinary` if that is text.
 */
export const readAwsSecret: SecretReader = async (mapped, credentials, organisationId, { sign }) => {
  const settings = settingsOf(mapped, credentials);
  const identity = await awsIdentity(settings, credentials, sign);
  const region = settings.aws_region as string;
  const origin = awsOrigin('secretsmanager', region);
  const body = JSON.stringify({ SecretId: mapped.path });
  const given = ['content-type', 'application/x-amz-json-1.1', 'x-amz-target', 'secretsmanager.GetSecretValue'];
  const call = { method: 'POST', origin, path: '/', headers: given, body };
  const headers = await awsSigned(call, identity, { service: 'secretsmanager', region, nowMs: sign.now() });
  const reply = await sign.fetch({ url: `${origin}/`, method: 'POST', headers, body, tenant: organisationId });
  if (reply.status !== 200) {
    const type = parseObject(reply.body)?.__type;
    const word = errorCodeOf(typeof type === 'string' ? type.replace(/^.*#/, '') : null);
    if (word !== null && passing.has(word)) throw away(`${who} responded with ${word}`);
    throw statusError(who, reply.status, word);
  }
  const { SecretString: text, SecretBinary: bytes } = objectIn(who, reply.body);
  if (typeof text === 'string') return { kind: 'text', text: new Secret(text) };
  if (typeof bytes === 'string') return { kind: 'text', text: new Secret(textIn(bytes)) };
  throw away(`${who} sent a reply without a value`);
};

/**
 * Uses the region of the ARN if the path is one, because the secret exists only there. The machine's environment may set its
 * region.
 */
function settingsOf(mapped: MappedSecretDocument, credentials: Credentials): ProviderSettings {
  const settings: ProviderSettings & v.InferOutput<typeof auth> = checkedAuth(auth, mapped.auth);
  const own = settings.aws_auth_type === 'serviceRole' ? process.env.AWS_REGION : undefined;
  const region = regionOfArn(mapped.path) ?? settings.aws_region ?? own ?? required(mapped.auth, 'aws_region');
  if (!v.is(awsSettings.aws_region.schema, region)) throw refused('secret_path: expected an ARN with an AWS region');
  if (settings.aws_auth_type === 'accessKey') {
    for (const field of ['aws_access_key_id', 'aws_secret_access_key']) requiredSecret(credentials, field);
  }
  return { ...settings, aws_region: region };
}

function regionOfArn(path: string): string | undefined {
  return /^arn:[^:]*:secretsmanager:([^:]+):/.exec(path)?.[1];
}

function textIn(base64: string): string {
  const text = unmarkedTextOf(Buffer.from(base64, 'base64'));
  if (text === null) throw refused('the secret is binary. Store it as text');
  return text;
}
