import { randomUUID } from 'node:crypto';
import type { Cloud, CloudReply } from './fake-clouds.ts';

/** One cloud of Azure: its sign-in host, and a Key Vault that requires a token with its own audience. */
export interface FakeKeyVault {
  readonly clouds: Readonly<Record<string, Cloud>>;
  /** Values by `name` or `name/version`. */
  readonly secrets: Map<string, string>;
  /** Client secrets by `tenant/client id`. */
  readonly applications: Map<string, string>;
  /** A token like those of the machine's own service. */
  tokenFor(audience: string): string;
  /** Sets the reply to the next requests for secrets, until it returns null. */
  instead: (() => CloudReply | 'stall' | 'cut' | null) | null;
}

export function fakeKeyVault(vaultHost: string, signInHost: string, audience: string): FakeKeyVault {
  const audiences = new Map<string, string>();
  const tokenFor = (whose: string): string => {
    const token = `eyJ.${randomUUID()}`;
    audiences.set(token, whose);
    return token;
  };
  const fake: FakeKeyVault = {
    secrets: new Map(),
    applications: new Map(),
    tokenFor,
    instead: null,
    clouds: {
      [signInHost]({ path, body }) {
        const form = new URLSearchParams(body.toString());
        const tenant = /^\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(path)?.[1] ?? '';
        const secret = fake.applications.get(`${tenant}/${form.get('client_id')}`);
        if (secret === undefined || secret !== form.get('client_secret')) {
          return {
            status: 401,
            body: { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' },
          };
        }
        const token = tokenFor((form.get('scope') ?? '').replace(/\/\.default$/, ''));
        return { status: 200, body: { token_type: 'Bearer', expires_in: 3599, access_token: token } };
      },
      [vaultHost]({ path, query, headers }) {
        const given = fake.instead?.();
        if (given) return given;
        const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
        if (audiences.get(token) !== audience) return refusal(401, 'Unauthorized');
        if (new URLSearchParams(query).get('api-version') === null) return refusal(400, 'MissingApiVersionParameter');
        const name = /^\/secrets\/(.+)$/.exec(path)?.[1] ?? '';
        const value = fake.secrets.get(name);
        if (value === undefined) return refusal(404, 'SecretNotFound');
        return { status: 200, body: { value, id: `https://${vaultHost}/secrets/${name}`, attributes: { enabled: true } } };
      },
    },
  };
  return fake;
}

function refusal(status: number, code: string): CloudReply {
  return { status, body: { error: { code, message: `${code} in the words of the vault` } } };
}
