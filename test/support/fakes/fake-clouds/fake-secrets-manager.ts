import type { Cloud, CloudReply, LooseObject } from './fake-clouds.ts';
import { signatureError } from './sigv4.ts';

/** Secrets Manager and the token service of one region, for callers with a valid signature. */
export interface FakeSecretsManager {
  readonly clouds: Readonly<Record<string, Cloud>>;
  /** The stored secrets, by name or ARN. */
  readonly secrets: Map<string, { SecretString?: string; SecretBinary?: string }>;
  /** Secret keys by key id. Those of assumed roles are added. */
  readonly keys: Record<string, string>;
  /** Roles that may be assumed, with their required external id. */
  readonly roles: Map<string, string | null>;
  /** Sets the reply to the next requests for secrets, until it returns null. */
  instead: (() => CloudReply | 'stall' | 'cut' | null) | null;
}

export function fakeSecretsManager(region: string, keys: Record<string, string>): FakeSecretsManager {
  const fake: FakeSecretsManager = {
    secrets: new Map(),
    keys,
    roles: new Map(),
    instead: null,
    clouds: {
      [`secretsmanager.${region}.amazonaws.com`](request) {
        const given = fake.instead?.();
        if (given) return given;
        const error = signatureError(request, 'secretsmanager', region, keys);
        if (error !== null) return refusal('InvalidSignatureException', error);
        if (request.headers['x-amz-target'] !== 'secretsmanager.GetSecretValue') return refusal('UnknownOperationException');
        const { SecretId: id } = JSON.parse(request.body.toString()) as LooseObject;
        const found = fake.secrets.get(id);
        if (!found) return refusal('ResourceNotFoundException', `Secrets Manager can't find ${id}`);
        return { status: 200, body: { ARN: `arn:aws:secretsmanager:${region}:123456789012:secret:x`, Name: id, ...found } };
      },
      [`sts.${region}.amazonaws.com`](request) {
        const error = signatureError(request, 'sts', region, keys);
        const form = new URLSearchParams(request.body.toString());
        const arn = form.get('RoleArn') ?? '';
        const isKnown = fake.roles.has(arn) && fake.roles.get(arn) === form.get('ExternalId');
        if (error !== null || !isKnown || form.get('Action') !== 'AssumeRole') {
          return {
            status: 403,
            body: `<ErrorResponse><Error><Code>AccessDenied</Code><Message>${error}</Message></Error></ErrorResponse>`,
          };
        }
        const id = `ASIAROLE${Object.keys(keys).length}`;
        keys[id] = `secret of ${id}`;
        const fields = {
          AccessKeyId: id,
          SecretAccessKey: keys[id],
          SessionToken: 'session',
          Expiration: '2126-01-01T00:00:00Z',
        };
        const xml = Object.entries(fields).map(([name, value]) => `<${name}>${value}</${name}>`);
        return { status: 200, body: `<AssumeRoleResponse><Credentials>${xml.join('')}</Credentials></AssumeRoleResponse>` };
      },
    },
  };
  return fake;
}

function refusal(type: string, message = ''): CloudReply {
  return { status: 400, body: { __type: `com.amazonaws.secretsmanager#${type}`, message } };
}
